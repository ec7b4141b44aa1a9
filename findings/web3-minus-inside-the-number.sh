#!/usr/bin/env bash
# web3-utils 4.3.3: `fromWei` of a negative amount, beside viem 2.57.20 and ethers 6.17.0.
#
# One would guess: -25 units of a token with 6 decimals are -0.000025.
# What happens: the sign counts as a digit, so that they are `0.000-25`, and -0.05 ether is `0.-5`. Number() makes NaN
# of it and parseFloat() makes 0; toWei() refuses what fromWei() has written. From a tenth on the text is `-.5`, which
# reads right, and from one unit on it is `-1.5`. viem and ethers print each of them.
# Who is hit: differences of a reconciliation, profit and loss, debits of a ledger. Small differences, which a report
# looks for, are the ones that become 0. Tests with -1.5 see nothing.
# Instead: viem's or ethers' formatUnits; the sign apart from the amount.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund web3-utils@4.3.3 viem@2.57.20 ethers@6.17.0 node@24.21.0 >&2

cat > run.mjs <<'JS'
import { formatUnits as byEthers } from 'ethers'
import { formatUnits as byViem } from 'viem'
import { fromWei, toWei } from 'web3-utils'

const units = { mwei: 6, ether: 18 }
const differences = [[-25n, 'mwei'], [-500_000n, 'mwei'], [-1_500_000n, 'mwei'], [-50_000_000_000_000_000n, 'ether']]
for (const [amount, unit] of differences) {
  const text = fromWei(amount, unit)
  let back
  try {
    back = toWei(text, unit)
  } catch {
    back = 'refused'
  }
  const others = `viem ${byViem(amount, units[unit])}, ethers ${byEthers(amount, units[unit])}`
  console.log(`${amount}: web3 ${text}, Number ${Number(text)}, parseFloat ${parseFloat(text)}, toWei ${back}; ${others}`)
}
JS

seen=$(node_modules/.bin/node run.mjs)
expected='-25: web3 0.000-25, Number NaN, parseFloat 0, toWei refused; viem -0.000025, ethers -0.000025
-500000: web3 -.5, Number -0.5, parseFloat -0.5, toWei -500000; viem -0.5, ethers -0.5
-1500000: web3 -1.5, Number -1.5, parseFloat -1.5, toWei -1500000; viem -1.5, ethers -1.5
-50000000000000000: web3 0.-5, Number NaN, parseFloat 0, toWei refused; viem -0.05, ethers -0.05'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
