import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { transferTopic } from '../../src/deposits/trc20.ts'
import { type Devnet, startDevnet, temporary } from './chain.ts'
import { tokenAddress, tokenCall } from './control.ts'
import { depositBase58, depositHex, payAllCurrencies, result, transactionById, unknownHash } from './support.ts'

const at = `0x${depositHex}`
const token = `0x${tokenAddress}`

let devnet: Devnet
let paid = { trx: '', usdt: '', trc10: '' }
let paidBlock = ''

interface BlockObject {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly logsBloom: string
  readonly transactions: readonly Record<string, unknown>[]
}

beforeAll(async () => {
  devnet = await startDevnet(temporary)
  paid = await payAllCurrencies(devnet)
  paidBlock = (await result<BlockObject>(devnet, 'eth_getBlockByNumber', '0x2', false)).hash
})
afterAll(() => devnet.stop())

describe('a block', () => {
  it('has a hash that starts with its height; the hash of block 0 ends with the chain id', async () => {
    const blocks: BlockObject[] = []
    for (const height of ['0x0', '0x1', '0x2', '0x3']) {
      blocks.push(await result<BlockObject>(devnet, 'eth_getBlockByNumber', height, false))
    }
    expect(blocks.map(({ hash }) => Number(`0x${hash.slice(2, 18)}`))).toStrictEqual([0, 1, 2, 3])
    expect(blocks.slice(1).map(({ parentHash }) => parentHash)).toStrictEqual(
      blocks.slice(0, 3).map(({ hash }) => hash),
    )
    expect(blocks[0]?.hash.slice(-8)).toBe('6465766e')
  })

  it('has exactly the fields of a Tron block', async () => {
    const block = await result<BlockObject>(devnet, 'eth_getBlockByHash', paidBlock, false)
    const fields =
      'number hash parentHash nonce sha3Uncles logsBloom transactionsRoot stateRoot receiptsRoot miner difficulty ' +
      'totalDifficulty extraData size gasLimit gasUsed timestamp transactions uncles baseFeePerGas mixHash'
    expect(new Set(Object.keys(block))).toStrictEqual(new Set(fields.split(' ')))
    expect(block).toMatchObject({
      logsBloom: `0x${'0'.repeat(512)}`,
      nonce: '0x0000000000000000',
      stateRoot: '0x',
      transactions: [`0x${paid.trx}`, `0x${paid.usdt}`, `0x${paid.trc10}`],
    })
    expect(Number(block.timestamp)).toBeLessThan(10 ** 11) // seconds: in milliseconds this would be 1973
  })
})

describe('a transaction', () => {
  it('that is a worthless TRC-10 transfer differs from a TRX transfer only in hash, index and signature', async () => {
    const { transactions } = await result<BlockObject>(devnet, 'eth_getBlockByNumber', '0x2', true)
    const [trx = {}, , trc10 = {}] = transactions
    const own = ['hash', 'transactionIndex', 'r', 's']
    const rest = (transaction: object) => Object.entries(transaction).filter(([key]) => !own.includes(key))
    expect(rest(trc10)).toStrictEqual(rest(trx))
    expect(Object.keys(trx)).toHaveLength(15)
    expect(trx).toMatchObject({
      to: at,
      value: '0x2625a0',
      input: '0x',
      gas: '0x0',
      nonce: '0x0',
      type: '0x0',
      v: '0x1b',
    })
    const receipts = await result<object[]>(devnet, 'eth_getBlockReceipts', paidBlock)
    const [a = {}, , b = {}] = receipts
    const common = ({
      transactionHash: _hash,
      transactionIndex: _index,
      cumulativeGasUsed: _used,
      ...receipt
    }: Record<string, unknown>) => receipt
    expect(common({ ...b })).toStrictEqual(common({ ...a }))
    expect(a).toMatchObject({ status: '0x1', gasUsed: '0x0', contractAddress: null, logs: [] })
    expect(a).not.toHaveProperty('value')
  })

  it('that is a token transfer has the same log in its receipt and in eth_getLogs', async () => {
    const receipt = await result<{ status: string; logs: unknown[] }>(devnet, 'eth_getTransactionReceipt', paid.usdt)
    const topics = [transferTopic, null, [`0x${depositHex.padStart(64, '0')}`]]
    const logs = await result<unknown[]>(devnet, 'eth_getLogs', { blockHash: paidBlock, address: token, topics })
    expect(receipt.status).toBe('0x1')
    expect(receipt.logs).toStrictEqual(logs)
    expect(logs).toMatchObject([
      {
        address: token,
        data: `0x${'2625a0'.padStart(64, '0')}`,
        transactionHash: `0x${paid.usdt}`,
        transactionIndex: '0x1',
        blockHash: paidBlock,
        logIndex: '0x0',
        removed: false,
      },
    ])
    expect(await result(devnet, 'eth_getLogs', { fromBlock: '0x2', toBlock: 'finalized' })).toStrictEqual(logs)
  })

  it('that is not mined has no block fields, and is included in the balance', async () => {
    const to = '0x00000000000000000000000000000000000000aa'
    const { txid } = await devnet.pay({ to, amount: '1', currency: 'TRX' })
    const shown = { blockHash: '0x', blockNumber: '0x', transactionIndex: '0x', gasPrice: '0x' }
    expect(await result(devnet, 'eth_getTransactionByHash', txid)).toMatchObject({ ...shown, hash: `0x${txid}` })
    expect(await result(devnet, 'eth_getTransactionReceipt', txid)).toBeNull()
    expect(await transactionById(devnet, txid)).toStrictEqual({})
    expect(await result(devnet, 'eth_getBalance', to, 'latest')).toBe('0xf4240')
    await devnet.mine()
    expect(await result(devnet, 'eth_getTransactionByHash', txid)).toMatchObject({
      transactionIndex: '0x0',
      gasPrice: '0x64',
    })
  })
})

describe('a failed transaction', () => {
  it('has no log if it reverted', async () => {
    const data = tokenCall('transferAndRevert(address,uint256)', depositHex, 1n)
    const { txid } = await devnet.send({ to: devnet.tokenAddress, data })
    await devnet.mine()
    expect(await result(devnet, 'eth_getTransactionReceipt', txid)).toMatchObject({ status: '0x0', logs: [] })
    expect(await transactionById(devnet, txid)).toMatchObject({ ret: [{ contractRet: 'REVERT' }] })
  })

  it('can have a log of the real token', async () => {
    const from = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
    const data = tokenCall('phantomTransfer(address,uint256)', depositHex, 9n)
    const { txid } = await devnet.send({ from, to: devnet.tokenAddress, data })
    await devnet.mine()
    const receipt = await result<{ blockHash: string; logs: unknown[] }>(devnet, 'eth_getTransactionReceipt', txid)
    expect(receipt).toMatchObject({ status: '0x0', logs: [{ address: token }] })
    expect(await result(devnet, 'eth_getLogs', { blockHash: receipt.blockHash })).toStrictEqual(receipt.logs)
    expect(await transactionById(devnet, txid)).toMatchObject({ ret: [{ contractRet: 'OUT_OF_TIME' }] })
  })
})

describe('the HTTP API', () => {
  it('distinguishes the TRC-10 transfer from the TRX transfer', async () => {
    const type = async (txid: string) => {
      const { raw_data: raw } = await transactionById(devnet, txid)
      return (raw as { contract: { type: string }[] }).contract[0]?.type // asserted below
    }
    expect(await type(paid.trx)).toBe('TransferContract')
    expect(await type(paid.usdt)).toBe('TriggerSmartContract')
    expect(await type(paid.trc10)).toBe('TransferAssetContract')
  })

  it('returns {} for an unknown transaction and an Error for an invalid hash, both with HTTP 200', async () => {
    expect(await transactionById(devnet, unknownHash.slice(2))).toStrictEqual({})
    expect(await transactionById(devnet, 'x')).toHaveProperty('Error')
  })
})

describe('a control', () => {
  it.each<[string, string, object, string]>([
    [
      'an address with a changed letter',
      'pay',
      { to: `${depositBase58.slice(0, -1)}7`, amount: '1', currency: 'TRX' },
      'not a Tron address',
    ],
    ['an amount of zero', 'pay', { to: depositBase58, amount: '0', currency: 'TRX' }, 'decimal above zero'],
    ['an unknown currency', 'pay', { to: depositBase58, amount: '1', currency: 'BTC' }, 'TRX, USDT or TRC10'],
    ['an unknown contract type', 'synthetic', { type: 'Nothing' }, 'no contract type Nothing'],
    ['a synthetic TRX transfer', 'synthetic', { type: 'TransferContract', to: depositBase58 }, 'use pay or send'],
    ['a synthetic transaction without its recipient', 'synthetic', { type: 'TransferAssetContract' }, 'needs "to"'],
    ['zero blocks', 'mine', { blocks: 0 }, 'from 1 to 1000'],
  ])('refuses %s in one sentence', async (_what, control, body, sentence) => {
    const response = await fetch(`${devnet.apiUrl}/devnet/${control}`, { method: 'POST', body: JSON.stringify(body) })
    expect(response.status).toBe(400)
    expect((await response.json()) as object).toHaveProperty('error', expect.stringContaining(sentence))
  })

  it('can be used over HTTP, as tests in workerd do', async () => {
    const call = async (control: string, body: object) => {
      const response = await fetch(`${devnet.apiUrl}/devnet/${control}`, { method: 'POST', body: JSON.stringify(body) })
      return response.json()
    }
    const { txid } = (await call('pay', { to: depositBase58, amount: '0.000001', currency: 'TRX' })) as { txid: string }
    expect(await call('mine', { blocks: 3 })).toHaveProperty('latest')
    expect(await result(devnet, 'eth_getTransactionByHash', txid)).toMatchObject({ value: '0x1' })
  })
})
