#!/usr/bin/env bash
# drizzle-orm 0.45.4: sum() on D1 (miniflare 4.20260730.0), and on PostgreSQL (PGlite 0.5.16).
#
# One would guess: sum() gives a text, and not a number, so that no digit is lost.
# What happens: on PostgreSQL this is so. On D1 the sum comes as a number, which is rounded above 2^53, and drizzle makes a
# text of that. 9,007,199,254,740,991 and 2 are 9007199254740992, as text. SQLite itself has the right sum, as a cast inside
# the query shows.
# Who is hit: totals over balances that each fit into a number. The text is parsed with BigInt() or a decimal library, as
# the type asks for, and the books differ by a unit from the sum of their lines.
# Instead: sql<string>`cast(sum(${column}) as text)`.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{ "type": "module" }' > package.json
npm install --silent --no-audit --no-fund drizzle-orm@0.45.4 miniflare@4.20260730.0 @electric-sql/pglite@0.5.16 \
  node@24.21.0 >&2

cat > run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite'
import { sql, sum } from 'drizzle-orm'
import { drizzle as onD1 } from 'drizzle-orm/d1'
import { bigint, pgTable } from 'drizzle-orm/pg-core'
import { drizzle as onPostgres } from 'drizzle-orm/pglite'
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import { Miniflare } from 'miniflare'

const amounts = [{ amount: Number.MAX_SAFE_INTEGER }, { amount: 2 }]
async function show(name, db, entry) {
  await db.run?.(sql`CREATE TABLE entry (amount INTEGER NOT NULL)`)
  await db.execute?.(sql`CREATE TABLE entry (amount BIGINT NOT NULL)`)
  await db.insert(entry).values(amounts)
  const exact = sql`cast(sum(${entry.amount}) as text)`
  const [row] = await db.select({ total: sum(entry.amount), exact }).from(entry)
  console.log(`${name}: the ${typeof row.total} ${row.total}, cast ${row.exact}`)
}

const miniflare = new Miniflare({ modules: true, script: 'export default {}', d1Databases: ['DB'] })
await show('D1', onD1(await miniflare.getD1Database('DB')), sqliteTable('entry', { amount: integer().notNull() }))
await miniflare.dispose()
await show('PostgreSQL', onPostgres(new PGlite()), pgTable('entry', { amount: bigint({ mode: 'number' }).notNull() }))
JS

seen=$(node_modules/.bin/node --no-warnings run.mjs)
expected='D1: the string 9007199254740992, cast 9007199254740993
PostgreSQL: the string 9007199254740993, cast 9007199254740993'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
