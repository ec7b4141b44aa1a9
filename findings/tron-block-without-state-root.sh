#!/usr/bin/env bash
# ethers 6.17.0, viem 2.57.20 (npm), web3 7.16.0 (PyPI): a block of a TRON node, by eth_getBlockByNumber.
#
# One would guess: TRON's JSON-RPC is made for Ethereum's libraries, so that they all read its blocks, or none does.
# What happens: TRON has no state root, and java-tron 4.8.0 answers "stateRoot": "0x", where Ethereum has 32 bytes.
# ethers throws, in each getBlock, of each block. viem gives "0x" on, and web3.py makes empty bytes of it. A receipt has
# no such member, and ethers reads it well.
# Who is hit: a scanner on ethers that has worked with getLogs and getTransactionReceipt, and asks for a block's time or
# the finalized head for the first time. TRON's own documentation shows the same "0x" for a block of Nile.
# Instead: provider.send('eth_getBlockByNumber', ...) and a schema of one's own, or viem.
set -euo pipefail
for tool in node npm python3; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund ethers@6.17.0 viem@2.57.20 >&2
python3 -m venv venv >/dev/null || { echo "python3's venv is missing" >&2; exit 77; }
venv/bin/pip install --quiet --disable-pip-version-check web3==7.16.0 >&2

cat > run.py <<'PY'
import sys
from web3 import Web3

block = Web3(Web3.HTTPProvider(sys.argv[1])).eth.get_block(1)
print(f"web3.py: block {block['number']}, state root {bytes(block['stateRoot'])}")
PY
cat > run.mjs <<'JS'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { JsonRpcProvider } from 'ethers'
import { createPublicClient, http } from 'viem'

// The form of java-tron 4.8.0: block 1 of a private chain, as its node answered.
const zeros = (digits) => `0x${'0'.repeat(digits)}`
const block = {
  baseFeePerGas: '0x0', difficulty: '0x0', extraData: '0x', gasLimit: '0x0', gasUsed: '0x0',
  hash: '0x0000000000000001544400e5a7495843c691e7bb1c54c7e07779a1f768791b64', logsBloom: zeros(512),
  miner: '0x65ccad8d29f4678c01f4aff300b47a4233f5ac8b', mixHash: zeros(64), nonce: zeros(16), number: '0x1',
  parentHash: '0x0000000000000000ee030610e7bc5a90bc5bbcbe36a59731e92262b383bd607b', receiptsRoot: zeros(64),
  sha3Uncles: zeros(64), size: '0xae', stateRoot: '0x', timestamp: '0x6b018673', totalDifficulty: '0x0',
  transactions: [], transactionsRoot: zeros(64), uncles: [],
}
const resultOf = { eth_chainId: '0x2b6653dc', eth_getBlockByNumber: block }
const answer = ({ id, method }) => ({ jsonrpc: '2.0', id, result: resultOf[method] })
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => { body += chunk })
  request.on('end', () => {
    const asked = JSON.parse(body)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)))
  })
})
await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve) })
const url = `http://127.0.0.1:${server.address().port}`
const ethers = await new JsonRpcProvider(url).getBlock(1).catch((error) => error)
console.log(`ethers: ${ethers.shortMessage ?? ethers.number}`)
const viem = await createPublicClient({ transport: http(url) }).getBlock({ blockNumber: 1n })
console.log(`viem: block ${viem.number}, state root ${viem.stateRoot}`)
process.stdout.write((await promisify(execFile)('venv/bin/python', ['run.py', url])).stdout)
process.exit()
JS

seen=$(node run.mjs)
expected=$(
  cat <<'TEXT'
ethers: invalid value for value.stateRoot (invalid hash (argument="value", value="0x", code=INVALID_ARGUMENT, version=6.17.0))
viem: block 1, state root 0x
web3.py: block 1, state root b''
TEXT
)
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
