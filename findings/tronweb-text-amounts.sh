#!/usr/bin/env bash
# tronweb 6.5.1 (npm): an amount of TRX and of a token, given as text or as a fraction.
#
# One would guess: sendTrx('1e6') is 1,000,000 sun or an error, and both kinds of transfer read an amount alike.
# What happens: sendTrx reads as parseInt does. '1e6' is 1 sun, 1e21 is 1 sun, 5.9 is 5, and a bigint of
# 9007199254740993 becomes a double. The transaction is built, and signed if asked. The same texts as uint256 of a
# token's transfer are refused, or exact.
# Who is hit: amounts that another program printed with an exponent (Python, Java and decimal libraries do), or that
# came out of toSun with a fraction. The tests of the token pass; TRX is paid a million times too small.
# Instead: a whole number below 2^53, checked before the call, and the amount read back from raw_data_hex.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund tronweb@6.5.1 >&2

cat > run.mjs <<'JS'
import { TronWeb } from 'tronweb'

// No node is asked: the block to refer to is given.
const tronWeb = new TronWeb({ fullHost: 'http://127.0.0.1:1', privateKey: '07'.repeat(32) })
const [from, to] = [tronWeb.defaultAddress.base58, 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t']
const timestamp = 1_800_000_000_000
const reference = { ref_block_bytes: '0001', ref_block_hash: '0102030405060708' }
const options = { blockHeader: { ...reference, timestamp, expiration: timestamp + 60_000 }, txLocal: true }
const { transactionBuilder } = tronWeb
const trx = async (amount) =>
  (await transactionBuilder.sendTrx(to, amount, from, options)).raw_data.contract[0].parameter.value.amount
const token = async (value) => {
  const parameters = [{ type: 'address', value: from }, { type: 'uint256', value }]
  const transfer = 'transfer(address,uint256)'
  const { transaction } = await transactionBuilder.triggerSmartContract(to, transfer, options, parameters, from)
  return BigInt(`0x${transaction.raw_data.contract[0].parameter.value.data.slice(-64)}`)
}
for (const amount of ['1e6', 1e21, 5.9, 9007199254740993n]) {
  const shown = `${typeof amount} ${amount}`
  console.log(`${shown}: TRX ${await trx(amount)}, token ${await token(amount).catch(() => 'refused')}`)
}
JS

seen=$(node run.mjs)
expected='string 1e6: TRX 1, token refused
number 1e+21: TRX 1, token refused
number 5.9: TRX 5, token refused
bigint 9007199254740993: TRX 9007199254740992, token 9007199254740993'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
