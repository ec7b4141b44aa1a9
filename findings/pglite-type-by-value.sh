#!/usr/bin/env bash
# @electric-sql/pglite 0.5.16: the JavaScript type of a bigint column.
#
# One would guess: a driver gives one type for a column: a string (pg), a bigint, or a number.
# What happens: the type depends on each value. Up to 2^53 - 1 it is a number, above it a bigint. Two rows of one column
# cannot be added ("Cannot mix BigInt and other types"), JSON.stringify fails for one row of a page and not for the
# next, and Math.max throws. A comparison with < works for both.
# Who is hit: tests on PGlite of code that runs on PostgreSQL with another driver, and balances in units of a token with
# 18 decimals: 0.009 of a token is a number, 0.0091 a bigint.
# Instead: the parser of int8 in the options of the query, `{ parsers: { [types.INT8]: BigInt } }`.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund @electric-sql/pglite@0.5.16 >&2

cat > run.mjs <<'JS'
import { PGlite, types } from '@electric-sql/pglite'

const db = new PGlite()
await db.exec('CREATE TABLE wallet (balance bigint NOT NULL)')
await db.exec('INSERT INTO wallet VALUES (9007199254740991), (9007199254740992)')
const read = async (options) =>
  (await db.query('SELECT balance FROM wallet ORDER BY 1', [], options)).rows.map((row) => row.balance)
const [small, large] = await read()
console.log(`one column: ${typeof small} and ${typeof large}`)
for (const [name, use] of [
  ['sum', () => small + large],
  ['JSON', () => JSON.stringify([small, large])],
]) {
  try {
    console.log(`${name}: ${use()}`)
  } catch (error) {
    console.log(`${name}: ${error.name}`)
  }
}
console.log(`with a parser: ${(await read({ parsers: { [types.INT8]: BigInt } })).map((value) => typeof value)}`)
JS

seen=$(node run.mjs)
expected='one column: number and bigint
sum: TypeError
JSON: TypeError
with a parser: bigint,bigint'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
