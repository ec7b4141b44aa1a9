import { describe, expect, it } from 'vitest'
import type { Chain } from '../../src/chain/chain.ts'
import type { ChainFailure } from '../../src/chain/failure.ts'
import { err, ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { leaseMs } from '../../src/scan/scan.ts'
import { storeStep } from '../../src/scan/store-step.ts'
import { alice, rawData, receiptsWithoutLogs, stranger, transaction, transferBytes, txid } from '../deposits/samples.ts'
import { blockAt, createScanParts, hashAt, now, start, type TestScanParts } from './scan-parts.ts'

const position = { height: start, hash: hashAt(start) }
/** Three blocks: the second and the third pay Alice, in transactions 2 and 3, 4. */
const blocks = [
  blockAt(start + 1, [transaction({ txid: txid(1), to: stranger })]),
  blockAt(start + 2, [transaction({ txid: txid(2) })]),
  blockAt(start + 3, [transaction({ txid: txid(3) }), transaction({ txid: txid(4) })]),
]
/** A scan that has started and holds the lease, with an address of Alice. */
async function createParts(chain: Partial<Chain>): Promise<TestScanParts> {
  const parts = await createScanParts({
    receipts: receiptsWithoutLogs,
    transactionBytes: async () => ok(transferBytes()),
    ...chain,
  })
  await parts.scanStore.start(position, now)
  await parts.scanStore.acquireLease(parts.lease, now, (now + leaseMs) as UnixMs)
  await parts.addresses.issueFirst(alice.uid, () => alice.address)
  return parts
}

/** Which transactions are credited and which are pending after a step, its position, and why it stopped. */
async function store(parts: TestScanParts, from = blocks) {
  const { position: reached, failure } = await storeStep(parts, position, from, new Map())
  expect((await parts.scanStore.state())?.position).toEqual(reached)
  const credited: number[] = []
  for (const n of [2, 3, 4]) if ((await parts.deposits.of(alice.uid, txid(n))).length > 0) credited.push(n)
  const pending = await parts.pending.of(alice.uid, null)
  return {
    height: reached.height - start,
    credited,
    pending: pending.map((one) => [Number(one.txid), one.reason]),
    failure: failure?.kind ?? null,
  }
}

/** Receipts about whose transactions `n` the nodes disagree. */
const disputing =
  (n: number): Chain['receipts'] =>
  async (wanted) =>
    wanted.some((one) => one.txid === txid(n))
      ? err({ kind: 'disagreement', about: 'a receipt' })
      : receiptsWithoutLogs(wanted)
/** Bytes that cannot be fetched for transaction `n`. */
const failingBytes =
  (n: number, failure: ChainFailure): Chain['transactionBytes'] =>
  async (one) =>
    one === txid(n) ? err(failure) : ok(transferBytes())

describe('a stored step', () => {
  it('moves the position over all of its blocks and credits their deposits', async () => {
    const expected = { height: 3, credited: [2, 3, 4], pending: [], failure: null }
    expect(await store(await createParts({}))).toEqual(expected)
  })

  it('without blocks changes nothing', async () => {
    expect(await store(await createParts({}), [])).toEqual({ height: 0, credited: [], pending: [], failure: null })
  })

  it('ends before a disputed transaction, which is kept as pending', async () => {
    const expected = { height: 2, credited: [2], pending: [[3, 'disagreement']], failure: 'disagreement' }
    expect(await store(await createParts({ receipts: disputing(3) }))).toEqual(expected)
  })

  it('stores a transaction that is pending for another reason, and moves on', async () => {
    const transactionBytes = failingBytes(2, { kind: 'no-answer', why: 'no HTTP API replied' })
    const expected = { height: 3, credited: [3, 4], pending: [[2, 'api-unavailable']], failure: null }
    expect(await store(await createParts({ transactionBytes }))).toEqual(expected)
  })

  it('stores a transaction whose bytes cannot be read as pending, with an alarm', async () => {
    const parts = await createParts({
      transactionBytes: async (one) => ok(one === txid(2) ? rawData() : transferBytes()),
    })
    const expected = { height: 3, credited: [3, 4], pending: [[2, 'bytes-unreadable']], failure: null }
    expect(await store(parts)).toEqual(expected)
    expect(parts.alarms).toEqual(['bytes-unreadable'])
  })

  it('ends before the block that the invocation has no requests left for', async () => {
    const transactionBytes = failingBytes(3, { kind: 'out-of-budget' })
    const expected = { height: 2, credited: [2], pending: [], failure: 'out-of-budget' }
    expect(await store(await createParts({ transactionBytes }))).toEqual(expected)
  })

  it('queues the rest of its first block where one invocation cannot decide all of it', async () => {
    const full = [
      blockAt(
        start + 1,
        [3, 4].map((n) => transaction({ txid: txid(n) })),
      ),
      blockAt(start + 2),
    ]
    const transactionBytes = failingBytes(4, { kind: 'out-of-budget' })
    const expected = { height: 1, credited: [3], pending: [[4, 'queued']], failure: 'out-of-budget' }
    expect(await store(await createParts({ transactionBytes }), full)).toEqual(expected)
  })

  it('is superseded, and stores nothing, where the lease is lost', async () => {
    const parts = await createParts({})
    const later = (now + leaseMs) as UnixMs
    await parts.scanStore.acquireLease('another', later, (later + leaseMs) as UnixMs)
    expect(await store(parts)).toEqual({ height: 0, credited: [], pending: [], failure: 'no-answer' })
  })
})
