module signers

go 1.24.0

require (
	github.com/fbsobreira/gotron-sdk v0.26.0
	google.golang.org/grpc v1.79.3
	google.golang.org/protobuf v1.36.11
)
