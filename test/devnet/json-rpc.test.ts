import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Devnet, startDevnet, temporary } from './chain.ts'
import { tokenAddress, tokenCall } from './control.ts'
import {
  depositBase58,
  depositHex,
  payAllCurrencies,
  postRpc,
  result,
  rpc,
  transactionById,
  unknownHash,
} from './support.ts'

const usdtMainnet = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c'
const at = `0x${depositHex}`
const token = `0x${tokenAddress}`
const stateTags = 'TAG [earliest | pending | finalized | safe] not supported'
const wrongType = 'method parameters invalid'

const refusals: readonly [what: string, method: string, params: unknown[], code: number, message: string][] = [
  ['a missing parameter', 'eth_getBalance', [at], -32602, wrongType],
  ['an extra parameter', 'eth_chainId', ['0x1'], -32602, wrongType],
  ['a parameter of the wrong type', 'eth_getBlockByNumber', ['0x1', 'yes'], -32602, wrongType],
  ['state at a height', 'eth_getBalance', [at, '0x1'], -32602, 'QUANTITY not supported, just support TAG as latest'],
  ['finalized state', 'eth_getBalance', [at, 'finalized'], -32602, stateTags],
  ['earliest state', 'eth_call', [{ to: at, data: '0x' }, 'earliest'], -32602, stateTags],
  ['an unknown tag', 'eth_getBalance', [at, 'newest'], -32602, 'invalid block number'],
  ['a pending block', 'eth_getBlockByNumber', ['pending', false], -32602, 'TAG pending not supported'],
  ['a block number with invalid digits', 'eth_getBlockByNumber', ['0xzz', false], -32602, 'invalid block number'],
  ['an address of 19 bytes', 'eth_getBalance', [at.slice(0, -2), 'latest'], -32602, 'invalid address hash value'],
  ['21 bytes without 41', 'eth_getBalance', [`42${depositHex}`, 'latest'], -32602, 'invalid address hash value'],
  ['a short hash', 'eth_getTransactionByHash', ['0x12'], -32602, 'invalid hash value'],
  ['a call without code', 'eth_call', [{ to: usdtMainnet }, 'latest'], -32600, 'Smart contract is not exist.'],
  ['logs of an unknown block', 'eth_getLogs', [{ blockHash: unknownHash }], -32602, 'invalid blockHash'],
  [
    'logs with a filter, which only this chain does',
    'eth_getLogs',
    [{ blockHash: unknownHash, address: token }],
    -32602,
    'the local chain has logs by blockHash alone, without a filter',
  ],
  ['an unknown method', 'eth_feeHistory', [], -32601, 'method not found'],
]

let devnet: Devnet
let paid = { trx: '', usdt: '', trc10: '' }

interface BlockObject {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
}
interface Receipt {
  readonly blockHash: string
  readonly status: string
  readonly logs: readonly Record<string, unknown>[]
}
const blockAt = (height: string) => result<BlockObject>(devnet, 'eth_getBlockByNumber', height, false)
const receiptOf = (txid: string) => result<Receipt>(devnet, 'eth_getTransactionReceipt', txid)

beforeAll(async () => {
  devnet = await startDevnet(temporary)
  paid = await payAllCurrencies(devnet)
})
afterAll(() => devnet.stop())

describe('JSON-RPC refuses, as java-tron does', () => {
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

describe('JSON-RPC returns, as java-tron does', () => {
  it.each<[string, string, unknown[], unknown]>([
    ['the chain id', 'eth_chainId', [], '0x6465766e'],
    ['the client version', 'web3_clientVersion', [], 'TRON/v4.8.2/Linux/Java1.8'],
    ['null for a height above the head', 'eth_getBlockByNumber', ['0x99', false], null],
    ['null for an unknown transaction', 'eth_getTransactionByHash', [unknownHash], null],
    ['null for an unknown receipt', 'eth_getTransactionReceipt', [unknownHash], null],
    ['zero for an unused address', 'eth_getBalance', [usdtMainnet, 'latest'], '0x0'],
    ['a balance by 20 bytes', 'eth_getBalance', [at, 'latest'], '0x2625a0'],
    ['a balance by 21 bytes', 'eth_getBalance', [`41${depositHex}`, 'LATEST'], '0x2625a0'],
    ['decimals', 'eth_call', [{ to: token, data: '0x313ce567' }, 'latest'], `0x${'6'.padStart(64, '0')}`],
  ])('%s', async (_what, method, params, expected) => {
    expect(await rpc(devnet, method, ...params)).toStrictEqual({ jsonrpc: '2.0', id: 1, result: expected })
  })

  it('a finalized block that is two blocks behind the latest', async () => {
    const { latest, finalized } = await devnet.mine()
    expect(latest - finalized).toBe(2)
    expect(Number((await blockAt('finalized')).number)).toBe(finalized)
  })

  it('blocks whose hashes start with their height, block 0 with the chain id at the end of its hash', async () => {
    const blocks = await Promise.all(['0x0', '0x1', '0x2', '0x3'].map((height) => blockAt(height)))
    expect(blocks.map(({ hash }) => Number(`0x${hash.slice(2, 18)}`))).toStrictEqual([0, 1, 2, 3])
    expect(blocks.slice(1).map(({ parentHash }) => parentHash)).toEqual(blocks.slice(0, 3).map(({ hash }) => hash))
    expect(blocks[0]?.hash.slice(-8)).toBe('6465766e')
  })

  it('the logs of a block, the same as in the receipts', async () => {
    const receipt = await receiptOf(paid.usdt)
    const logs = await result<unknown[]>(devnet, 'eth_getLogs', { blockHash: receipt.blockHash })
    expect(receipt).toMatchObject({ status: '0x1', logs })
    expect(logs).toMatchObject([
      {
        address: token,
        data: `0x${'2625a0'.padStart(64, '0')}`,
        transactionHash: `0x${paid.usdt}`,
        transactionIndex: '0x1',
        logIndex: '0x0',
        removed: false,
      },
    ])
  })

  it('a transaction in no block without block fields, its amount in the balance already', async () => {
    const to = '0x00000000000000000000000000000000000000aa'
    const { txid } = await devnet.pay({ to, amount: '1', currency: 'TRX' })
    const shown = () => result<{ blockNumber: string }>(devnet, 'eth_getTransactionByHash', txid)
    expect(await shown()).toMatchObject({ blockHash: '0x', blockNumber: '0x', hash: `0x${txid}` })
    expect(await receiptOf(txid)).toBeNull()
    expect(await transactionById(devnet, txid)).toStrictEqual({})
    expect(await result(devnet, 'eth_getBalance', to, 'latest')).toBe('0xf4240')
    const { latest } = await devnet.mine()
    expect(Number((await shown()).blockNumber)).toBe(latest)
  })
})

describe('the JSON-RPC transport', () => {
  const invalidRequest = { id: 'null', error: { code: -32600, message: 'invalid request' } }
  const large = JSON.stringify(Array(101).fill({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }))
  it.each([
    ['text that is not JSON', '{', { id: 'null', error: { code: -32700, message: 'JSON parse error' } }],
    ['a number', '7', invalidRequest],
    ['101 calls', large, { id: 'null', error: { code: -32005, message: 'Batch size 101 exceeds the limit of 100' } }],
  ])('responds to %s with one error object and HTTP 200', async (_what, body, expected) => {
    const response = await postRpc(devnet, body)
    expect(response.status).toBe(200)
    expect(JSON.parse(response.text)).toStrictEqual({ jsonrpc: '2.0', ...expected })
  })

  it('responds to a batch in order, with the ids of the requests, as application/json-rpc', async () => {
    const calls = ['eth_chainId', 'web3_clientVersion', 'nope'].map((method, id) => ({ jsonrpc: '2.0', id, method }))
    const response = await postRpc(devnet, JSON.stringify(calls))
    expect(response.type).toBe('application/json-rpc')
    expect(JSON.parse(response.text)).toStrictEqual([
      { jsonrpc: '2.0', id: 0, result: '0x6465766e' },
      { jsonrpc: '2.0', id: 1, result: 'TRON/v4.8.2/Linux/Java1.8' },
      { jsonrpc: '2.0', id: 2, error: { code: -32601, message: 'method not found' } },
    ])
  })

  it('accepts only POST, and only known paths', async () => {
    expect((await fetch(devnet.rpcUrl)).status).toBe(405)
    expect((await fetch(`${devnet.apiUrl}/wallet/nothing`, { method: 'POST' })).status).toBe(404)
  })
})

describe('a control', () => {
  const own = { to: depositBase58, amount: '1' }
  it.each<[string, string, object, string]>([
    [
      'a changed letter',
      'pay',
      { ...own, to: `${depositBase58.slice(0, -1)}7`, currency: 'TRX' },
      'not a Tron address',
    ],
    ['an amount of zero', 'pay', { ...own, amount: '0', currency: 'TRX' }, 'decimal above zero'],
    ['an unknown currency', 'pay', { ...own, currency: 'BTC' }, 'TRX, USDT or TRC10'],
    ['an unknown contract type', 'synthetic', { type: 'Nothing' }, 'no contract type Nothing'],
    ['a synthetic TRX transfer', 'synthetic', { type: 'TransferContract', ...own }, 'use pay or send'],
    ['a synthetic transaction without its recipient', 'synthetic', { type: 'TransferAssetContract' }, 'needs "to"'],
    ['zero blocks', 'mine', { blocks: 0 }, 'from 1 to 1000'],
  ])('refuses %s in one sentence', async (_what, control, body, sentence) => {
    const response = await fetch(`${devnet.apiUrl}/devnet/${control}`, { method: 'POST', body: JSON.stringify(body) })
    expect(response.status).toBe(400)
    expect((await response.json()) as object).toHaveProperty('error', expect.stringContaining(sentence))
  })
})
