#!/usr/bin/env bash
# wrangler 4.156.2: `wrangler d1 export --local` of an integer above 2^53.
#
# One would guess: a dump is exact. SQLite stores 64 bits, and its own shell writes each digit.
# What happens: the rows pass through JavaScript numbers. 9007199254740993 is in the file as 9007199254740992, with no
# warning, and an import keeps the wrong number. CAST(... AS TEXT) shows that the database itself is right.
# Who is hit: amounts in wei or in units of a token with 18 decimals, ids of 64 bits. The backup is the place where
# nobody looks, until it is needed. (Only --local was run here; what --remote does was not.)
# Instead: a CHECK that keeps each amount within 2^53, TEXT for larger ones, or a copy of the file.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund wrangler@4.156.2 node@24.21.0 >&2
export WRANGLER_SEND_METRICS=false PATH="$work/node_modules/.bin:$PATH"

cat > wrangler.toml <<'TOML'
name = "example"
compatibility_date = "2026-11-01"
[[d1_databases]]
binding = "DB"
database_name = "ledger"
database_id = "00000000-0000-0000-0000-000000000000"
TOML
cat > schema.sql <<'SQL'
CREATE TABLE entry (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL) STRICT;
INSERT INTO entry VALUES (1, 9007199254740993);
SQL
stored() {
  wrangler d1 execute ledger --local --json --command 'SELECT CAST(amount AS TEXT) AS amount FROM entry' |
    grep -o '"amount": "[0-9]*"'
}
wrangler d1 execute ledger --local --file schema.sql >/dev/null
before=$(stored)
wrangler d1 export ledger --local --output dump.sql >/dev/null
rm -r .wrangler
wrangler d1 execute ledger --local --file dump.sql >/dev/null

seen="stored:   $before
exported: $(grep INSERT dump.sql)
restored: $(stored)"
expected='stored:   "amount": "9007199254740993"
exported: INSERT INTO "entry" ("id","amount") VALUES(1,9007199254740992);
restored: "amount": "9007199254740992"'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
