#!/usr/bin/env bash
# protobufjs 8.8.1: an int64 field that is given a bigint.
#
# One would guess: a bigint is written as it is, or refused.
# What happens: encode() writes 0, for int64, uint64, sint64 and fixed64 alike, of 5n as of any other. create() does not
# help. fromObject() converts it well, and verify() names the fault, but encode() calls neither of them. The message is
# valid, so nothing behind it can tell that 5 TRX have become 0. An int32 field throws instead.
# Who is hit: code for Node that went over to bigint for amounts and encodes plain objects, as TypeScript allows where
# the type says `number | Long` and the value is `any`. A TransferContract of TRON made so pays nothing.
# Instead: Type.fromObject() before encode(), always; or a library that has bigint for int64 (@bufbuild/protobuf).
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund protobufjs@8.8.1 >&2

cat > run.mjs <<'JS'
import protobuf from 'protobufjs'

const { root } = protobuf.parse('syntax = "proto3"; message Transfer { int64 amount = 3; }')
const Transfer = root.lookupType('Transfer')
const read = (message) => Transfer.decode(Transfer.encode(message).finish()).amount.toString()
const amount = 5_000_000n
console.log(`encode({ amount: 5000000n }) is read as ${read({ amount })}`)
console.log(`encode(create({ amount: 5000000n })) is read as ${read(Transfer.create({ amount }))}`)
console.log(`encode(fromObject({ amount: 5000000n })) is read as ${read(Transfer.fromObject({ amount }))}`)
console.log(`verify({ amount: 5000000n }) says: ${Transfer.verify({ amount })}`)
JS

seen=$(node run.mjs)
expected='encode({ amount: 5000000n }) is read as 0
encode(create({ amount: 5000000n })) is read as 0
encode(fromObject({ amount: 5000000n })) is read as 5000000
verify({ amount: 5000000n }) says: amount: integer|Long expected'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
