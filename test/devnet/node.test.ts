import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../support/command.ts'
import { type Devnet, startDevnet, temporary } from './chain.ts'
import { tokenAddress, tokenBase58, tokenCall, tokenOwner } from './control.ts'
import {
  blocksOf,
  depositBase58,
  depositHex,
  minedTransaction,
  payAllCurrencies,
  postApi,
  postRpc,
  result,
  rpc,
} from './support.ts'
import { compileToken, contractNames, readTokenArtifact, tokenSelector } from './token/compile.ts'

const unknownHash = `0x${'00'.repeat(31)}99`
const usdtMainnet = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c'
const at = `0x${depositHex}`
const token = `0x${tokenAddress}`
const wrongType = 'method parameters invalid'

interface BlockObject {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
}
interface Receipt {
  readonly blockHash: string
  readonly status: string
  readonly logs: readonly { readonly topics: readonly string[]; readonly data: string }[]
}

let devnet: Devnet
let paid = { trx: '', usdt: '', trc10: '' }

const blockAt = (height: string) => result<BlockObject>(devnet, 'eth_getBlockByNumber', height, false)
const receiptOf = (txid: string) => result<Receipt>(devnet, 'eth_getTransactionReceipt', txid)
const word = (value: bigint | string) => (typeof value === 'string' ? value : value.toString(16)).padStart(64, '0')

beforeAll(async () => {
  devnet = await startDevnet(temporary)
  paid = await payAllCurrencies(devnet) // in block 2; block 1 has the token
})
afterAll(() => devnet.stop())

describe('a range of blocks', () => {
  it('ends before its end, and has each block with its parent, its time and the same hash as by JSON-RPC', async () => {
    const blocks = await blocksOf(devnet, 1, 4)
    const headers = blocks.map(({ block_header: { raw_data: raw } }) => raw)
    expect(headers.map(({ number }) => number)).toEqual([1, 2, 3])
    expect(headers.slice(1).map(({ parentHash }) => parentHash)).toEqual(blocks.slice(0, 2).map((one) => one.blockID))
    expect(headers.slice(1).map(({ timestamp }, i) => timestamp - (headers[i]?.timestamp ?? 0))).toEqual([3_000, 3_000])
    expect(headers[0]?.timestamp).toBeLessThan(Date.now() - 50 * 60_000)
    expect(`0x${blocks[1]?.blockID}`).toBe((await blockAt('0x2')).hash)
    // a block without transactions has no member for them
    expect(Object.keys(blocks[2] ?? {})).toEqual(['blockID', 'block_header'])
  })

  it('leaves out what is above the head', async () => {
    const { latest } = await devnet.mine()
    expect(await blocksOf(devnet, latest, latest + 90)).toHaveLength(1)
  })

  it.each([
    ['above the head', { startNum: 999_999, endNum: 1_000_000 }],
    ['that is empty', { startNum: 2, endNum: 2 }],
    ['of 101 blocks', { startNum: 1, endNum: 102 }],
    ['that is missing', {}],
  ])('%s is {}', async (_what, body) => {
    expect(await postApi(devnet, 'getblockbylimitnext', body)).toEqual({})
  })
})

describe('a transaction of a block', () => {
  it('has the type, the parties, and bytes that hash to its txid', async () => {
    const transactions = (await blocksOf(devnet, 2, 3))[0]?.transactions ?? []
    expect(transactions.map(({ txID }) => txID)).toEqual([paid.trx, paid.usdt, paid.trc10])
    for (const { txID, raw_data_hex: hex } of transactions) {
      expect(createHash('sha256').update(Buffer.from(hex, 'hex')).digest('hex')).toBe(txID)
    }
    const contracts = transactions.map(({ raw_data: raw }) => raw.contract[0])
    const owner_address = expect.stringMatching(/^41[0-9a-f]{40}$/)
    const to_address = `41${depositHex}`
    expect(contracts).toMatchObject([
      { type: 'TransferContract', parameter: { value: { owner_address, to_address, amount: 2_500_000 } } },
      { type: 'TriggerSmartContract', parameter: { value: { owner_address, contract_address: `41${tokenAddress}` } } },
      { type: 'TransferAssetContract', parameter: { value: { owner_address, asset_name: '31303030303031' } } },
    ])
    expect(transactions.map(({ ret }) => ret)).toEqual(Array(3).fill([{ contractRet: 'SUCCESS' }]))
  })

  it.each([
    ['REVERT', 'transferAndRevert(address,uint256)', {}, 0],
    ['OUT_OF_ENERGY', 'transfer(address,uint256)', { fails: 'OUT_OF_ENERGY' as const }, 0],
    // as on a node with another `vm.minTimeRatio`: the failed transaction has a log
    ['OUT_OF_TIME', 'phantomTransfer(address,uint256)', {}, 1],
  ])('that failed has the result %s', async (contractRet, signature, limits, logs) => {
    const data = tokenCall(signature, depositHex, 1n)
    const { txid } = await devnet.send({ from: tokenOwner, to: tokenAddress, data, ...limits })
    await devnet.mine()
    const { ret, raw_data } = await minedTransaction(devnet, txid)
    expect([ret, raw_data.contract[0]?.type]).toEqual([[{ contractRet }], 'TriggerSmartContract'])
    expect(await receiptOf(txid)).toMatchObject({ status: '0x0', logs: Array(logs).fill({}) })
  })
})

describe('JSON-RPC', () => {
  it.each<[string, string, unknown[], number, string]>([
    ['a missing parameter', 'eth_getBalance', [at], -32602, wrongType],
    ['whole transactions, which only this chain does', 'eth_getBlockByNumber', ['0x1', true], -32602, wrongType],
    ['state at a height', 'eth_getBalance', [at, '0x1'], -32602, 'QUANTITY not supported, just support TAG as latest'],
    ['an address of 19 bytes', 'eth_getBalance', [at.slice(0, -2), 'latest'], -32602, 'invalid address hash value'],
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
    [
      'a call that reverts',
      'eth_call',
      [{ to: token, data: tokenCall('transferAndRevert(address,uint256)', depositHex, 0n) }, 'latest'],
      -32000,
      'REVERT opcode executed: reverted on purpose',
    ],
  ])('refuses %s, as java-tron does', async (_what, method, params, code, message) => {
    expect((await rpc(devnet, method, ...params)).error).toMatchObject({ code, message })
  })

  it.each<[string, string, unknown[], unknown]>([
    ['the chain id', 'eth_chainId', [], '0x6465766e'],
    ['null for a height above the head', 'eth_getBlockByNumber', ['0x99999', false], null],
    ['null for an unknown transaction', 'eth_getTransactionByHash', [unknownHash], null],
    ['null for an unknown receipt', 'eth_getTransactionReceipt', [unknownHash], null],
    ['a balance by 20 bytes', 'eth_getBalance', [at, 'latest'], '0x2625a0'],
    ['a balance by 21 bytes', 'eth_getBalance', [`41${depositHex}`, 'LATEST'], '0x2625a0'],
    ['decimals', 'eth_call', [{ to: token, data: '0x313ce567' }, 'latest'], `0x${word(6n)}`],
  ])('returns %s', async (_what, method, params, expected) => {
    expect(await rpc(devnet, method, ...params)).toStrictEqual({ jsonrpc: '2.0', id: 1, result: expected })
  })

  it('has a finalized block two behind the latest, and hashes that start with the height', async () => {
    const { latest, finalized } = await devnet.mine()
    expect(latest - finalized).toBe(2)
    expect(Number((await blockAt('finalized')).number)).toBe(finalized)
    const blocks = await Promise.all(['0x0', '0x1', '0x2'].map((height) => blockAt(height)))
    expect(blocks.map(({ hash }) => Number(`0x${hash.slice(2, 18)}`))).toStrictEqual([0, 1, 2])
    expect(blocks.slice(1).map(({ parentHash }) => parentHash)).toEqual(blocks.slice(0, 2).map(({ hash }) => hash))
    expect(blocks[0]?.hash.slice(-8)).toBe('6465766e') // the hash of block 0 ends with the chain id
  })

  it('has the logs of a block as they are in the receipts', async () => {
    const receipt = await receiptOf(paid.usdt)
    const logs = await result<unknown[]>(devnet, 'eth_getLogs', { blockHash: receipt.blockHash })
    expect(receipt).toMatchObject({ status: '0x1', logs })
    const place = { transactionHash: `0x${paid.usdt}`, transactionIndex: '0x1', logIndex: '0x0', removed: false }
    expect(logs).toMatchObject([{ address: token, data: `0x${word('2625a0')}`, ...place }])
  })

  it('has a transaction in no block without block fields, its amount in the balance already', async () => {
    const to = '0x00000000000000000000000000000000000000aa'
    const { txid } = await devnet.pay({ to, amount: '1', currency: 'TRX' })
    const shown = () => result<{ blockNumber: string }>(devnet, 'eth_getTransactionByHash', txid)
    expect(await shown()).toMatchObject({ blockHash: '0x', blockNumber: '0x', hash: `0x${txid}` })
    expect(await receiptOf(txid)).toBeNull()
    expect(await result(devnet, 'eth_getBalance', to, 'latest')).toBe('0xf4240')
    const { latest } = await devnet.mine()
    expect(Number((await shown()).blockNumber)).toBe(latest)
  })

  const calls = ['eth_chainId', 'nope'].map((method, id) => ({ jsonrpc: '2.0', id, method }))
  it.each([
    [
      '101 calls',
      JSON.stringify(Array(101).fill(calls[0])),
      { id: 'null', error: { code: -32005, message: 'Batch size 101 exceeds the limit of 100' } },
    ],
    [
      'a batch',
      JSON.stringify(calls),
      [
        { jsonrpc: '2.0', id: 0, result: '0x6465766e' },
        { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'method not found' } },
      ],
    ],
  ])('answers %s with HTTP 200', async (_what, body, expected) => {
    const { status, type, text } = await postRpc(devnet, body)
    const whole = Array.isArray(expected) ? expected : { jsonrpc: '2.0', ...expected }
    expect([status, type, JSON.parse(text)]).toStrictEqual([200, 'application/json-rpc', whole])
  })
})

describe('a control', () => {
  const own = { to: depositBase58, amount: '1', currency: 'TRX' }
  const control = (name: string, body: object) =>
    fetch(`${devnet.apiUrl}/devnet/${name}`, { method: 'POST', body: JSON.stringify(body) })

  it.each<[string, string, object, string]>([
    ['an amount of zero', 'pay', { ...own, amount: '0' }, 'above zero'],
    ['seven decimals', 'pay', { ...own, amount: '0.0000001' }, 'at most 6 decimals'],
    ['an unknown currency', 'pay', { ...own, currency: 'usdt' }, 'TRX, USDT or TRC10'],
    ['an unknown contract type', 'synthetic', { type: 'Nothing', value: {} }, 'no contract type Nothing'],
    ['a synthetic TRX transfer', 'synthetic', { type: 'TransferContract', value: {} }, 'use pay or send'],
    ['zero blocks', 'mine', { blocks: 0 }, 'from 1 to 1000'],
  ])('refuses %s in one sentence', async (_what, name, body, sentence) => {
    const response = await control(name, body)
    expect(response.status).toBe(400)
    expect((await response.json()) as object).toHaveProperty('error', expect.stringContaining(sentence))
  })

  it('makes blocks on command over HTTP, as tests in workerd do', async () => {
    const { txid } = (await (await control('pay', own)).json()) as { txid: string }
    expect(await (await control('mine', { blocks: 3 })).json()).toHaveProperty('latest')
    expect(await minedTransaction(devnet, txid)).toMatchObject({ ret: [{ contractRet: 'SUCCESS' }] })
  })
})

describe('npm run pay', () => {
  const pay = (args: readonly string[], port = new URL(devnet.apiUrl).port) =>
    runCommand('test/devnet/pay.ts', args, { environment: { DEVNET_PORT: port } })

  it('sends a deposit, and prints its txid and when to look', async () => {
    const { code, out } = await pay([depositBase58, '3.5', 'TRX'])
    expect([code, out.split('\n').slice(1)]).toEqual([
      0,
      ['On its way in a few seconds: look then. Credited in about 21 seconds.', ''],
    ])
    expect(await result(devnet, 'eth_getTransactionByHash', out.slice(0, 64))).toMatchObject({ value: '0x3567e0' })
  })

  it('refuses in one sentence', async () => {
    const changed = `${depositBase58.slice(0, -1)}7`
    const { code, out } = await pay([changed, '1', 'TRX'])
    expect([code, out]).toEqual([1, expect.stringMatching(/^"T\w+" is not a Tron address \(.*\)\.\n$/)])
    expect((await pay([depositBase58, '99999999999999', 'USDT'])).out).toBe(
      '"99999999999999" is not an amount: it is above 9007199254.740991, the most that one transfer can have here.\n',
    )
    expect((await pay([depositBase58, '0.0000001', 'USDT'])).out).toMatch(
      /it must be a decimal with at most 6 decimals\.\n$/,
    )
    expect((await pay([])).out).toMatch(/^Three arguments are required.*\n$/)
    expect((await pay([depositBase58, '1', 'TRX'], '1')).out).toBe(
      'No local chain is running on port 1: run "npm start" first.\n',
    )
  })
})

describe('the test token', () => {
  const logsOf = async (data: string, from?: string) => {
    const { txid } = await devnet.send({ to: tokenAddress, data, ...(from === undefined ? {} : { from }) })
    await devnet.mine()
    return await receiptOf(txid)
  }

  it('is the compiled source, at the address of test/devnet/dev.vars', () => {
    for (const name of contractNames) expect(readTokenArtifact(name)).toStrictEqual(compileToken(name))
    expect(tokenBase58).toBe('TJhSSbZ8dVqtEiLYgva1WWcV4R4NkRCARH')
  })

  it('moves several amounts in one transaction, with a log for each', async () => {
    const other = '9965507d1a55bcc2695c58ba16fb37d819b0a4dc'
    const body = [0x40n, 0xa0n, 2n, depositHex, other, 2n, 5n, 7n].map(word).join('')
    const { logs } = await logsOf(`0x${tokenSelector('transferMany(address[],uint256[])')}${body}`, tokenOwner)
    expect(logs.map(({ topics, data }) => [topics[2], BigInt(data)])).toStrictEqual([
      [`0x${word(depositHex)}`, 5n],
      [`0x${word(other)}`, 7n],
    ])
  })

  it('moves nothing for an account without allowance, but logs a transfer of zero', async () => {
    const call = (value: bigint) =>
      `0x${tokenSelector('transferFrom(address,address,uint256)')}${[tokenOwner, depositHex, value].map(word).join('')}`
    expect(await logsOf(call(0n))).toMatchObject({ status: '0x1', logs: [{}] })
    expect(await logsOf(call(1n))).toMatchObject({ status: '0x0', logs: [] })
  })
})
