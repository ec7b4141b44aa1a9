# C#, openapi-generator: generated, and not compiled: that needs .NET and packages from NuGet.
mvn -q dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.17.0 -DoutputDirectory=. > generated.log 2>&1
java -jar openapi-generator-cli-7.17.0.jar generate -g csharp -i "$DOCUMENT" -o made >> generated.log 2>&1
api=$(find made/src -name LedgerApi.cs | grep -v Test)
echo "left out: $((LEDGER_ROUTES - $(grep -o 'Task<I[A-Za-z]*ApiResponse> [A-Za-z]*Async' "$api" | sort -u | wc -l)))"
model=$(find made/src -name Flow.cs)
echo "amounts: $(grep -oE 'public [A-Za-z]+ Amt' "$model" | head -1 | cut -d' ' -f2)"
echo "uid: $(grep -oE 'public [A-Za-z]+ Uid' "$model" | head -1 | cut -d' ' -f2)"
