# Go, openapi-generator: it knows no decimal, and reads an amount as a float32 unless it is told otherwise.
export GOFLAGS=-modcacherw
mvn -q dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.17.0 -DoutputDirectory=. > generated.log 2>&1
options='-g go -i openapi.json --additional-properties=packageName=client,isGoSubmodule=true,withGoMod=false'
cp "$DOCUMENT" openapi.json
for mapping in '' '--type-mappings=number=Amount'; do
  rm -rf made && mkdir made
  java -jar openapi-generator-cli-7.17.0.jar generate $options $mapping -o made/client >> generated.log 2>&1
  echo "with ${mapping:-no mapping}"
  echo "left out: $((LEDGER_ROUTES - $(grep -c '^type Api.*Request struct' made/client/api_ledger.go)))"
  rm -rf made/client/test made/client/docs
  [ -z "$mapping" ] || cp "$HERE/openapi-generator-go.amount.go.txt" made/client/amount.go
  cp "$HERE/openapi-generator-go.go.txt" made/main.go
  (cd made && go mod init wallet 2>> ../generated.log && go mod tidy 2>> ../generated.log && go run .) || echo 'does not compile'
done
