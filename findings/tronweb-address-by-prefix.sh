#!/usr/bin/env bash
# tronweb 6.5.1: address.fromHex() and address.toHex() of one account in the four forms in which APIs show it.
#
# One would guess: each gives the account's T address, or an error. Nodes show 41 and 40 digits over HTTP, and 0x and 40
# digits over JSON-RPC; topics and call data have the 40 digits alone; code that joins both has 0x41.
# What happens: the first two give the T address. 40 digits alone give G9AHn…, and 0x41 gives 2zu1C…: texts in Base58 with a
# right checksum, which look like addresses of another network, since 0x becomes 41 whatever follows and nothing else is looked
# at. toHex() takes the first text back without an error. isAddress() refuses both, and also the form with 0x, which fromHex()
# reads well.
# Who is hit: an indexer that cuts the last 40 digits off a topic and stores or shows what fromHex() makes of them; nothing it
# has stored is ever found again by the T address.
# Instead: '41' before the last 40 digits, and isAddress() of what comes out.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund tronweb@6.5.1 node@24.21.0 >&2

cat > run.mjs <<'JS'
import { TronWeb } from 'tronweb'

const { fromHex, toHex } = TronWeb.address
const digits = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c' // the contract of USDT
for (const prefix of ['41', '0x', '', '0x41']) {
  const form = `${prefix}${digits}`
  console.log(`${`${prefix || 'none'}:`.padEnd(6)}${TronWeb.isAddress(form) ? 'an' : 'no'} address, ${fromHex(form)}`)
}
console.log('back: ', toHex(fromHex(digits)))
console.log('0x41: ', toHex(`0x41${digits}`))
JS

seen=$(node_modules/.bin/node --no-warnings run.mjs)
expected='41:   an address, TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t
0x:   no address, TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t
none: no address, G9AHnMvAgqKJ2eWErupYfdzu6hgWVUZqu
0x41: no address, 2zu1CLYjdgqKdiwcje6D2o9BV3oodNbfjKAE
back:  a614f803b6fd780986a42c78ec9c7f77e6ded13c
0x41:  4141a614f803b6fd780986a42c78ec9c7f77e6ded13c'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
