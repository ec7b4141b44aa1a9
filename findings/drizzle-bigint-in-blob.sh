#!/usr/bin/env bash
# drizzle-orm 0.45.4: blob({ mode: 'bigint' }) in SQLite, compared and sorted.
#
# One would guess: it is the column for integers above 64 bits, and gt, max and orderBy compare the numbers.
# What happens: the decimal digits are stored as bytes, and SQLite compares bytes from the left. Of 5, 9, 10 and 100
# nothing is greater than 9, the largest is 9, and the order is 10, 100, 5, 9. Each value that is read is right, and
# sum() is right too, so a test that writes and reads sees nothing.
# Who is hit: balances in such a column, with WHERE balance >= price or the newest by max(). All numbers of one length
# compare well, so it begins on the day on which an amount has a digit more.
# Instead: integer() within 2^53, or text of a fixed length, padded with zeros.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund drizzle-orm@0.45.4 node@24.21.0 >&2

cat > run.mjs <<'JS'
import { DatabaseSync } from 'node:sqlite'
import { asc, gt, max, sum } from 'drizzle-orm'
import { blob, integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import { drizzle } from 'drizzle-orm/sqlite-proxy'

const sqlite = new DatabaseSync(':memory:')
sqlite.exec('CREATE TABLE wallet (id INTEGER PRIMARY KEY, balance BLOB NOT NULL) STRICT')
const db = drizzle(async (sql, params) => {
  const statement = sqlite.prepare(sql)
  statement.setReturnArrays(true)
  return { rows: statement.all(...params) }
})
const wallet = sqliteTable('wallet', { id: integer().primaryKey(), balance: blob({ mode: 'bigint' }).notNull() })

await db.insert(wallet).values([{ balance: 5n }, { balance: 9n }, { balance: 10n }, { balance: 100n }])
const { balance } = wallet
const list = (rows) => rows.map((row) => row.balance).join(' ')
console.log('in order:', list(await db.select({ balance }).from(wallet).orderBy(asc(balance))))
console.log('more than 9:', list(await db.select({ balance }).from(wallet).where(gt(balance, 9n))) || 'none')
const [{ most, total }] = await db.select({ most: max(balance), total: sum(balance) }).from(wallet)
console.log(`the largest: ${most}, the sum: ${total}`)
JS

seen=$(node_modules/.bin/node --no-warnings run.mjs)
expected='in order: 10 100 5 9
more than 9: none
the largest: 9, the sum: 124'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
