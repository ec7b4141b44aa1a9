# Go, ogen: its own codec. `format: decimal` makes every amount a decimal.Decimal of shopspring.
export GOFLAGS=-modcacherw
cp "$HERE/ogen.go.txt" main.go
go mod init wallet 2> generated.log
go get -tool github.com/ogen-go/ogen/cmd/ogen@v1.24.0 2>> generated.log
go tool ogen --package client --target client --clean "$DOCUMENT" 2>> generated.log
go mod tidy 2>> generated.log
echo "left out: $(grep -ci 'skipped\|not implemented' generated.log || true)"
go run .
