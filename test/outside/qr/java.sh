# Java: ZXing from Maven.
mvn -q dependency:copy -Dartifact=com.google.zxing:core:3.5.4 -DoutputDirectory=. > log 2>&1 || tail -5 log
cp "$HERE/java.java.txt" Read.java
javac -cp core-3.5.4.jar Read.java
java -cp core-3.5.4.jar:. Read
