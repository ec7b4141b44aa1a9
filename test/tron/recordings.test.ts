import { describe, expect, it } from 'vitest'
import type { Txid } from '../../src/chain/block.ts'
import { parseQuantity } from '../../src/chain/quantity.ts'
import { parseBlock, parseBriefBlock, parseHeader, parseTransaction } from '../../src/tron/parse/block.ts'
import { isObject, parseUint256 } from '../../src/tron/parse/fields.ts'
import { parseLogs } from '../../src/tron/parse/log.ts'
import { parseReceipt } from '../../src/tron/parse/receipt.ts'
import blockInFull from '../recordings/documented/block-in-full-nile.json' with { type: 'json' }
import blockWithTxids from '../recordings/documented/block-with-txids-nile.json' with { type: 'json' }
import newReceipt from '../recordings/documented/receipt-with-block-timestamp-4.8.2.json' with { type: 'json' }
import shortNonce from '../recordings/documented/transaction-with-short-nonce-4.8.2.json' with { type: 'json' }
import readme from '../recordings/java-tron/README.md?raw'
import { outcomeOf, recordedResult, recording, recordingNames, unwrap } from '../recordings/recordings.ts'

const txidOf = (name: string, i = 0): Txid => {
  const result = recordedResult(name, i)
  if (!isObject(result)) throw new Error(`no transaction: ${name}`)
  return String(result.transactionHash ?? result.hash).slice(2) as Txid // safe: a recorded hash
}
const receiptOf = (name: string, i: number) => unwrap(parseReceipt(recordedResult(name, i), txidOf(name, i)))

describe('the README of the recordings', () => {
  it('names every recording', () => {
    const others = recordingNames().filter((name) => !name.startsWith('contract-types/'))
    expect(others.filter((name) => !readme.includes(`\`${name.split('/')[1]}\``))).toEqual([])
  })
})

describe('a recorded block', () => {
  it('in full has its header and transactions', () => {
    expect(unwrap(parseBlock(recordedResult('blocks/block-in-full'), 123))).toMatchObject({
      height: 123,
      hash: '000000000000007be164f0acd02ef95a2b865ff93ea02c8d87520c9ce50aee81',
      parentHash: '000000000000007a561b98542fe65beb7c01fdeb5dd5aac9f4f4dfd1ed570150',
      timestamp: 1_795_262_445_000,
      transactions: [{ value: '0x0', input: '0x' }],
    })
  })

  it('without transactions has none', () => {
    expect(unwrap(parseBlock(recordedResult('blocks/block-without-transactions'), 1)).transactions).toEqual([])
  })

  it('0 has no parent, and its transactions have no owner and no receipt', () => {
    const name = 'blocks/block-0-in-full'
    const { transactions } = unwrap(parseBlock(recordedResult(name), 0))
    expect(transactions.map(({ from, value }) => [from, value])).toEqual([
      ['0'.repeat(40), '0x13fbe85edc90000'],
      ['0'.repeat(40), '0x8000000000000000'],
    ])
    expect(recording(name).slice(1).map(outcomeOf)).toEqual(['null', 'null'])
  })

  it('of another height than the requested one is refused', () => {
    expect(parseBlock(recordedResult('blocks/block-in-full'), 122).ok).toBe(false)
  })

  it('with txids has 29 of them and is the parent of the next block', () => {
    const block = unwrap(parseBriefBlock(recordedResult('blocks/block-of-29-txids')))
    expect([block.height, block.indexes.size]).toEqual([122, 29])
    expect(unwrap(parseHeader(recordedResult('blocks/block-in-full'))).parentHash).toBe(block.hash)
  })

  it('above the head is null; its logs are an error by hash and an empty list by range', () => {
    const name = 'blocks/block-above-the-head'
    expect(recording(name).map(outcomeOf)).toEqual(['null', 'null', -32602, 'result'])
    expect(recordedResult(name, 3)).toEqual([])
  })

  it('that is not final yet is unknown on the solidity port', () => {
    expect(recording('blocks/block-not-final-yet').map((call) => [call.on, outcomeOf(call)])).toEqual([
      [undefined, 'result'],
      [undefined, 'result'],
      ['solidity port', 'null'],
      ['solidity port', -32602],
    ])
  })

  it('that a fork replaced becomes unknown, with its transaction, receipt and logs', () => {
    const name = 'blocks/block-dropped-by-a-fork'
    const { hash } = unwrap(parseHeader(recordedResult(name)))
    expect(recordedResult(name, 1)).toMatchObject({ blockHash: `0x${hash}` })
    expect(recording(name).map(outcomeOf)).toEqual(['result', 'result', 'null', 'null', 'null', -32602])
  })

  it('of Nile is the same with txids as in full', () => {
    const full = unwrap(parseBlock(blockInFull.result, 0x3fe1ca0))
    expect(full.transactions.map(({ value }) => value)).toEqual(['0x0', '0xf4240'])
    expect([...unwrap(parseBriefBlock(blockWithTxids.result)).indexes]).toEqual([...full.indexes])
  })
})

describe('a recorded finalized head', () => {
  it.each([
    ['full node, 1 block producer', 4, 4],
    ['solidity port, 1 block producer', 2, 2],
    ['full node, 7 block producers', 194, 190],
    ['solidity port, 7 block producers', 188, 184],
    ['full node, 27 block producers', 749, 731],
    ['solidity port, 27 block producers', 729, 711],
  ])('%s: newest block %d, final block %d', (on, latest, finalized) => {
    const call = recording('blocks/finalized-heads').find((one) => one.on === on)
    const replies: readonly unknown[] = Array.isArray(call?.response) ? call.response : []
    const results = replies.map((reply) => (isObject(reply) ? reply.result : null))
    expect(parseQuantity(results[0])).toBe(BigInt(latest))
    expect(unwrap(parseHeader(results.at(-1))).height).toBe(finalized)
  })
})

describe('recorded logs', () => {
  const name = 'blocks/logs-of-the-block-of-29-transactions'
  const block = unwrap(parseBriefBlock(recordedResult('blocks/block-of-29-txids')))
  const { logs, gaps } = unwrap(parseLogs(recordedResult(name), block))

  it('of a block have positions within their own transactions', () => {
    expect(logs.map(({ position }) => position)).toEqual([0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
  })

  it('can have no topics, 3 topics or 4 topics', () => {
    const counts = logs.map(({ topics }) => topics.length)
    expect(new Set(counts)).toEqual(new Set([0, 3, 4]))
    expect(logs.filter(({ topics }) => topics.length !== 3).map(({ data }) => data)).toEqual(['0x', '0x'])
  })

  it('of a filtered query have gaps in their numbers, those of an unfiltered one have none', () => {
    const filtered = unwrap(parseLogs(recordedResult(name, 1), block))
    expect([filtered.logs.length, filtered.gaps.length > 0, gaps]).toEqual([11, true, []])
  })

  it('are complete without a filter on a node whose log index has a gap, and empty with one', () => {
    const gap = 'nodes/node-with-a-gap-in-its-log-index'
    expect(unwrap(parseLogs(recordedResult(gap), block)).logs).toEqual(logs)
    expect([1, 2, 3].map((i) => recordedResult(gap, i))).toEqual([[], [], []])
    expect(receiptOf(gap, 4).logs).toEqual(logs.filter(({ txid }) => txid === txidOf(gap, 4)))
  })

  it('around a failed transaction without logs have no gap', () => {
    const around = 'blocks/logs-around-a-failed-transaction'
    const receipts = [1, 2, 3].map((i) => receiptOf(around, i))
    expect(receipts.map(({ succeeded, logs: own }) => [succeeded, own.length])).toEqual([
      [true, 1],
      [false, 0],
      [true, 1],
    ])
    const indexes = new Map(receipts.map(({ txid }, i) => [txid, i]))
    const [first] = receipts
    if (first === undefined) throw new Error('no receipt')
    const parsed = unwrap(parseLogs(recordedResult(around), { ...first.block, indexes }))
    expect(parsed.gaps).toEqual([])
    expect(parsed.logs).toEqual(receipts.flatMap(({ logs: own }) => own))
  })

  it('of a receipt of 4.8.2 are parsed with their block timestamp', () => {
    const { transactionHash } = newReceipt.result
    const receipt = unwrap(parseReceipt(newReceipt.result, transactionHash.slice(2) as Txid))
    expect(receipt).toMatchObject({ succeeded: true, block: { height: 0x3fe1ca0 }, logs: [{ position: 0 }] })
  })
})

describe('a recorded node without history', () => {
  const name = 'nodes/node-without-history'
  const block = unwrap(parseBlock(recordedResult(name), 657))

  it('shows its block, but no energy in contract calls', () => {
    expect(block.transactions.map(({ input }) => input.slice(0, 10))).toEqual(['0xa9059cbb', '0x'])
    expect(recordedResult(name)).toMatchObject({ transactions: [{ gas: '0x0' }, { gas: '0x0' }] })
  })

  it('has no receipts and no logs for a block with a token transfer', () => {
    expect(recording(name).slice(2, 6).map(outcomeOf)).toEqual(['null', 'null', 'result', 'result'])
    expect([4, 5].map((i) => unwrap(parseLogs(recordedResult(name, i), block)).logs)).toEqual([[], []])
  })
})

describe('recorded state', () => {
  it('of a transaction that is not mined has no block; on the solidity port it is unknown', () => {
    const name = 'state/unmined-transaction'
    expect(recordedResult(name)).toMatchObject({ blockHash: '0x', blockNumber: '0x', transactionIndex: '0x' })
    const item = recordedResult(name)
    expect(isObject(item) && parseTransaction(item)).toMatchObject({ value: '0x12c4b0', input: '0x' })
    const outcomes = recording(name).filter(({ path }) => path === undefined)
    expect(outcomes.map(outcomeOf)).toEqual(['result', 'null', 'null'])
  })

  it('has a transaction of 4.8.2 with a short nonce, parsed like that of the block', () => {
    const wanted = unwrap(parseBlock(blockInFull.result, 0x3fe1ca0)).transactions[1]
    expect(parseTransaction(shortNonce.result)).toEqual(wanted)
  })

  it('on a full node includes transfers that are not mined; on the solidity port it does not', () => {
    const name = 'state/balance-with-unmined-transfers'
    const units = recording(name).map((_, i) => {
      const value = recordedResult(name, i)
      return String(value).length === 66 ? unwrap(parseUint256(value)) : parseQuantity(value)
    })
    expect(recording(name).map(({ on }) => on ?? 'full port')).toEqual([
      'full port',
      'full port',
      ...Array(3).fill('solidity port'),
    ])
    expect(units).toEqual([1_230_000n, 4_560_000n, 0n, 0n, 1_230_000n])
  })

  it.each([
    [0, 'of a deposit address', 17_350_000n],
    [1, 'of an address that was never used', 0n],
    [2, 'of -2^63, which reads as 2^63', 2n ** 63n],
    [3, 'without staked TRX', 97_710_741_711n],
    [4, 'of another address, where a digit is missing', 0n],
  ])('call %d: a balance %s', (i, _, units) => {
    expect(parseQuantity(recordedResult('state/balances', i))).toBe(units)
  })

  it('is refused for base58, a wrong length and a wrong first byte', () => {
    expect(recording('state/balances').slice(5).map(outcomeOf)).toEqual([-32602, -32602, -32602])
  })

  it.each([
    [0, 'decimals', 6n],
    [1, 'a token balance', 109_500_001n],
    [2, 'a token balance on the solidity port', 109_500_001n],
    [3, 'a name, which is not one word', null],
    [4, 'a fallback function, which returns nothing', null],
  ])('call %d of a contract: %s', (i, _, number) => {
    const parsed = parseUint256(recordedResult('state/contract-calls', i))
    expect(parsed.ok ? parsed.value : null).toBe(number)
  })
})
