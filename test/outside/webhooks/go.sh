# Go: standard-webhooks and svix.
export GOFLAGS=-modcacherw
cp "$HERE/go.go.txt" main.go
go mod init receiver 2> log
go get github.com/standard-webhooks/standard-webhooks/libraries@v0.0.1 github.com/svix/svix-webhooks@v1.44.0 2>> log
go mod tidy 2>> log
go run .
