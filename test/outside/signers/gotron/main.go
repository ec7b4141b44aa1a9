// gotron-sdk: the bytes that a node makes, unchanged ("by default"), and with the fields that docs/guides/signers.md sets ("as below"). See judge.ts.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"

	"github.com/fbsobreira/gotron-sdk/pkg/client"
	"github.com/fbsobreira/gotron-sdk/pkg/contract"
	"github.com/fbsobreira/gotron-sdk/pkg/keys"
	"github.com/fbsobreira/gotron-sdk/pkg/proto/api"
	"github.com/fbsobreira/gotron-sdk/pkg/proto/core"
	"github.com/fbsobreira/gotron-sdk/pkg/signer"
	"github.com/fbsobreira/gotron-sdk/pkg/standards/trc20"
	"github.com/fbsobreira/gotron-sdk/pkg/txbuilder"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
)

// The fields of case.ts that are used here.
type signingCase struct {
	PrivateKey, From, To, Contract              string
	Sun, Units, Timestamp, Expiration, FeeLimit int64
	Reference                                   struct{ Bytes, Hash string }
	Newest                                      struct{ Timestamp int64 }
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Makes a transaction refer to the newest final block.
func (given signingCase) refer(raw *core.TransactionRaw) {
	raw.RefBlockBytes = must(hex.DecodeString(given.Reference.Bytes))
	raw.RefBlockHash = must(hex.DecodeString(given.Reference.Hash))
}

func main() {
	var given signingCase
	if err := json.Unmarshal(must(os.ReadFile(os.Args[1])), &given); err != nil {
		panic(err)
	}
	tron := client.NewGrpcClient(node{given: given}.listen())
	if err := tron.Start(grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		panic(err)
	}
	defer tron.Stop()
	key := must(signer.NewPrivateKeySignerFromBTCEC(must(keys.GetPrivateKeyFromHex(given.PrivateKey))))
	show := func(what string, made *api.TransactionExtention) {
		message := must(proto.Marshal(must(key.Sign(made.Transaction))))
		fmt.Printf("%s\t%s\n", what, hex.EncodeToString(message))
	}
	asBelow := func(made *api.TransactionExtention) *api.TransactionExtention {
		given.refer(made.Transaction.RawData)
		made.Transaction.RawData.Expiration = given.Expiration
		return made
	}

	ctx := context.Background()
	trx := func() *api.TransactionExtention {
		return must(txbuilder.New(tron).Transfer(given.From, given.To, given.Sun).Build(ctx))
	}
	token := func(options ...contract.Option) *api.TransactionExtention {
		units := big.NewInt(given.Units)
		return must(trc20.New(tron, given.Contract).Transfer(given.From, given.To, units, options...).Build(ctx))
	}
	show("TRX by default", trx())
	show("token by default", token())
	show("TRX as below", asBelow(trx()))
	show("token as below", asBelow(token(contract.WithFeeLimit(given.FeeLimit))))
}
