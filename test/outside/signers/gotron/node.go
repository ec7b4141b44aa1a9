package main

import (
	"context"
	"net"
	"time"

	"github.com/fbsobreira/gotron-sdk/pkg/proto/api"
	"github.com/fbsobreira/gotron-sdk/pkg/proto/core"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// A gRPC node that makes bytes as java-tron does by its default settings: they refer to the newest final block (`trx.reference.block = solid`), and
// expire a minute after the newest block. It has two methods only.
type node struct {
	api.UnimplementedWalletServer
	given signingCase
}

func (n node) CreateTransaction2(_ context.Context, call *core.TransferContract) (*api.TransactionExtention, error) {
	return n.make(core.Transaction_Contract_TransferContract, call)
}

func (n node) TriggerContract(_ context.Context, call *core.TriggerSmartContract) (*api.TransactionExtention, error) {
	return n.make(core.Transaction_Contract_TriggerSmartContract, call)
}

func (n node) make(kind core.Transaction_Contract_ContractType, call proto.Message) (*api.TransactionExtention, error) {
	parameter, err := anypb.New(call)
	if err != nil {
		return nil, err
	}
	raw := &core.TransactionRaw{
		Contract:   []*core.Transaction_Contract{{Type: kind, Parameter: parameter}},
		Expiration: n.given.Newest.Timestamp + time.Minute.Milliseconds(),
		Timestamp:  n.given.Timestamp,
	}
	n.given.refer(raw)
	return &api.TransactionExtention{Transaction: &core.Transaction{RawData: raw}, Result: &api.Return{Result: true}}, nil
}

// Listens on a free port until the program ends, and returns its address.
func (n node) listen() string {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	server := grpc.NewServer()
	api.RegisterWalletServer(server, n)
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String()
}
