#!/usr/bin/env bash
# miniflare 4.20260730.0 (D1) and node 24.21.0 (node:sqlite): `changes` of a table that has a trigger.
#
# One would guess: meta.changes is what sqlite3_changes() says, the rows of the statement itself.
# What happens: D1 counts the rows of triggers too. One updated row, with a trigger that writes an event, is 2 changes.
# After `INSERT OR IGNORE` of a known key, meta.last_row_id is the id of the insert before, of another table as well.
# node:sqlite says 1 for the first and, like D1, an old id for the second.
# Who is hit: compare-and-set by `meta.changes === 1`. It is right until somebody adds an audit trigger, and then every
# write that has won looks like one that has lost. Whoever links the next row to last_row_id links it to a stranger.
# Instead: `RETURNING id` and the number of rows that come back.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund miniflare@4.20260730.0 node@24.21.0 >&2

cat > run.mjs <<'JS'
import { DatabaseSync } from 'node:sqlite'
import { Miniflare } from 'miniflare'

const schema = [
  'CREATE TABLE wallet (id INTEGER PRIMARY KEY, version INTEGER NOT NULL) STRICT',
  'CREATE TABLE event (id INTEGER PRIMARY KEY, wallet INTEGER NOT NULL) STRICT',
  'CREATE TRIGGER told AFTER UPDATE ON wallet BEGIN INSERT INTO event (wallet) VALUES (NEW.id); END',
  'INSERT INTO wallet VALUES (7, 1)',
  'INSERT INTO event (id, wallet) VALUES (500, 7)',
]
const swap = 'UPDATE wallet SET version = 2 WHERE id = 7 AND version = 1'
const known = 'INSERT OR IGNORE INTO wallet VALUES (7, 1)'

const mini = new Miniflare({ modules: true, script: 'export default {}', d1Databases: ['DB'], cf: false })
const d1 = await mini.getD1Database('DB')
for (const sql of schema) await d1.prepare(sql).run()
const swapped = (await d1.prepare(swap).run()).meta
const ignored = (await d1.prepare(known).run()).meta
console.log(`D1: the update ${swapped.changes}, the ignored insert ${ignored.changes} with id ${ignored.last_row_id}`)
await mini.dispose()

const builtin = new DatabaseSync(':memory:')
for (const sql of schema) builtin.exec(sql)
const { changes } = builtin.prepare(swap).run()
const { changes: none, lastInsertRowid } = builtin.prepare(known).run()
console.log(`node:sqlite: the update ${changes}, the ignored insert ${none} with id ${lastInsertRowid}`)
JS

seen=$(node_modules/.bin/node --no-warnings run.mjs)
expected='D1: the update 2, the ignored insert 0 with id 500
node:sqlite: the update 1, the ignored insert 0 with id 500'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
