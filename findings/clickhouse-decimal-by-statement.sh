#!/usr/bin/env bash
# chdb 4.4.0 (PyPI), which is ClickHouse 26.9: a literal such as 4.35 in statements about a Decimal(18, 2).
#
# One would guess: 4.35 means one amount, in whichever statement it stands.
# What happens: INSERT ... VALUES (4.35) and 4.35::Decimal(18, 2) read the digits. In other places the literal is first
# a double, and what is below a cent is cut off: INSERT ... SELECT, ALTER ... UPDATE, DEFAULT and
# CAST(4.35 AS Decimal(18, 2)), which one would take for another spelling of `::`, give 4.34.
# WHERE amount = 4.35 finds the row with 4.35, and WHERE amount IN (4.35) finds none at all, neither 4.35 nor 4.34.
# Who is hit: a ledger whose rows come by VALUES and whose corrections, copies and defaults come otherwise: a cent is
# missing from some amounts (below one unit from 0.29, 0.57 and 0.58), and a list of amounts does not find others.
# Instead: quote each amount: '4.35' is read by its digits in all of these places.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
python3 -c 'import venv' 2>/dev/null || { echo "python3 with venv is missing" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check chdb==4.4.0 chdb-core==26.9.0 >&2

cat > run.py <<'PY'
from chdb import session

database = session.Session()

def query(sql):
    return str(database.query(sql, "TSV")).strip().replace("\n", ", ") or "none"

for quoted in ["4.35", "'4.35'"]:
    query("DROP TABLE IF EXISTS entry")
    query(f"CREATE TABLE entry (name String, amount Decimal(18, 2) DEFAULT {quoted}) ENGINE = MergeTree ORDER BY name")
    query(f"INSERT INTO entry VALUES ('values', {quoted})")
    query(f"INSERT INTO entry SELECT 'select', {quoted}")
    query("INSERT INTO entry (name) VALUES ('default')")
    query("INSERT INTO entry VALUES ('update', 0)")
    query(f"ALTER TABLE entry UPDATE amount = {quoted} WHERE name = 'update' SETTINGS mutations_sync = 1")
    print(f"written as {quoted}")
    for name in ["values", "select", "update", "default"]:
        print(f"  by {name}:", query(f"SELECT amount FROM entry WHERE name = '{name}'"))
    print("  by CAST:", query(f"SELECT CAST({quoted} AS Decimal(18, 2))"))
    print("  by ::", query(f"SELECT {quoted}::Decimal(18, 2)"))
    print(f"  = {quoted} finds", query(f"SELECT name FROM entry WHERE amount = {quoted} ORDER BY name"))
    print(f"  IN ({quoted}) finds", query(f"SELECT name FROM entry WHERE amount IN ({quoted}) ORDER BY name"))
cents = [f"0.{cents:02}" for cents in range(1, 100)]
row = query("SELECT " + ", ".join(f"CAST({amount} AS Decimal(18, 2)) = '{amount}'" for amount in cents)).split("\t")
print("a cent less by CAST:", *[amount for amount, same in zip(cents, row) if same == "0"])
PY

seen=$(env/bin/python run.py)
expected=$(cat <<'TEXT'
written as 4.35
  by values: 4.35
  by select: 4.34
  by update: 4.34
  by default: 4.34
  by CAST: 4.34
  by :: 4.35
  = 4.35 finds values
  IN (4.35) finds none
written as '4.35'
  by values: 4.35
  by select: 4.35
  by update: 4.35
  by default: 4.35
  by CAST: 4.35
  by :: 4.35
  = '4.35' finds default, select, update, values
  IN ('4.35') finds default, select, update, values
a cent less by CAST: 0.29 0.57 0.58
TEXT
)
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
