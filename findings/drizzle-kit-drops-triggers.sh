#!/usr/bin/env bash
# drizzle-kit 0.31.11: `generate` after a CHECK of a SQLite table has changed, where the table has triggers.
#
# One would guess: a migration that changes one CHECK leaves the rest of the table as it is.
# What happens: SQLite could not alter a CHECK until lately, so the migration makes a new table, copies the rows, drops
# the old table and renames. DROP TABLE takes the triggers with it. drizzle-kit knows no triggers, and says nothing.
# Who is hit: ledgers whose rules (append only, balance from entries) are triggers in a migration of their own. After a
# harmless change the rows are all there, each query works, and no rule holds.
# Instead: read each generated migration for DROP TABLE, and make the triggers again behind it; a test that compares
# sqlite_schema of a migrated database with the list of triggers that must be there.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund drizzle-kit@0.31.11 drizzle-orm@0.45.4 node@24.21.0 >&2
export PATH="$work/node_modules/.bin:$PATH"

schema_with() {
  cat > schema.ts <<TS
import { sql } from 'drizzle-orm'
import { check, integer, sqliteTable } from 'drizzle-orm/sqlite-core'
export const entry = sqliteTable('entry', { id: integer().primaryKey(), amount: integer().notNull() }, (table) => [
  check('amount_fits', sql\`\${table.amount} $1\`),
])
TS
  drizzle-kit generate --dialect sqlite --schema schema.ts --out migrations --name "$2" >/dev/null
}
schema_with '> 0' first
schema_with '<> 0' second

cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const db = new DatabaseSync(':memory:')
const triggers = () => db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all().map(({ name }) => name)
db.exec(readFileSync('migrations/0000_first.sql', 'utf8'))
db.exec("CREATE TRIGGER append_only BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'append only'); END")
db.exec('INSERT INTO entry VALUES (1, 25)')
console.log('triggers before:', ...triggers())
const second = readFileSync('migrations/0001_second.sql', 'utf8')
db.exec(second)
console.log('triggers after:', triggers().join(' ') || 'none')
console.log('rows after:', db.prepare('SELECT count(*) AS n FROM entry').get().n)
console.log('the migration drops the table:', /DROP TABLE/.test(second), '| names a trigger:', /trigger/i.test(second))
JS

seen=$(node --no-warnings run.mjs)
expected='triggers before: append_only
triggers after: none
rows after: 1
the migration drops the table: true | names a trigger: false'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
