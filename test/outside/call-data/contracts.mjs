// Tokens by several compilers. Each is called with `transfer` whose recipient's word has Tron's
// prefix 41 before its 20 bytes. The run fails if a token behaves otherwise than listed.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'

const require = createRequire(import.meta.url)
const token = (pragma, head) => `${pragma}
contract Token {
  mapping(address => uint256) public balanceOf;
  event Transfer(address indexed from, address indexed to, uint256 value);
  ${head} { balanceOf[msg.sender] = 1000; }
  function transfer(address to, uint256 value) public returns (bool) {
    require(balanceOf[msg.sender] >= value);
    balanceOf[msg.sender] -= value;
    balanceOf[to] += value;
    ${pragma.includes('0.4.18') ? '' : 'emit'} Transfer(msg.sender, to, value);
    return true;
  }
}`
/** A token in assembly that uses the whole word of an address as the storage key of its balance. */
const assembly = `pragma solidity ^0.8.0;
contract Token {
  constructor() { assembly { sstore(caller(), 1000) } }
  fallback(bytes calldata) external returns (bytes memory) {
    assembly {
      if eq(shr(224, calldataload(0)), 0x70a08231) {
        mstore(0, sload(calldataload(4)))
        return(0, 32)
      }
      let to := calldataload(4)
      let value := calldataload(36)
      sstore(caller(), sub(sload(caller()), value))
      sstore(to, add(sload(to), value))
      mstore(0, 1)
      return(0, 32)
    }
  }
}`
const paid = 'the account is paid'
const reverted = 'it reverts'
const lost = 'it succeeds, and the account has nothing'
const contracts = [
  ['0.4.18', '', token('pragma solidity 0.4.18;', 'function Token() public'), paid],
  ['0.4.26', '', token('pragma solidity 0.4.26;', 'constructor() public'), paid],
  ['0.5.17', '', token('pragma solidity 0.5.17;', 'constructor() public'), paid],
  [
    '0.5.17',
    'ABIEncoderV2',
    token('pragma solidity 0.5.17; pragma experimental ABIEncoderV2;', 'constructor() public'),
    reverted,
  ],
  ['0.6.12', '', token('pragma solidity 0.6.12;', 'constructor() public'), paid],
  ['0.7.6', '', token('pragma solidity 0.7.6;', 'constructor()'), paid],
  ['0.8.37', '', token('pragma solidity 0.8.37;', 'constructor()'), reverted],
  ['0.8.37', 'abicoder v1', token('pragma solidity 0.8.37; pragma abicoder v1;', 'constructor()'), paid],
  ['0.8.37', 'assembly', assembly, lost],
]

function compile(version, source) {
  const solc = require(`solc-${version}`)
  process.removeAllListeners('uncaughtException') // solc's handler prints the whole bundle of solc before any error
  // this version takes only the source text
  if (version === '0.4.18') return solc.compile(source, 1).contracts[':Token'].bytecode
  const settings = { outputSelection: { '*': { '*': ['evm.bytecode.object'] } } }
  const input = { language: 'Solidity', sources: { token: { content: source } }, settings }
  const { contracts: made, errors } = JSON.parse((solc.compileStandardWrapper ?? solc.compile)(JSON.stringify(input)))
  if (made?.token === undefined) throw new Error(JSON.stringify(errors))
  return made.token.Token.evm.bytecode.object
}

const port = await new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port: free } = server.address()
    server.close(() => resolve(free))
  })
})
const anvil = spawn(process.argv[2], ['--port', String(port), '--silent'], { stdio: 'ignore', detached: true })
// the whole process group: this anvil is a script that starts the real one
process.once('exit', () => process.kill(-anvil.pid))

async function rpc(method, ...params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const { error, result } = await (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })).json()
  if (error !== undefined) throw new Error(error.message)
  return result
}
async function untilReady() {
  for (let tries = 0; tries < 100; tries += 1) {
    const accounts = await rpc('eth_accounts').catch(() => null)
    if (accounts !== null) return accounts
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('anvil does not answer')
}
const [from] = await untilReady()
async function send(transaction) {
  const hash = await rpc('eth_sendTransaction', { from, gas: '0x200000', ...transaction })
  for (;;) {
    const receipt = await rpc('eth_getTransactionReceipt', hash)
    if (receipt !== null) return receipt
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
const account = `${'ab'.repeat(19)}3c`
const word = (hex) => hex.padStart(64, '0')

for (const [version, how, source, expected] of contracts) {
  const { contractAddress: to } = await send({ data: `0x${compile(version, source)}` })
  const { status } = await send({ to, data: `0xa9059cbb${word(`41${account}`)}${word('5')}` })
  const balance = BigInt(await rpc('eth_call', { to, data: `0x70a08231${word(account)}` }, 'latest'))
  const seen = status !== '0x1' ? reverted : balance === 5n ? paid : lost
  process.stdout.write(`solc ${version}${how === '' ? '' : `, ${how}`}: ${seen}\n`)
  if (seen !== expected) process.exitCode = 1
}
process.exit()
