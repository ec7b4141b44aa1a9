#!/usr/bin/env bash
# @formance/formance-sdk 7.0.1 (npm): amounts of a ledger whose type is bigint.
#
# One would guess: a field that is typed bigint, in the SDK of a ledger that has integers of any size, is exact.
# What happens: on the way out the SDK makes a number of the bigint, on the way in a bigint of the number that
# JSON.parse gave. 9007199254740993n is posted as 9007199254740992, and what the ledger answers is rounded the same way,
# so that a comparison of what was sent with what came back finds nothing.
# Who is hit: ledgers of assets with 18 decimals, where 2^53 units are 0.009 of a token. The type promises what the wire
# does not keep, and no linter or test with small amounts can see it.
# Instead: post such amounts as variables of a script, which are text, and read them with a parser that keeps digits.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund @formance/formance-sdk@7.0.1 >&2

cat > run.mjs <<'JS'
import { createServer } from 'node:http'
import { SDK } from '@formance/formance-sdk'

// Answers as the ledger does, with the amount that it was meant to get.
const posting = '{"amount":9007199254740993,"asset":"TOKEN/18","source":"world","destination":"users:1"}'
const rest = '"id":1,"metadata":{},"timestamp":"2026-01-01T00:00:00Z","reverted":false'
const answer = `{"data":{${rest},"postings":[${posting}]}}`
let body = ''
const server = createServer((request, response) => {
  request.on('data', (chunk) => { body += chunk })
  request.on('end', () => response.setHeader('content-type', 'application/json').end(answer))
})
await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve) })
const sdk = new SDK({ serverURL: `http://127.0.0.1:${server.address().port}` })
const amount = 9007199254740993n
const postings = [{ amount, asset: 'TOKEN/18', source: 'world', destination: 'users:1' }]
const { v2CreateTransactionResponse } = await sdk.ledger.v2.createTransaction({
  ledger: 'main',
  v2PostTransaction: { metadata: {}, postings },
})
const read = v2CreateTransactionResponse.data.postings[0].amount
console.log(`given ${amount}n, sent ${body.match(/"amount":(\d+)/)[1]}`)
console.log(`answered ${posting.match(/\d+/)[0]}, read ${read}n (${typeof read})`)
server.close()
server.closeAllConnections()
JS

seen=$(node run.mjs)
expected='given 9007199254740993n, sent 9007199254740992
answered 9007199254740993, read 9007199254740992n (bigint)'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
