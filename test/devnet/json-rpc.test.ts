import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { transferTopic } from '../../src/deposits/trc20.ts'
import { type Devnet, startDevnet, temporary } from './chain.ts'
import { tokenAddress, tokenCall } from './control.ts'
import { depositBase58, depositHex, payAllCurrencies, postRpc, result, rpc, unknownHash } from './support.ts'

const usdtMainnet = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c'
const at = `0x${depositHex}`
const token = `0x${tokenAddress}`
const stateTags = 'TAG [earliest | pending | finalized | safe] not supported'

const refusals: readonly [what: string, method: string, params: unknown[], code: number, message: string][] = [
  ['a missing parameter', 'eth_getBalance', [at], -32602, 'method parameters invalid'],
  ['an extra parameter', 'eth_chainId', ['0x1'], -32602, 'method parameters invalid'],
  ['a parameter of the wrong type', 'eth_getBlockByNumber', ['0x1', 'yes'], -32602, 'method parameters invalid'],
  ['state at a height', 'eth_getBalance', [at, '0x1'], -32602, 'QUANTITY not supported, just support TAG as latest'],
  ['finalized state', 'eth_getBalance', [at, 'finalized'], -32602, stateTags],
  ['pending state', 'eth_getBalance', [at, 'pending'], -32602, stateTags],
  ['safe state', 'eth_getCode', [at, 'safe'], -32602, stateTags],
  ['earliest state', 'eth_call', [{ to: at, data: '0x' }, 'earliest'], -32602, stateTags],
  ['an unknown tag', 'eth_getBalance', [at, 'newest'], -32602, 'invalid block number'],
  ['a pending block', 'eth_getBlockByNumber', ['pending', false], -32602, 'TAG pending not supported'],
  ['a safe block', 'eth_getBlockByNumber', ['safe', false], -32602, 'TAG safe not supported'],
  ['a block number with invalid digits', 'eth_getBlockByNumber', ['0xzz', false], -32602, 'invalid block number'],
  ['an address of 19 bytes', 'eth_getBalance', [at.slice(0, -2), 'latest'], -32602, 'invalid address hash value'],
  [
    'an address with an odd number of digits',
    'eth_getBalance',
    [at.slice(0, -1), 'latest'],
    -32602,
    'invalid address hash value',
  ],
  [
    '21 bytes that do not start with 41',
    'eth_getBalance',
    [`42${depositHex}`, 'latest'],
    -32602,
    'invalid address hash value',
  ],
  [
    'a Base58 address',
    'eth_getBalance',
    [depositBase58, 'latest'],
    -32602,
    'exception decoding Hex string: invalid characters encountered in Hex string',
  ],
  ['a short hash', 'eth_getTransactionByHash', ['0x12'], -32602, 'invalid hash value'],
  [
    'a call of an address without code',
    'eth_call',
    [{ to: usdtMainnet, data: '0x' }, 'latest'],
    -32600,
    'Smart contract is not exist.',
  ],
  [
    'an unknown field in a call',
    'eth_call',
    [{ to: at, chainId: '0x1' }, 'latest'],
    -32602,
    'method parameters invalid',
  ],
  ['a call without a tag', 'eth_call', [{ to: at, data: '0x' }, null], -32600, 'invalid json request'],
  ['a call at an unknown height', 'eth_call', [{ to: at }, { blockNumber: '0x99' }], -32000, 'header not found'],
  [
    'a call at an unknown block',
    'eth_call',
    [{ to: at }, { blockHash: unknownHash }],
    -32000,
    'header for hash not found',
  ],
  ['logs of an unknown block', 'eth_getLogs', [{ blockHash: unknownHash }], -32602, 'invalid blockHash'],
  [
    'logs of a block and a range',
    'eth_getLogs',
    [{ blockHash: unknownHash, fromBlock: '0x1' }],
    -32602,
    'cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other',
  ],
  [
    'logs of a 21-byte address',
    'eth_getLogs',
    [{ address: `41${depositHex}` }],
    -32602,
    `invalid address: 41${depositHex}`,
  ],
  [
    'logs of a Base58 address',
    'eth_getLogs',
    [{ address: [depositBase58] }],
    -32602,
    `invalid address at index 0: ${depositBase58}`,
  ],
  [
    'a range that ends before it starts',
    'eth_getLogs',
    [{ fromBlock: '0x3', toBlock: '0x2' }],
    -32602,
    'please verify: fromBlock <= toBlock',
  ],
  ['a range from the pending block', 'eth_getLogs', [{ fromBlock: 'pending' }], -32602, 'TAG pending not supported'],
  ['a range in decimal', 'eth_getLogs', [{ fromBlock: '1' }], -32602, 'Incorrect hex syntax'],
  ['five topics', 'eth_getLogs', [{ topics: [null, null, null, null, null] }], -32602, 'topics size should be <= 4'],
  ['a short topic', 'eth_getLogs', [{ topics: ['0xdd'] }], -32602, 'invalid topic(s): 0xdd'],
  ['1001 topics', 'eth_getLogs', [{ topics: [Array(1_001).fill(transferTopic)] }], -32602, 'exceed max topics: 1000'],
  ['1001 addresses', 'eth_getLogs', [{ address: Array(1_001).fill(at) }], -32602, 'exceed max addresses: 1000'],
  ['an unknown field in a filter', 'eth_getLogs', [{ limit: 1 }], -32602, 'method parameters invalid'],
  ['an unknown method', 'eth_feeHistory', [], -32601, 'method not found'],
  [
    'an Ethereum method that Tron nodes refuse',
    'eth_getTransactionCount',
    [at, 'latest'],
    -32601,
    'the method eth_getTransactionCount does not exist/is not available',
  ],
]

let devnet: Devnet

beforeAll(async () => {
  devnet = await startDevnet(temporary)
  await payAllCurrencies(devnet)
})
afterAll(() => devnet.stop())

describe('JSON-RPC refuses, as java-tron 4.8.2 does', () => {
  it.each(refusals)('%s', async (_what, method, params, code, message) => {
    expect((await rpc(devnet, method, ...params)).error).toMatchObject({ code, message })
  })

  it('a call that reverts, with the reason and the returned bytes', async () => {
    const call = { to: token, data: tokenCall('transferAndRevert(address,uint256)', depositHex, 0n) }
    const { error } = await rpc(devnet, 'eth_call', call, 'latest')
    expect(error).toMatchObject({ code: -32000, message: 'REVERT opcode executed: reverted on purpose' })
    expect(error?.data).toMatch(/^0x08c379a0/)
  })
})

describe('JSON-RPC returns, as java-tron 4.8.2 does', () => {
  it.each<[string, string, unknown[], unknown]>([
    ['the chain id', 'eth_chainId', [], '0x6465766e'],
    ['the network id in hex', 'net_version', [], '0x6465766e'],
    ['the client version', 'web3_clientVersion', [], 'TRON/v4.8.2/Linux/Java1.8'],
    ['no accounts', 'eth_accounts', [], []],
    ['Keccak-256', 'web3_sha3', ['0x'], '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
    ['null for a height above the head', 'eth_getBlockByNumber', ['0x99', true], null],
    ['null for an unknown block', 'eth_getBlockByHash', [unknownHash, true], null],
    ['null for an unknown transaction', 'eth_getTransactionByHash', [unknownHash], null],
    ['null for an unknown receipt', 'eth_getTransactionReceipt', [unknownHash], null],
    ['null receipts above the head', 'eth_getBlockReceipts', ['0x99'], null],
    ['null receipts of block 0', 'eth_getBlockReceipts', ['earliest'], null],
    ['no logs above the head, without an error', 'eth_getLogs', [{ fromBlock: '0x99', toBlock: '0xa0' }], []],
    ['no logs of an address without logs', 'eth_getLogs', [{ fromBlock: '0x0', address: usdtMainnet }], []],
    ['no code of an account without code', 'eth_getCode', [at, 'latest'], '0x'],
    ['zero for an unused address', 'eth_getBalance', [usdtMainnet, 'latest'], '0x0'],
    ['a balance by 20 bytes', 'eth_getBalance', [at, 'latest'], '0x2625a0'],
    ['a balance by 21 bytes', 'eth_getBalance', [`41${depositHex}`, 'LATEST'], '0x2625a0'],
    ['the transaction count of a block by its decimal height', 'eth_getBlockTransactionCountByNumber', ['2'], '0x3'],
    ['no uncles', 'eth_getUncleCountByBlockNumber', ['0x1'], '0x0'],
  ])('%s', async (_what, method, params, expected) => {
    expect(await rpc(devnet, method, ...params)).toStrictEqual({ jsonrpc: '2.0', id: 1, result: expected })
  })

  it('a finalized block that is two blocks behind the latest', async () => {
    const { latest, finalized } = await devnet.mine()
    expect(latest - finalized).toBe(2)
    const block = await result<{ number: string }>(devnet, 'eth_getBlockByNumber', 'finalized', false)
    expect(Number(block.number)).toBe(finalized)
  })

  it('the decimals of a token for a call with data and for a call with input', async () => {
    const decimals = `0x${'6'.padStart(64, '0')}`
    expect(await result(devnet, 'eth_call', { to: token, data: '0x313ce567' }, 'latest')).toBe(decimals)
    expect(await result(devnet, 'eth_call', { to: token, input: '0x313ce567', data: '0x' }, 'latest')).toBe(decimals)
  })
})

describe('the JSON-RPC transport', () => {
  it.each([
    ['text that is not JSON', '{', { id: 'null', error: { code: -32700, message: 'JSON parse error' } }],
    ['an empty batch', '[]', { id: 'null', error: { code: -32600, message: 'invalid request' } }],
    ['a number', '7', { id: 'null', error: { code: -32600, message: 'invalid request' } }],
    [
      'a batch of 101',
      JSON.stringify(Array(101).fill({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })),
      { id: 'null', error: { code: -32005, message: 'Batch size 101 exceeds the limit of 100' } },
    ],
  ])('responds to %s with one error object and HTTP 200', async (_what, body, expected) => {
    const response = await postRpc(devnet, body)
    expect(response.status).toBe(200)
    expect(JSON.parse(response.text)).toStrictEqual({ jsonrpc: '2.0', ...expected })
  })

  it('responds to a batch in order, with the ids of the requests, as application/json-rpc', async () => {
    const calls = ['a', 7].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }))
    const response = await postRpc(
      devnet,
      JSON.stringify([...calls, { jsonrpc: '2.0', id: 8, method: 'nope', params: [] }]),
    )
    expect(response.type).toBe('application/json-rpc')
    expect(JSON.parse(response.text)).toStrictEqual([
      { jsonrpc: '2.0', id: 'a', result: '0x6465766e' },
      { jsonrpc: '2.0', id: 7, result: '0x6465766e' },
      { jsonrpc: '2.0', id: 8, error: { code: -32601, message: 'method not found' } },
    ])
  })

  it('accepts only POST, and only known paths', async () => {
    expect((await fetch(devnet.rpcUrl)).status).toBe(405)
    expect((await fetch(`${devnet.apiUrl}/wallet/nothing`, { method: 'POST' })).status).toBe(404)
  })
})
