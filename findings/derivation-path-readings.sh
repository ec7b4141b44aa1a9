#!/usr/bin/env bash
# hdkey 2.1.0, ethers 6.17.0, bip32 5.0.1 (npm), go-ethereum 1.17.10 (Go): honest spellings of one derivation path,
# m/44'/195'/0'/0/10, an address of TRON.
#
# One would guess: a library reads a path right, or refuses it.
# What happens:
# - 44h is how BIP-380 and Bitcoin Core write it. hdkey reads 44 without a word, not hardened.
# - Ledger's libraries write no m/ in front. go-ethereum then puts m/44'/60'/0'/0/ before it: nine levels.
# - An index with a zero in front, 010, is 10 for all but go-ethereum. It reads it as octal, which is 8.
# Who is hit: money sent to the address that one library shows, and looked for with another. Each of these answers is a
# good address with a key, and none of them is the wallet's.
# Instead: build the path from integers, and compare the first address with a known one before money arrives.
set -euo pipefail
for tool in node npm go; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund hdkey@2.1.0 ethers@6.17.0 bip32@5.0.1 tiny-secp256k1@2.2.4 >&2

# The first bytes of the public keys that the paths lead to, from the seed that has 32 times the byte 07.
cat > run.mjs <<'JS'
import { BIP32Factory } from 'bip32'
import { HDNodeWallet } from 'ethers'
import HDKey from 'hdkey'
import * as curve from 'tiny-secp256k1'

const seed = Buffer.alloc(32, 7)
const readers = {
  hdkey: (path) => HDKey.fromMasterSeed(seed).derive(path).publicKey.toString('hex'),
  ethers: (path) => HDNodeWallet.fromSeed(seed).derivePath(path).publicKey.slice(2),
  bip32: (path) => Buffer.from(BIP32Factory(curve).fromSeed(seed).derivePath(path).publicKey).toString('hex'),
}
for (const [name, read] of Object.entries(readers)) {
  const keys = process.argv.slice(2).map((path) => {
    try {
      return read(path).slice(0, 8)
    } catch {
      return 'refused'
    }
  })
  console.log(`${name}: ${keys.join(' ')}`)
}
JS
mkdir go
cat > go/main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/ethereum/go-ethereum/accounts"
)

func main() {
	for _, text := range os.Args[1:] {
		if path, err := accounts.ParseDerivationPath(text); err != nil {
			fmt.Printf("go-ethereum: %s is refused\n", text)
		} else {
			fmt.Printf("go-ethereum: %s is %v\n", text, path)
		}
	}
}
GO
(cd go && go mod init example && go get github.com/ethereum/go-ethereum@v1.17.10) >log.txt 2>&1 ||
  { cat log.txt >&2; exit 1; }

paths=("m/44'/195'/0'/0/10" "m/44h/195h/0h/0/10" "44'/195'/0'/0/10" "m/44'/195'/0'/0/010")
seen=$(node run.mjs "${paths[@]}" && cd go && go run . "${paths[@]}")
expected=$(
  cat <<'TEXT'
hdkey: 03b1e458 02856295 refused 03b1e458
ethers: 03b1e458 refused 03b1e458 03b1e458
bip32: 03b1e458 refused 03b1e458 03b1e458
go-ethereum: m/44'/195'/0'/0/10 is m/44'/195'/0'/0/10
go-ethereum: m/44h/195h/0h/0/10 is refused
go-ethereum: 44'/195'/0'/0/10 is m/44'/60'/0'/0/44'/195'/0'/0/10
go-ethereum: m/44'/195'/0'/0/010 is m/44'/195'/0'/0/8
TEXT
)
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
