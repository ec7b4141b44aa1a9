#!/usr/bin/env bash
# ed25519-dalek 2.2.0 and ring 0.17.14 (crates): the private key in PKCS#8, read by Node 20.20.2 and 24.21.0, workerd
# 1.20261117.1, cryptography 50.0.2 (Python) and Go.
#
# One would guess: PKCS#8 is PKCS#8; an Ed25519 key that one library writes is a key for the others.
# What happens: both crates write the newer form (RFC 5958, version 1), which has the public key behind the private one.
# Node 24 and Go read it. Node 20, workerd and cryptography refuse the same 83 bytes. The 48 bytes of the older form
# (RFC 5208, version 0), which OpenSSL and Java write, are read by all.
# Who is hit: whoever makes a key for signing tokens, logs or webhooks with a tool in Rust, tries it with Node 24, and
# deploys it to a Worker.
# Instead: hand over the older form: openssl genpkey -algorithm ed25519, or 302e020100300506032b657004220420 and the seed.
set -euo pipefail
for tool in cargo node npm python3 go; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund workerd@1.20261117.1 node20@npm:node@20.20.2 node24@npm:node@24.21.0 >&2
python3 -m venv venv
venv/bin/pip install --quiet cryptography==50.0.2 >&2

mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "keys"
version = "0.1.0"
edition = "2021"

[dependencies]
ed25519-dalek = { version = "=2.2.0", features = ["pkcs8"] }
ring = "=0.17.14"
TOML
cat > src/main.rs <<'RUST'
use ed25519_dalek::{pkcs8::EncodePrivateKey, SigningKey};
use ring::{rand::SystemRandom, signature::Ed25519KeyPair};

fn show(name: &str, bytes: &[u8]) {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{name} {hex}");
}

fn main() {
    let seed = [7u8; 32];
    show("dalek", SigningKey::from_bytes(&seed).to_pkcs8_der().unwrap().as_bytes());
    show("ring", Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap().as_ref());
    show("older", &[&[0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20], &seed[..]].concat());
}
RUST
cargo run --quiet > keys.txt

cat > read.mjs <<'JS'
import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'

for (const line of readFileSync('keys.txt', 'utf8').trim().split('\n')) {
  const [name, hex] = line.split(' ')
  let result = 'read'
  try {
    createPrivateKey({ key: Buffer.from(hex, 'hex'), format: 'der', type: 'pkcs8' })
  } catch {
    result = 'refused'
  }
  console.log(`Node ${process.version}: ${name}, ${hex.length / 2} bytes: ${result}`)
}
JS
cat > worker.js <<'JS'
import keys from 'keys.txt'

export default {
  async test() {
    for (const line of keys.trim().split('\n')) {
      const [name, hex] = line.split(' ')
      const bytes = Uint8Array.from(hex.match(/../g), (byte) => Number.parseInt(byte, 16))
      const result = await crypto.subtle.importKey('pkcs8', bytes, 'Ed25519', false, ['sign']).then(
        () => 'read',
        () => 'refused',
      )
      console.log(`workerd: ${name}: ${result}`)
    }
  },
}
JS
cat > config.capnp <<'CAPNP'
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js"), (name = "keys.txt", text = embed "keys.txt")],
  compatibilityDate = "2026-11-01",
))]);
CAPNP
cat > read.py <<'PY'
from cryptography.hazmat.primitives.serialization import load_der_private_key

for line in open("keys.txt"):
    name, text = line.split()
    try:
        load_der_private_key(bytes.fromhex(text), None)
        print(f"cryptography: {name}: read")
    except ValueError:
        print(f"cryptography: {name}: refused")
PY
mkdir go
cat > go/main.go <<'GO'
package main

import (
	"bufio"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

func main() {
	file, _ := os.Open("keys.txt")
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, text, _ := strings.Cut(lines.Text(), " ")
		bytes, _ := hex.DecodeString(text)
		result := "read"
		if _, err := x509.ParsePKCS8PrivateKey(bytes); err != nil {
			result = "refused"
		}
		fmt.Printf("Go: %s: %s\n", name, result)
	}
}
GO

seen="$(node_modules/node20/bin/node read.mjs)
$(node_modules/node24/bin/node read.mjs)
$(node_modules/.bin/workerd test config.capnp 2>&1 | sed -n 's/.*\(workerd: .*\)/\1/p')
$(venv/bin/python read.py)
$(go run go/main.go)"
expected='Node v20.20.2: dalek, 83 bytes: refused
Node v20.20.2: ring, 83 bytes: refused
Node v20.20.2: older, 48 bytes: read
Node v24.21.0: dalek, 83 bytes: read
Node v24.21.0: ring, 83 bytes: read
Node v24.21.0: older, 48 bytes: read
workerd: dalek: refused
workerd: ring: refused
workerd: older: read
cryptography: dalek: refused
cryptography: ring: refused
cryptography: older: read
Go: dalek: read
Go: ring: read
Go: older: read'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
