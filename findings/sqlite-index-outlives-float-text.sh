#!/usr/bin/env bash
# apsw 3.51.3.0 and 3.54.1.0 (PyPI), which bring SQLite 3.51.3 and 3.54.1: an index on the text of a REAL.
#
# One would guess: the file format of SQLite is stable, so a file and its indexes outlive an upgrade.
# What happens: between 3.51.3 and 3.53.0 the text of a REAL went from 15 to 17 digits. 0.1 * 3 was '0.3' as text and is
# '0.30000000000000004' now. An index on CAST(price AS TEXT) keeps the old text, so the newer library does not find a
# row through the index that it finds without, and PRAGMA integrity_check reports a fault in a file that was sound.
# Who is hit: files that two versions share (a phone and a server, D1 and a local copy), with a UNIQUE key, a generated
# column or an expression index that makes text of a REAL; and whoever compares reports made by two versions.
# Instead: REINDEX after the upgrade; integers of smallest units in place of REAL.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for venv in old new; do
  python3 -m venv "$venv" >/dev/null || { echo "python3's venv is missing" >&2; exit 77; }
done
old/bin/pip install --quiet --disable-pip-version-check apsw==3.51.3.0 >&2
new/bin/pip install --quiet --disable-pip-version-check apsw==3.54.1.0 >&2

cat > run.py <<'PY'
import os
import apsw

made = os.path.exists("rates.db")
db = apsw.Connection("rates.db")
if not made:
    db.execute("CREATE TABLE rate (id INTEGER PRIMARY KEY, price REAL NOT NULL) STRICT")
    db.execute("CREATE INDEX by_text ON rate (CAST(price AS TEXT))")
    db.execute("INSERT INTO rate (price) VALUES (0.1 * 3)")


def value(sql):
    return [row[0] for row in db.execute(sql)]


print(f"SQLite {apsw.sqlite_lib_version()}")
print("  text:", *value("SELECT CAST(price AS TEXT) FROM rate"))
for how in ("INDEXED BY by_text", "NOT INDEXED"):
    rows = value(f"SELECT id FROM rate {how} WHERE CAST(price AS TEXT) = CAST(0.1 * 3 AS TEXT)")
    print(f"  {how}: {len(rows)} row")
print("  integrity_check:", *value("PRAGMA integrity_check"))
PY

seen="$(old/bin/python run.py)
$(new/bin/python run.py)"
expected='SQLite 3.51.3
  text: 0.3
  INDEXED BY by_text: 1 row
  NOT INDEXED: 1 row
  integrity_check: ok
SQLite 3.54.1
  text: 0.30000000000000004
  INDEXED BY by_text: 0 row
  NOT INDEXED: 1 row
  integrity_check: row 1 missing from index by_text'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
