#!/usr/bin/env bash
# DuckDB 2.0.1 and polars 2.1.0 (Python): a sum of whole numbers, exported to Parquet.
#
# One would guess: amounts in BIGINT are exact, their sum is exact, and so is the file. The same statement exported as
# CSV is.
# What happens: in DuckDB the sum of a BIGINT is a HUGEINT, and `COPY … TO 'x.parquet'` writes that as a double, without
# a word. 9,007,199,254,740,997 becomes 9,007,199,254,740,996, and the column has another type for whoever reads it.
# The amounts themselves stay exact in the same file. polars sums within 64 bits and writes the exact sum.
# Who is hit: daily totals, balances and reconciliations that are kept as Parquet: above 9,007 million USDT, or 0.009
# of a token with 18 decimals.
# Instead: SUM(amount)::DECIMAL(38, 0), which Parquet has, or rows without sums.
set -euo pipefail
command -v python3 >/dev/null || { echo 'python3 is missing' >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet duckdb==2.0.1 polars==2.1.0 pyarrow==26.0.1 >&2

cat > run.py <<'PY'
import duckdb
import polars
import pyarrow.parquet

ledger = duckdb.connect()
ledger.execute("CREATE TABLE entry (amount BIGINT)")
ledger.execute("INSERT INTO entry VALUES (9007199254740993), (4)")


def show(name, file):
    column = pyarrow.parquet.read_table(file)["amount"]
    print(f"{name}: {column.type} {column.to_pylist()}")


def export(name, query):
    ledger.execute(f"COPY ({query}) TO 'x.parquet'")
    show(name, "x.parquet")


print("answer:", ledger.execute("SELECT sum(amount) FROM entry").fetchone()[0])
ledger.execute("COPY (SELECT sum(amount) AS amount FROM entry) TO 'x.csv'")
print("CSV:", open("x.csv").read().split()[1])
export("Parquet, the amounts", "FROM entry")
export("Parquet, the sum", "SELECT sum(amount) AS amount FROM entry")
export("Parquet, the sum as a decimal", "SELECT sum(amount)::DECIMAL(38, 0) AS amount FROM entry")
polars.DataFrame({"amount": [9007199254740993, 4]}).sum().write_parquet("y.parquet")
show("Parquet, the sum, by polars", "y.parquet")
PY
seen=$(venv/bin/python run.py)
expected="answer: 9007199254740997
CSV: 9007199254740997
Parquet, the amounts: int64 [9007199254740993, 4]
Parquet, the sum: double [9007199254740996.0]
Parquet, the sum as a decimal: decimal128(38, 0) [Decimal('9007199254740997')]
Parquet, the sum, by polars: int64 [9007199254740997]"
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
