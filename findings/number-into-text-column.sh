#!/usr/bin/env bash
# miniflare 4.20260730.0 (D1), node 24.21.0 (node:sqlite), @libsql/client 0.18.0, sql.js 1.16.0, @tursodatabase/database
# 0.7.2: the number 42 in a TEXT column.
#
# One would guess: SQLite turns the integer 42 into the text '42', and STRICT refuses what does not fit.
# What happens: three of five drivers bind every JavaScript number as a REAL. A STRICT column of TEXT then stores
# '42.0', `?/2` of 5 is 2.5 and not 2, and json_object('uid', ?) writes 5.0. An INTEGER column hides it: 42.0 becomes 42
# there. D1, node:sqlite and libsql do so; sql.js and Turso bind an integer.
# Who is hit: a key, a reference or an idempotency token that is a number in JavaScript and TEXT in the table. It is
# written as '42.0', and found again by the same driver only: not by sql.js, the sqlite3 shell or a report in Python.
# Instead: String(value) before it is bound, or CAST(? AS INTEGER) in the statement.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund miniflare@4.20260730.0 node@24.21.0 @libsql/client@0.18.0 \
  sql.js@1.16.0 @tursodatabase/database@0.7.2 >&2

cat > run.mjs <<'JS'
import { DatabaseSync } from 'node:sqlite'
import { createClient } from '@libsql/client'
import { connect } from '@tursodatabase/database'
import { Miniflare } from 'miniflare'
import initSqlJs from 'sql.js'

const table = 'CREATE TABLE payout (reference TEXT NOT NULL) STRICT'
const insert = 'INSERT INTO payout VALUES (?) RETURNING reference'
const half = "SELECT ? / 2 AS half, json_object('uid', ?) AS json"
const show = (driver, { reference }, { half, json }) => console.log(`${driver}: ${reference} | ${half} | ${json}`)

const mini = new Miniflare({ modules: true, script: 'export default {}', d1Databases: ['DB'], cf: false })
const d1 = await mini.getD1Database('DB')
await d1.prepare(table).run()
show('D1', await d1.prepare(insert).bind(42).first(), await d1.prepare(half).bind(5, 5).first())
await mini.dispose()

const builtin = new DatabaseSync(':memory:')
builtin.exec(table)
show('node:sqlite', builtin.prepare(insert).get(42), builtin.prepare(half).get(5, 5))

const libsql = createClient({ url: 'file::memory:' })
await libsql.execute(table)
const rowOf = async (sql, args) => (await libsql.execute({ sql, args })).rows[0]
show('libsql', await rowOf(insert, [42]), await rowOf(half, [5, 5]))

const sqljs = new (await initSqlJs()).Database()
sqljs.run(table)
show('sql.js', sqljs.prepare(insert).getAsObject([42]), sqljs.prepare(half).getAsObject([5, 5]))

const turso = await connect(':memory:')
await turso.exec(table)
show('Turso', await (await turso.prepare(insert)).get(42), await (await turso.prepare(half)).get(5, 5))
JS

seen=$(node_modules/.bin/node --no-warnings run.mjs)
expected='D1: 42.0 | 2.5 | {"uid":5.0}
node:sqlite: 42.0 | 2.5 | {"uid":5.0}
libsql: 42.0 | 2.5 | {"uid":5.0}
sql.js: 42 | 2 | {"uid":5}
Turso: 42 | 2 | {"uid":5}'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
