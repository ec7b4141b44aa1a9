#!/usr/bin/env bash
# github.com/fbsobreira/gotron-sdk 0.26.0 (Go): an address as event logs and JSON-RPC have it, 20 bytes without 41.
#
# One would guess: HexToAddress of it is an address that prints as T..., or an error.
# What happens: HexToAddress takes any number of bytes, and String() has three forms. With 41 in front it is T... . Of
# 20 bytes it is a text with a good checksum that begins with another letter and is no address of TRON. Where the first
# byte is 00, which one address in 256 has, it is a decimal number. BytesToAddress puts 41 before the same 20 bytes.
# Who is hit: readers of eth_getLogs who print or store String(). The wrong text looks like an address; the number is
# rare enough to pass tests, and turns a column of addresses into one of mixed kinds.
# Instead: BytesToAddress or EthAddressToAddress, and IsValid() before an address is stored.
set -euo pipefail
command -v go >/dev/null || { echo "go is missing" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > main.go <<'GO'
package main

import (
	"fmt"

	"github.com/fbsobreira/gotron-sdk/pkg/address"
)

func main() {
	const usdt, withZero = "a614f803b6fd780986a42c78ec9c7f77e6ded13c", "00a614f803b6fd780986a42c78ec9c7f77e6ded1"
	for _, text := range []string{"41" + usdt, usdt, withZero} {
		read, err := address.HexToAddress(text)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s is %s, valid %v\n", text, read, read.IsValid())
		if len(read) == 20 {
			fmt.Printf("  by BytesToAddress %s\n", address.BytesToAddress(read))
		}
	}
}
GO
{ go mod init example && go get github.com/fbsobreira/gotron-sdk@v0.26.0 && go mod tidy; } >log.txt 2>&1 ||
  { cat log.txt >&2; exit 1; }

seen=$(go run .)
expected='41a614f803b6fd780986a42c78ec9c7f77e6ded13c is TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t, valid true
a614f803b6fd780986a42c78ec9c7f77e6ded13c is G9AHnMvAgqKJ2eWErupYfdzu6hgWVUZqu, valid false
  by BytesToAddress TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t
00a614f803b6fd780986a42c78ec9c7f77e6ded1 is 3703750343639538014732248896287970377670778577, valid false
  by BytesToAddress TA2dxddY2jxQ4MGLG4qa6aYDfih5PH5ui9'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
