# Java, openapi-generator: OkHttp and Gson. Every amount is a BigDecimal.
mvn -q dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.17.0 -DoutputDirectory=. > generated.log 2>&1
java -jar openapi-generator-cli-7.17.0.jar generate -g java -i "$DOCUMENT" -o made >> generated.log 2>&1
echo "left out: $((LEDGER_ROUTES - $(grep -c 'public okhttp3.Call .*Call(' made/src/main/java/org/openapitools/client/api/LedgerApi.java)))"
rm -rf made/src/test
cp "$HERE/openapi-generator-java.java.txt" made/src/main/java/Program.java
cd made
mvn -q package dependency:build-classpath -Dmdep.outputFile=classpath -DskipTests -Dmaven.javadoc.skip=true >> ../generated.log 2>&1
java -cp "target/classes:$(cat classpath)" Program
