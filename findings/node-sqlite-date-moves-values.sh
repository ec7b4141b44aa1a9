#!/usr/bin/env bash
# node:sqlite of Node 24.21.0 and 26.10.0, Deno 2.9.6 and Bun 1.4.5; better-sqlite3 13.2.0; bun:sqlite: a Date, a
# Promise or an empty array as the first value of a statement with question marks.
#
# One would guess: node:sqlite refuses a value that SQLite has no type for, as it does in the second place.
# What happens: an object in front is taken for the named parameters, and a Date has none. It is no value at all, each
# value behind it moves one place to the left, and the last place is NULL. (paid_at, amount, wallet) of a Date, 25 and
# 7 is stored as paid_at 25, amount 7, wallet NULL. An UPDATE whose key is last finds no row; a DELETE of what is
# older than a Date deletes nothing. A Promise that nobody awaited does the same. node:sqlite of Deno and Bun is no
# better.
# Who is hit: whoever moves from better-sqlite3, which refuses a Date. A test that has the time in the second place
# meets an error; in front nothing is said.
# Instead: bind getTime(); named parameters alone; STRICT tables whose columns are NOT NULL where they can be.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund node24@npm:node@24.21.0 node26@npm:node@26.10.0 \
  deno@2.9.6 bun@1.4.5 better-sqlite3@13.2.0 >&2

cat > try.mjs <<'JS'
const attempt = (call) => {
  try {
    return JSON.stringify(call())
  } catch {
    return 'refused'
  }
}

/** Binds a Date, a Promise and an empty array in front, a Date behind, and a Date in front of a key. */
export const tryValues = (name, db) => {
  db.exec('CREATE TABLE payout (paid_at INTEGER, amount INTEGER, wallet INTEGER)')
  const insert = db.prepare('INSERT INTO payout VALUES (?, ?, ?) RETURNING paid_at, amount, wallet')
  const inserted = (...values) => attempt(() => Object.values(insert.get(...values)))
  const now = new Date(0)
  const front = [now, Promise.resolve(1), []].map((value) => inserted(value, 25, 7)).join(' ')
  const behind = inserted(25, now, 7)
  db.exec('DELETE FROM payout; INSERT INTO payout VALUES (0, 1, 7)')
  const changed = [
    attempt(() => db.prepare('UPDATE payout SET paid_at = ? WHERE wallet = ?').run(now, 7).changes),
    attempt(() => db.prepare('DELETE FROM payout WHERE paid_at < ?').run(new Date(1e12)).changes),
  ].join(' ')
  console.log(`${name}: in front ${front}; behind ${behind}; updated and deleted ${changed}`)
}
JS
cat > builtin.mjs <<'JS'
import { DatabaseSync } from 'node:sqlite'
import { tryValues } from './try.mjs'
tryValues('node:sqlite', new DatabaseSync(':memory:'))
JS
cat > better.mjs <<'JS'
import Database from 'better-sqlite3'
import { tryValues } from './try.mjs'
tryValues('better-sqlite3', new Database(':memory:'))
JS
cat > bun.mjs <<'JS'
import { Database } from 'bun:sqlite'
import { tryValues } from './try.mjs'
tryValues('bun:sqlite', new Database(':memory:'))
JS

seen="Node 24, $(node_modules/node24/bin/node --no-warnings builtin.mjs)
Node 26, $(node_modules/node26/bin/node --no-warnings builtin.mjs)
Deno, $(node_modules/.bin/deno run --quiet --no-lock --allow-all builtin.mjs)
Bun, $(node_modules/.bin/bun builtin.mjs)
$(node_modules/node24/bin/node better.mjs)
$(node_modules/.bin/bun bun.mjs)"
expected='Node 24, node:sqlite: in front [25,7,null] [25,7,null] [25,7,null]; behind refused; updated and deleted 0 0
Node 26, node:sqlite: in front [25,7,null] [25,7,null] [25,7,null]; behind refused; updated and deleted 0 0
Deno, node:sqlite: in front [25,7,null] [25,7,null] [25,7,null]; behind refused; updated and deleted 0 0
Bun, node:sqlite: in front [25,7,null] [25,7,null] [25,7,null]; behind refused; updated and deleted 0 0
better-sqlite3: in front refused refused refused; behind refused; updated and deleted refused refused
bun:sqlite: in front refused refused [null,null,null]; behind refused; updated and deleted refused refused'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
