# C#, openapi-generator: HttpClient and Newtonsoft.Json, compiled by Mono (Debian: mono-devel). Every amount is a decimal.
mvn -q dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.17.0 -DoutputDirectory=. > generated.log 2>&1
java -jar openapi-generator-cli-7.17.0.jar generate -g csharp --library httpclient -i "$DOCUMENT" -o made \
  --additional-properties=targetFramework=net48,nullableReferenceTypes=false,validatable=false >> generated.log 2>&1
echo "left out: $((LEDGER_ROUTES - $(grep -oE 'Task<[A-Za-z]+> [A-Za-z]+Async\(' made/src/Org.OpenAPITools/Api/LedgerApi.cs | grep -v ApiResponse | sort -u | wc -l)))"
npm pack --silent jillejr.newtonsoft.json-for-unity@12.0.101 > packed.log # NuGet's Newtonsoft.Json, as npm has it
tar xzf jillejr.newtonsoft.json-for-unity-12.0.101.tgz
cp "package/Plugins/Newtonsoft.Json Editor/Newtonsoft.Json.dll" .
cp "$HERE/openapi-generator-csharp.cs.txt" Program.cs
references=$(printf -- '-r:%s.dll ' Newtonsoft.Json System.Net.Http System.Web System.Runtime.Serialization System.ComponentModel.DataAnnotations)
mcs -langversion:latest -out:client.exe $references -recurse:'made/src/Org.OpenAPITools/*.cs' Program.cs > compiled.log 2>&1
mono client.exe
