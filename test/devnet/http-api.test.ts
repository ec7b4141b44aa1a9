import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Devnet, startDevnet, temporary } from './chain.ts'
import { tokenCall } from './control.ts'
import {
  depositBase58,
  depositHex,
  payAllCurrencies,
  postApi,
  result,
  transactionById,
  unknownHash,
} from './support.ts'

const tokenOwner = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

interface ApiTransaction {
  readonly ret: readonly { readonly contractRet: string }[]
  readonly txID: string
  readonly raw_data: {
    readonly contract: readonly { readonly type: string; readonly parameter: { readonly value: object } }[]
  }
  readonly raw_data_hex: string
}
interface ApiBlock {
  readonly blockID: string
  readonly block_header: {
    readonly raw_data: { readonly number: number; readonly parentHash: string; readonly timestamp: number }
  }
  readonly transactions?: readonly ApiTransaction[]
}

let devnet: Devnet
let paid = { trx: '', usdt: '', trc10: '' }

const call = (path: string, body: object) => postApi(devnet, path, body)
const blocksOf = async (startNum: number, endNum: number) =>
  (await call('getblockbylimitnext', { startNum, endNum })).block as readonly ApiBlock[] | undefined

beforeAll(async () => {
  devnet = await startDevnet(temporary)
  paid = await payAllCurrencies(devnet)
})
afterAll(() => devnet.stop())

describe('a range of blocks', () => {
  it('ends before its end, and has each block with its parent and the same hash as by JSON-RPC', async () => {
    const blocks = (await blocksOf(1, 4)) ?? []
    expect(blocks.map(({ block_header: { raw_data: raw } }) => raw.number)).toEqual([1, 2, 3])
    const parents = blocks.map(({ block_header: { raw_data: raw } }) => raw.parentHash)
    expect(parents.slice(1)).toEqual(blocks.slice(0, 2).map(({ blockID }) => blockID))
    const { hash, timestamp } = await result<{ hash: string; timestamp: string }>(
      devnet,
      'eth_getBlockByNumber',
      '0x2',
      false,
    )
    expect(blocks[1]?.blockID).toBe(hash.slice(2))
    expect(blocks[1]?.block_header.raw_data.timestamp).toBe(Number(timestamp) * 1_000)
    expect(await call('getblockbynum', { num: 2 })).toEqual(blocks[1])
  })

  it('has no transactions member in an empty block', async () => {
    const [block] = (await blocksOf(3, 4)) ?? []
    expect(Object.keys(block ?? {})).toEqual(['blockID', 'block_header'])
  })

  it('leaves out what is above the head, and is {} where nothing is left', async () => {
    const { latest } = await devnet.mine()
    expect(await blocksOf(latest, latest + 90)).toHaveLength(1)
    expect(await call('getblockbylimitnext', { startNum: latest + 1, endNum: latest + 2 })).toEqual({})
  })

  it.each([
    ['an empty range', { startNum: 2, endNum: 2 }],
    ['a range of 101 blocks', { startNum: 1, endNum: 102 }],
    ['a start below zero', { startNum: -1, endNum: 2 }],
    ['no range', {}],
  ])('is {} for %s', async (_what, body) => {
    expect(await call('getblockbylimitnext', body)).toEqual({})
  })

  it('has times that are 3 s apart and behind the clock', async () => {
    await devnet.mine(5)
    const times = ((await blocksOf(1, 7)) ?? []).map(({ block_header: { raw_data: raw } }) => raw.timestamp)
    expect(times.slice(1).map((time, i) => time - (times[i] ?? 0))).toEqual([3_000, 3_000, 3_000, 3_000, 3_000])
    expect(times[0]).toBeLessThan(Date.now() - 50 * 60_000)
  })
})

describe('a transaction of a block', () => {
  it('has the type, the parties, and bytes that hash to its txid', async () => {
    const transactions = (await blocksOf(2, 3))?.[0]?.transactions ?? []
    expect(transactions.map(({ txID }) => txID)).toEqual([paid.trx, paid.usdt, paid.trc10])
    for (const { txID, raw_data_hex: hex } of transactions) {
      expect(createHash('sha256').update(Buffer.from(hex, 'hex')).digest('hex')).toBe(txID)
    }
    const contracts = transactions.map(({ raw_data: raw }) => raw.contract[0])
    const owner_address = expect.stringMatching(/^41[0-9a-f]{40}$/)
    expect(contracts).toMatchObject([
      { type: 'TransferContract', parameter: { value: { owner_address, to_address: `41${depositHex}` } } },
      {
        type: 'TriggerSmartContract',
        parameter: { value: { owner_address, contract_address: `41${devnet.tokenAddress}` } },
      },
      { type: 'TransferAssetContract', parameter: { value: { owner_address, asset_name: '31303030303031' } } },
    ])
    expect(transactions.map(({ ret }) => ret)).toEqual(Array(3).fill([{ contractRet: 'SUCCESS' }]))
  })

  it('is the same by its txid; an unknown one is {}, an invalid txid an Error', async () => {
    const [first] = (await blocksOf(2, 3))?.[0]?.transactions ?? []
    expect(await transactionById(devnet, paid.trx)).toEqual(first)
    expect(await transactionById(devnet, unknownHash.slice(2))).toEqual({})
    expect(await transactionById(devnet, 'x')).toHaveProperty('Error')
  })

  it.each([
    ['REVERT', 'transferAndRevert(address,uint256)', {}, 0],
    ['OUT_OF_ENERGY', 'transfer(address,uint256)', { fails: 'OUT_OF_ENERGY' as const }, 0],
    ['OUT_OF_TIME', 'phantomTransfer(address,uint256)', {}, 1], // as by a node with another setting: it has a log
  ])('that failed has the result %s', async (contractRet, signature, limits, logs) => {
    const data = tokenCall(signature, depositHex, 1n)
    const { txid } = await devnet.send({ from: tokenOwner, to: devnet.tokenAddress, data, ...limits })
    const { latest } = await devnet.mine()
    const [transaction] = (await blocksOf(latest, latest + 1))?.[0]?.transactions ?? []
    expect(transaction).toMatchObject({ txID: txid, ret: [{ contractRet }] })
    expect(transaction?.raw_data.contract[0]?.type).toBe('TriggerSmartContract')
    const receipt = await result<{ status: string; logs: unknown[] }>(devnet, 'eth_getTransactionReceipt', txid)
    expect([receipt.status, receipt.logs.length]).toEqual(['0x0', logs])
  })
})

describe('one block', () => {
  it('is found by height and hash, is the newest by default, and has its transactions only in detail', async () => {
    const second = await call('getblockbynum', { num: 2 })
    expect(await call('getblock', { id_or_num: second.blockID, detail: true })).toEqual(second)
    const { transactions: _transactions, ...header } = second
    expect(await call('getblock', { id_or_num: '2' })).toEqual(header)
    await devnet.mine() // an empty block: the two are the same
    expect(await call('getblock', {})).toEqual(await call('getnowblock', {}))
  })

  it('is {} above the head, and an Error for what is no hash', async () => {
    expect(await call('getblockbynum', { num: 99_999_999 })).toEqual({})
    expect(await call('getblock', { id_or_num: 'xyz' })).toEqual({ Error: 'id must be legal block hash.' })
  })
})

it('blocks are made on command over HTTP, as tests in workerd do', async () => {
  const control = async (name: string, body: object) =>
    (await fetch(`${devnet.apiUrl}/devnet/${name}`, { method: 'POST', body: JSON.stringify(body) })).json()
  const { txid } = (await control('pay', { to: depositBase58, amount: '0.000001', currency: 'TRX' })) as {
    txid: string
  }
  expect(await control('mine', { blocks: 3 })).toHaveProperty('latest')
  expect(await transactionById(devnet, txid)).toMatchObject({ ret: [{ contractRet: 'SUCCESS' }] })
})
