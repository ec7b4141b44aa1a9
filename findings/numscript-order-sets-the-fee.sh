#!/usr/bin/env bash
# github.com/formancehq/numscript 0.2.0 (Go): a fee of one percent, written before or after the rest.
#
# One would guess: the shares of a split are a matter of arithmetic, and `remaining` takes what is left over.
# What happens: each share is rounded down, and the units that are left over go to the first lines, one each. So the
# order of the lines sets the fee. One percent of 150 is 2 where the fee is written first, and 1 where it is written
# last. Of 1 unit a fee of one percent, written first, is the whole unit, and the posting to the user is left out.
# Who is hit: fees that are compared with a calculation elsewhere, and many small transfers: the payee of the first line
# gains up to a unit of each. A reader who sorts the lines changes money.
# Instead: write whoever shall bear the rounding last, or compute the fee outside and send two amounts.
set -euo pipefail
command -v go >/dev/null || { echo "go is missing" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export NUMSCRIPT_NO_TELEMETRY=1
GOBIN="$work" go install github.com/formancehq/numscript/cmd/numscript@v0.2.0

echo '{ "balances": [{ "account": "alice", "asset": "USDT/6", "amount": 1000 }] }' > balances.json
# The amounts that arrive where `amount` is split as `shares` says.
split() {
  local amount=$1 shares=$2
  echo "send [USDT/6 $amount] (source = @alice destination = { $shares })" > split.num
  printf '%s of %s: ' "$shares" "$amount"
  ./numscript run split.num --inputs balances.json -o json | tr -d ' \n' |
    grep -oE '"destination":"[a-z]+","amount":[0-9]+' |
    sed -E 's/"destination":"(.*)","amount":(.*)/\1 \2/' | paste -sd, -
}
seen=$(
  split 150 '1% to @fee remaining to @user'
  split 150 '99% to @user remaining to @fee'
  split 1 '1% to @fee remaining to @user'
  split 1 '99% to @user remaining to @fee'
)
expected='1% to @fee remaining to @user of 150: fee 2,user 148
99% to @user remaining to @fee of 150: user 149,fee 1
1% to @fee remaining to @user of 1: fee 1
99% to @user remaining to @fee of 1: user 1'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
