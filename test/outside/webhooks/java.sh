# Java: standardwebhooks and svix from Maven Central.
cp "$HERE/java.pom.xml" pom.xml
mkdir -p src/main/java
cp "$HERE/java.java.txt" src/main/java/Receiver.java
mvn -q package dependency:build-classpath -Dmdep.outputFile=classpath > log 2>&1 || tail -5 log
java -cp "target/classes:$(cat classpath)" Receiver
