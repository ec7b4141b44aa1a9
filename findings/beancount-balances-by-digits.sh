#!/usr/bin/env bash
# beancount 3.2.3 (PyPI): postings that do not sum to zero.
#
# One would guess: in double-entry bookkeeping a transaction sums to zero, or is an error.
# What happens: Beancount allows half of the last digit of the amount with the fewest digits. 10.00 in and 9.995 out
# balance, also 0.01 in and 0.005 out, which is half of the money. A hundred such transactions are each without an error
# and leave 0.500 that came from nowhere. With one zero more, 10.000 and 9.995, the same amounts are an error.
# Who is hit: exports of a chain or an exchange, where amounts have mixed digits and 25 is printed as 25.00 beside
# 24.996. The books load without a word, and the sum drifts with the number of entries, not with their size.
# Instead: write all amounts of a currency with its full number of decimals, and check the sum of all postings.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv >/dev/null || { echo "python3's venv is missing" >&2; exit 77; }
venv/bin/pip install --quiet --disable-pip-version-check beancount==3.2.3 >&2

cat > run.py <<'PY'
from beancount import loader
from beancount.core.inventory import Inventory

ACCOUNTS = "2026-01-01 open Assets:Wallet\n2026-01-01 open Income:Deposits\n"


def load(paid_in, paid_out, times=1):
    entry = f'2026-01-02 * "deposit"\n  Assets:Wallet {paid_in} USDT\n  Income:Deposits -{paid_out} USDT\n'
    entries, errors, _ = loader.load_string(ACCOUNTS + entry * times)
    total = Inventory()
    for posting in [p for e in entries for p in getattr(e, "postings", [])]:
        total.add_position(posting)
    print(f"{times} times {paid_in} in, {paid_out} out: {len(errors)} errors, the books sum to {total.to_string()}")


load("10.00", "9.995")
load("10.000", "9.995")
load("0.01", "0.005")
load("10.00", "9.995", times=100)
PY

seen=$(venv/bin/python run.py)
expected='1 times 10.00 in, 9.995 out: 0 errors, the books sum to (0.005 USDT)
1 times 10.000 in, 9.995 out: 1 errors, the books sum to (0.005 USDT)
1 times 0.01 in, 0.005 out: 0 errors, the books sum to (0.005 USDT)
100 times 10.00 in, 9.995 out: 0 errors, the books sum to (0.500 USDT)'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
