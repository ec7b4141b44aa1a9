#!/usr/bin/env bash
# viem 2.57.20, ethers 6.17.0, web3-utils 4.3.3 (npm): an amount with a digit more than the token has.
#
# One would guess: parseUnits('0.9999999', 6) is an error, or cuts the digit.
# What happens: three readings of one text. ethers refuses it. web3-utils cuts, and gives an empty text, not '0', where
# nothing is left. viem rounds: 0.9999999 becomes a whole unit, more than was typed, and 0.0000005 becomes 0.000001.
# Who is hit: whoever moves from ethers to viem, and found excess digits by catching the error: a payout of all but a
# little becomes a payout of more than there is. BigInt('') is 0n, so that the empty text of web3-utils is 0 further on.
# Instead: count the decimals before the call, and refuse.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund viem@2.57.20 ethers@6.17.0 web3-utils@4.3.3 >&2

cat > run.mjs <<'JS'
import { parseUnits as ethers } from 'ethers'
import { parseUnits as viem } from 'viem'
import { toWei } from 'web3-utils'

const readers = {
  ethers: (text) => ethers(text, 6),
  'web3-utils': (text) => toWei(text, 'mwei'),
  viem: (text) => viem(text, 6),
}
for (const [name, read] of Object.entries(readers)) {
  const answers = ['0.9999999', '0.0000005'].map((text) => {
    try {
      return `${text} is "${read(text)}"`
    } catch (error) {
      return `${text} is refused (${error.code})`
    }
  })
  console.log(`${name}: ${answers.join(', ')}`)
}
JS

seen=$(node run.mjs)
expected='ethers: 0.9999999 is refused (NUMERIC_FAULT), 0.0000005 is refused (NUMERIC_FAULT)
web3-utils: 0.9999999 is "999999", 0.0000005 is ""
viem: 0.9999999 is "1000000", 0.0000005 is "1"'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
