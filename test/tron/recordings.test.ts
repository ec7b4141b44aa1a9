import { describe, expect, it } from 'vitest'
import type { Header, Txid } from '../../src/worker/chain/block.ts'
import { type ParsedBlock, parseBlockRef, parseBriefBlock } from '../../src/worker/tron/parse/block.ts'
import { isObject, parseQuantity, parseUint256 } from '../../src/worker/tron/parse/fields.ts'
import { parseBlockLogs, parseReceipt } from '../../src/worker/tron/parse/log.ts'
import blockWithTxids from '../recordings/documented/block-with-txids-nile.json' with { type: 'json' }
import newReceipt from '../recordings/documented/receipt-with-block-timestamp-4.8.2.json' with { type: 'json' }
import readme from '../recordings/java-tron/README.md?raw'
import { outcomeOf, recordedResult, recording, recordingNames, unwrap } from '../recordings/recordings.ts'

const txidOf = (name: string, i = 0): Txid => {
  const result = recordedResult(name, i)
  if (!isObject(result)) throw new Error(`no transaction: ${name}`)
  return String(result.transactionHash ?? result.hash).slice(2) as Txid // safe: recorded by a real node
}
describe('the README of the recordings', () => {
  it('names every recording', () => {
    const others = recordingNames().filter((name) => !name.startsWith('contract-types/'))
    expect(others.filter((name) => !readme.includes(`\`${name.split('/')[1]}\``))).toEqual([])
  })
})

describe('a recorded block', () => {
  it('with txids has its header, and is the parent of the next block', () => {
    const block = unwrap(parseBriefBlock(recordedResult('blocks/block-of-29-txids')))
    expect([block.height, block.txids.length, block.timestamp]).toEqual([122, 29, 1_795_262_442_000])
    const next = recordedResult('blocks/block-in-full')
    expect(isObject(next) && next.parentHash).toBe(`0x${block.hash}`)
  })

  it('without transactions has none', () => {
    expect(unwrap(parseBriefBlock(recordedResult('blocks/block-without-transactions'))).txids).toEqual([])
  })

  it('above the head is null; its logs are an error by hash and an empty list by range', () => {
    const name = 'blocks/block-above-the-head'
    expect(recording(name).map(outcomeOf)).toEqual(['null', 'null', -32602, 'result'])
    expect(recordedResult(name, 3)).toEqual([])
  })

  it('of Nile has its txids', () => {
    expect(unwrap(parseBriefBlock(blockWithTxids.result)).txids).toHaveLength(2)
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
    expect(unwrap(parseBriefBlock(results.at(-1))).height).toBe(finalized)
  })
})

/**
 * A block with these transactions, all of them successful and without a contract that the service
 * reads.
 */
const blockOf = (header: Header, txids: readonly Txid[]): ParsedBlock => ({
  header,
  transactions: txids.map((txid) => ({ txid, result: 'SUCCESS', contract: null, mayTransfer: false })),
  indexes: new Map(txids.map((txid, i) => [txid, i])),
})

describe('recorded logs', () => {
  const name = 'blocks/logs-of-the-block-of-29-transactions'
  const header = unwrap(parseBriefBlock(recordedResult('blocks/block-of-29-txids')))
  const block = blockOf(header, header.txids)
  const logs = unwrap(parseBlockLogs(recordedResult(name), block))

  it('of a block have positions within their own transactions', () => {
    expect(logs.map(({ position }) => position)).toEqual([0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
  })

  it('can have no topics, 3 topics or 4 topics', () => {
    expect(new Set(logs.map(({ topics }) => topics.length))).toEqual(new Set([0, 3, 4]))
    expect(logs.filter(({ topics }) => topics.length !== 3).map(({ data }) => data)).toEqual(['0x', '0x'])
  })

  it('are complete without a filter on a node whose log index has a gap, and empty with one', () => {
    const gap = 'nodes/node-with-a-gap-in-its-log-index'
    expect(unwrap(parseBlockLogs(recordedResult(gap), block))).toEqual(logs)
    expect([1, 2, 3].map((i) => recordedResult(gap, i))).toEqual([[], [], []])
    const receipt = unwrap(parseReceipt(recordedResult(gap, 4), txidOf(gap, 4), header.hash))
    expect(receipt.logs).toEqual(logs.filter(({ txid }) => txid === txidOf(gap, 4)))
  })

  it('around a failed transaction are those of the receipts', () => {
    const around = 'blocks/logs-around-a-failed-transaction'
    const txids = [1, 2, 3].map((i) => txidOf(around, i))
    const named = recordedResult(around, 1)
    const ref = isObject(named) ? parseBlockRef(named) : null
    if (ref === null) throw new Error('no block')
    const receipts = txids.map((txid, i) => unwrap(parseReceipt(recordedResult(around, i + 1), txid, ref.hash)))
    expect(receipts.map(({ succeeded, logs: own }) => [succeeded, own.length])).toEqual([
      [true, 1],
      [false, 0],
      [true, 1],
    ])
    const parsed = unwrap(parseBlockLogs(recordedResult(around), blockOf({ ...header, ...ref }, txids)))
    expect(parsed).toEqual(receipts.flatMap(({ logs: own }) => own))
  })

  it('of a receipt of 4.8.2 are parsed with their block timestamp', () => {
    const ref = parseBlockRef(newReceipt.result)
    if (ref === null) throw new Error('no block')
    const txid = newReceipt.result.transactionHash.slice(2) as Txid // safe: 64 hex digits
    expect(unwrap(parseReceipt(newReceipt.result, txid, ref.hash))).toMatchObject({
      succeeded: true,
      logs: [{ position: 0 }],
    })
  })
})

describe('recorded state', () => {
  it.each([
    [0, 'of a deposit address', 17_350_000n],
    [1, 'of an address that was never used', 0n],
    [2, 'of -2^63, which reads as 2^63', 2n ** 63n],
    [3, 'without staked TRX', 97_710_741_711n],
    [4, 'of another address, where a digit is missing', 0n],
  ])('call %d: a balance %s', (i, _, units) => {
    expect(parseQuantity(recordedResult('state/balances', i))).toBe(units)
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
