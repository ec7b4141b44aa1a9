# Go, oapi-codegen: structures and net/http. `x-go-type` makes every amount a json.Number, which is its text.
export GOFLAGS=-modcacherw
cp "$HERE/oapi-codegen.go.txt" main.go
go mod init wallet 2> generated.log
go get -tool github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 2>> generated.log
mkdir client
go tool oapi-codegen -package client -generate models,client -o client/client.go "$DOCUMENT" 2>> generated.log
go mod tidy 2>> generated.log
echo "left out: $(grep -c 'not supported' generated.log || true)"
go run .
