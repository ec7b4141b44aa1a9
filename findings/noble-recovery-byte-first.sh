#!/usr/bin/env bash
# @noble/curves 2.4.0 and ethers 6.17.0 (npm), github.com/decred/dcrd/dcrec/secp256k1/v4 4.4.1 (Go): 65 bytes of
# signature.
#
# One would guess: r, s, then the recovery byte, of the 32 bytes that are given, as for Ethereum and TRON.
# What happens: noble's format 'recovered' has the recovery byte first, and sign() hashes what it is given once more
# with SHA-256, unless told not to. So a transaction's hash is signed as if it were a message, with another result, and
# no error. decred's SignCompact signs the hash itself, and has the byte first too, as 27 or 28 and 4 more if
# compressed.
# Who is hit: whoever goes from noble 1, which hashed nothing and gave an object, or writes a signer of their own for
# TRON. Its nodes look for the byte at the end, so that they find another signer, or none.
# Instead: { prehash: false, format: 'recovered' }, the first byte moved to the end, and a test against a known
# signature.
set -euo pipefail
for tool in node npm go; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund @noble/curves@2.4.0 ethers@6.17.0 >&2

cat > run.mjs <<'JS'
import { createHash } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { SigningKey } from 'ethers'

const key = Buffer.alloc(32, 7)
const hash = createHash('sha256').update('raw_data').digest()
const show = (name, hex) => console.log(`${name}: ${hex.slice(0, 10)} to ${hex.slice(-10)}`)
const noble = (options) => Buffer.from(secp256k1.sign(hash, key, { format: 'recovered', ...options })).toString('hex')
show('ethers', new SigningKey(key).sign(hash).serialized.slice(2))
show('noble, without prehash', noble({ prehash: false }))
show('noble', noble({}))
JS
mkdir go
cat > go/main.go <<'GO'
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

func main() {
	key := secp256k1.PrivKeyFromBytes(bytes.Repeat([]byte{7}, 32))
	hash := sha256.Sum256([]byte("raw_data"))
	for _, compressed := range []bool{false, true} {
		signature := ecdsa.SignCompact(key, hash[:], compressed)
		fmt.Printf("decred, compressed %v: %x to %x\n", compressed, signature[:5], signature[60:])
	}
}
GO
(cd go && go mod init example && go get github.com/decred/dcrd/dcrec/secp256k1/v4@v4.4.1) >log.txt 2>&1 ||
  { cat log.txt >&2; exit 1; }

seen=$(node run.mjs && cd go && go run .)
expected='ethers: d616d70a9a to 2d2f09221c
noble, without prehash: 01d616d70a to b32d2f0922
noble: 019ef65638 to e086b3cc41
decred, compressed false: 1cd616d70a to b32d2f0922
decred, compressed true: 20d616d70a to b32d2f0922'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
