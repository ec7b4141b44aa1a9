#!/usr/bin/env bash
# pandas 3.1.1, polars 2.1.0 and pyarrow 26.0.1 (PyPI): read_csv of whole amounts with 18 decimals, and sum().
#
# One would guess: the digits of an integer are kept, or the reader complains; the amounts do not decide what a sum is.
# What happens: the largest amount of the file decides the type of the column, and so the kind of the sum. From pandas,
# 5 ether and 5 ether are -8446744073709551616, 10 and 10 are 1553255926290448384, 10 and -1 are a text, in which both
# amounts stand one behind the other, and 20 and -1 are right. polars is wrong for 5 and 5, and right as soon as one
# amount is above 9.22 ether. pyarrow wraps below 9.22 ether, and rounds to a double above. Nothing complains.
# Who is hit: a reconciliation of an export in wei. Tests with small amounts pass, and so do some with large ones.
# Instead: read the column as text (dtype=str) and sum Python's integers, or give a decimal type.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
python3 -c 'import venv' 2>/dev/null || { echo "python3 with venv is missing" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 >&2

cat > run.py <<'PY'
import pandas, polars
import pyarrow.compute, pyarrow.csv

def reader(name, column, total):
    print(f"  {name}: {column} {type(total).__name__} {total}")

for ether in [[5, 5], [10, 10], [10, -1], [20, -1], [9, 2, -2]]:
    with open("statement.csv", "w") as file:
        file.write("wei\n" + "".join(f"{amount * 10**18}\n" for amount in ether))
    print(f"{ether} are {sum(ether) * 10**18}")
    wei = pandas.read_csv("statement.csv")["wei"]
    total = wei.sum()
    reader("pandas", wei.dtype, total.item() if hasattr(total, "item") else total)
    wei = polars.read_csv("statement.csv")["wei"]
    reader("polars", wei.dtype, wei.sum())
    wei = pyarrow.csv.read_csv("statement.csv")["wei"]
    reader("pyarrow", wei.type, pyarrow.compute.sum(wei).as_py())
wei = pandas.read_csv("statement.csv", dtype=str)["wei"]
print(f"as text: {sum(map(int, wei))}")
PY

seen=$(env/bin/python run.py)
expected='[5, 5] are 10000000000000000000
  pandas: int64 int -8446744073709551616
  polars: Int64 int -8446744073709551616
  pyarrow: int64 int -8446744073709551616
[10, 10] are 20000000000000000000
  pandas: uint64 int 1553255926290448384
  polars: Int128 int 20000000000000000000
  pyarrow: double float 2e+19
[10, -1] are 9000000000000000000
  pandas: str str 10000000000000000000-1000000000000000000
  polars: Int128 int 9000000000000000000
  pyarrow: double float 9e+18
[20, -1] are 19000000000000000000
  pandas: object int 19000000000000000000
  polars: Int128 int 19000000000000000000
  pyarrow: double float 1.9e+19
[9, 2, -2] are 9000000000000000000
  pandas: int64 int 9000000000000000000
  polars: Int64 int 9000000000000000000
  pyarrow: int64 int 9000000000000000000
as text: 9000000000000000000'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
