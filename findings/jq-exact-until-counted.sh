#!/usr/bin/env bash
# jq 1.8.2 (npm jq-wasm 3.0.0-jq-1.8.2) and gojq 0.12.17 (Go): amounts of 16 digits and more.
#
# One would guess: jq is exact since 1.7, or it is not, for a given number.
# What happens: both at once. jq keeps the digits of a number that it only moves, compares or negates, and takes a
# double where it counts. `add` of one amount is exact, of an amount and 0 it is rounded. Of two amounts that differ by
# 1 it says that they differ, and that the second equals the first one plus 0. Moving alone rewrites small ones:
# 0.00000012 is printed as 1.2E-7. gojq has exact integers in each of these, and its own form, 1.2e-7.
# Who is hit: shell scripts that sum an export or pay what `add` says. A check of one entry, or of entries below 2^53,
# passes. A strict reader of decimals refuses what jq has only passed on.
# Instead: gojq for integers; for decimals, amounts as text.
set -euo pipefail
for tool in node npm go; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund node@24.21.0 jq-wasm@3.0.0-jq-1.8.2 >&2
GOBIN="$work" go install github.com/itchyny/gojq/cmd/gojq@v0.12.17

cat > run.mjs <<'JS'
import { execFileSync } from 'node:child_process'
import { raw } from 'jq-wasm'

for (const [filter, input] of [
  ['add', '[9007199254740993]'],
  ['add', '[9007199254740993,0]'],
  ['[.[0]==.[1],.[0]+0==.[1]]', '[9007199254740993,9007199254740992]'],
  ['.', '0.00000012'],
]) {
  const { stdout } = await raw(input, filter, ['-c'])
  const gojq = execFileSync('./gojq', ['-c', filter], { input, encoding: 'utf8' })
  console.log(`${filter} of ${input}: jq ${stdout.trim()}, gojq ${gojq.trim()}`)
}
JS

seen=$(node_modules/.bin/node run.mjs)
expected='add of [9007199254740993]: jq 9007199254740993, gojq 9007199254740993
add of [9007199254740993,0]: jq 9007199254740992, gojq 9007199254740993
[.[0]==.[1],.[0]+0==.[1]] of [9007199254740993,9007199254740992]: jq [false,true], gojq [false,false]
. of 0.00000012: jq 1.2E-7, gojq 1.2e-7'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
