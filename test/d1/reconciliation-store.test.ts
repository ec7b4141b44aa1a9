import { beforeEach, describe, expect, it } from 'vitest'
import { meterDatabase } from '../../src/d1/metered-database.ts'
import { createReconciliationStore } from '../../src/d1/reconciliation-store.ts'
import { createStores } from '../../src/d1/stores.ts'
import { createUsage } from '../../src/platform/usage.ts'
import { noSuspicion, type RecordedBalance } from '../../src/reconciliation/judge-reading.ts'
import type { ReconciliationStore, Slice, SliceResult } from '../../src/reconciliation/reconciliation-store.ts'
import { freshDatabase } from '../support/database.ts'
import {
  addressAt,
  amount,
  block,
  cuy,
  deposit,
  height,
  issue,
  movement,
  ms,
  pending,
  startScan,
  step,
  txid,
} from './fixtures.ts'

let db: D1Database
let store: ReconciliationStore

beforeEach(async () => {
  db = await freshDatabase()
  store = createReconciliationStore(db)
  await issue(db, [1, 2, 1])
  await store.acquireLease('one', ms(0), ms(40_000))
})

const trx = cuy(1)
const nothing: RecordedBalance = {
  before: 0n,
  receivedWithin: 0n,
  sentWithin: 0n,
  pending: 0n,
  outgoingBefore: 0,
  outgoingWithin: 0,
}
const noneAccepted = { fees: 0n, outgoingCount: 0, confirmed: 0n }
const reading = { balance: 10n ** 77n, fromHeight: height(80), toHeight: height(160) }

const begin = async (at = 1000, position = 100): Promise<Slice> => {
  const slice = await store.beginSlice(trx, ms(at), ms(at - 500), height(position))
  if (slice === null) throw new Error('no address was issued')
  return slice
}
const resultOf = (slice: Slice, changes: Partial<SliceResult> = {}): SliceResult => ({
  run: slice.run,
  open: [],
  closed: [],
  accepted: [],
  moved: [],
  fromHeight: height(80),
  ...changes,
})
const finished = (slice: Slice): Slice['run'] => ({ ...slice.run, cursor: 2, addresses: 3, finishedAt: ms(1000) })

it('a slice of a run reads a few rows, whatever the number of addresses', async () => {
  db = await freshDatabase()
  store = createReconciliationStore(db)
  await issue(db, Array(400).fill(1))
  await begin()
  const usage = createUsage()
  store = createReconciliationStore(meterDatabase(db, usage, { now: () => ms(0) }))
  expect((await begin()).next).toHaveLength(20)
  expect(usage.rowsRead).toBeLessThan(100)
})

describe('recordedBalances', () => {
  const span = (index: number, from: number, to: number) => ({
    address: addressAt(index),
    fromHeight: height(from),
    toHeight: height(to),
  })

  it('sum what was received and sent before and within the span and ignore later blocks', async () => {
    const { scanStore, deposits } = createStores(db, () => {})
    await startScan(scanStore)
    await scanStore.append(
      step({
        to: block(140),
        finalized: height(140),
        movements: [
          movement({ txid: txid(6), block: block(109), raw: 2n }),
          movement({ txid: txid(7), block: block(110), raw: 0n }),
          movement({ txid: txid(8), block: block(111), raw: 5n }),
          movement({ txid: txid(8), block: block(111), raw: 5n, direction: 'in', address: addressAt(2) }),
        ],
        candidates: [
          pending({ txid: txid(9), block: block(130), raw: 7n }),
          pending({ txid: txid(10), block: block(131), raw: 70n }),
        ],
      }),
    )
    await deposits.credit(
      [
        deposit({ txid: txid(1), block: block(110), raw: 1n }),
        deposit({ txid: txid(2), block: block(111), raw: 20n }),
        deposit({ txid: txid(3), block: block(130), raw: 300n }),
        deposit({ txid: txid(4), block: block(131), raw: 4000n }),
        deposit({ txid: txid(5), block: block(110), raw: 50_000n, cuy: cuy(2), native: false }),
      ],
      ms(2000),
    )
    const spans = [span(2, 110, 130), span(0, 110, 130), span(1, 0, 200), span(0, 140, 200), span(2, 111, 130)]
    expect(await store.recordedBalances(trx, spans)).toEqual([
      { ...nothing, receivedWithin: 5n },
      { before: -1n, receivedWithin: 320n, sentWithin: 5n, pending: 7n, outgoingBefore: 2, outgoingWithin: 1 },
      nothing,
      { ...nothing, before: 4314n, pending: 77n, outgoingBefore: 3 },
      { ...nothing, before: 5n },
    ])
    expect(await store.recordedBalances(cuy(2), [span(0, 110, 130)])).toEqual([{ ...nothing, before: 50_000n }])
    expect(await store.recordedBalances(trx, [])).toEqual([])
  })

  it.each([
    ['2^53 + 1', 2n ** 53n + 1n, 3],
    ['2^63', 2n ** 63n, 2],
    ['10^30 + 1', 10n ** 30n + 1n, 2000],
    ['2^256 − 1', 2n ** 256n - 1n, 1000],
    ['12 nines', 10n ** 12n - 1n, 1001],
  ])('are exact for many amounts of %s', async (_, raw, count) => {
    const rows = Array.from({ length: count }, (_unused, n) =>
      deposit({ txid: txid(n + 1), raw, outcome: 'too-large', amount: amount(0n) }),
    )
    await createStores(db, () => {}).deposits.credit(rows, ms(1))
    const [recorded] = await store.recordedBalances(trx, [span(0, 200, 200)])
    expect(recorded).toEqual({ ...nothing, before: raw * BigInt(count) })
  })
})

describe('a slice', () => {
  it('of a new run has all addresses to compare, in order', async () => {
    expect(await begin()).toEqual({
      run: {
        id: 1,
        cuy: 1,
        startedAt: 1000,
        finishedAt: null,
        cursor: -1,
        lastIndex: 2,
        addresses: 0,
        recorded: 0n,
        onChain: 0n,
        differing: 0,
      },
      due: [],
      moved: [],
      next: [0, 1, 2].map((index) => ({ address: addressAt(index), accepted: noneAccepted, index, open: false })),
    })
  })

  it('continues after the last one', async () => {
    const slice = await begin()
    const run = { ...slice.run, cursor: 1, addresses: 2, recorded: -(10n ** 80n), onChain: 10n ** 80n, differing: 1 }
    expect(await store.storeSlice('one', resultOf(slice, { run }))).toBe('stored')
    const next = await begin(1200)
    expect(next.run).toEqual(run)
    expect(next.next.map(({ index }) => index)).toEqual([2])
  })

  it('is superseded as a whole once the lease is lost', async () => {
    const slice = await begin()
    const late = resultOf(slice, {
      run: finished(slice),
      open: [{ address: addressAt(0), suspicion: noSuspicion, reading }],
      accepted: [{ address: addressAt(1), accepted: { ...noneAccepted, confirmed: 3n } }],
    })
    await store.acquireLease('two', ms(40_000), ms(80_000))
    expect(await store.storeSlice('one', late)).toBe('superseded')
    expect(await begin()).toEqual(slice)
    expect(await store.unreported(trx)).toEqual([])
    await store.releaseLease('two')
    expect(await store.storeSlice('one', late)).toBe('superseded')
    expect(await createReconciliationStore(await freshDatabase()).storeSlice('one', late)).toBe('superseded')
  })

  it('throws on a bug', async () => {
    const slice = await begin()
    const run = { ...slice.run, cursor: 9, addresses: 10 }
    await expect(store.storeSlice('one', resultOf(slice, { run }))).rejects.toThrow('CHECK')
  })

  it('has the open differences whose reading ends at or below the position, with their accepted difference', async () => {
    const address = addressAt(1)
    const suspicion = { readings: 2, amount: -(10n ** 60n), outgoingCount: 3 }
    const accepted = { fees: -5n, outgoingCount: 4, confirmed: -(10n ** 70n) }
    const difference = { open: [{ address, suspicion, reading }], accepted: [{ address, accepted }] }
    await store.storeSlice('one', resultOf(await begin(), difference))
    expect((await begin(1000, 159)).due).toEqual([])
    const { due, next } = await begin(1000, 160)
    expect(due).toEqual([{ address, suspicion, reading, accepted }])
    expect(next[1]).toEqual({ address, accepted, index: 1, open: true })
    const newest = { address, suspicion: noSuspicion, reading: { ...reading, balance: 0n } }
    await store.storeSlice('one', resultOf(await begin(), { open: [newest] }))
    expect((await begin(1000, 160)).due).toEqual([{ ...newest, accepted }])
    await store.storeSlice('one', resultOf(await begin(), { closed: [address] }))
    expect((await begin(1000, 160)).due).toEqual([])
  })
})

describe('currenciesDue', () => {
  const due = (before = 500, position = 100) => store.currenciesDue([cuy(2), trx], ms(before), height(position))

  it('includes currencies without a run, with an unfinished run, and with a run that is old enough', async () => {
    expect(await due()).toEqual([2, 1])
    const slice = await begin()
    expect(await due()).toEqual([2, 1])
    await store.storeSlice('one', resultOf(slice, { run: finished(slice) }))
    expect(await due()).toEqual([2])
    expect(await due(999)).toEqual([2])
    expect(await due(1000)).toEqual([2, 1])
  })

  it('includes currencies with a reading to judge or a difference to report', async () => {
    const slice = await begin()
    const address = addressAt(0)
    const open = [{ address, suspicion: noSuspicion, reading }]
    const accepted = [{ address, accepted: noneAccepted }]
    await store.storeSlice('one', resultOf(slice, { run: finished(slice), open, accepted }))
    expect(await due(500, 159)).toEqual([2])
    expect(await due(500, 160)).toEqual([2, 1])
    const confirmed = { address, accepted: { ...noneAccepted, confirmed: 3n } }
    await store.storeSlice('one', resultOf(await begin(1100), { accepted: [confirmed] }))
    expect(await due()).toEqual([2, 1])
    expect(await store.unreported(trx)).toEqual([confirmed])
    await store.markReported(trx, [confirmed])
    expect(await due()).toEqual([2])
  })

  it('is empty before the first address is issued', async () => {
    store = createReconciliationStore(await freshDatabase())
    expect(await due()).toEqual([])
    expect(await store.beginSlice(trx, ms(1000), ms(500), height(100))).toBeNull()
  })
})

describe('unreported', () => {
  const address = addressAt(0)
  const accept = async (confirmed: bigint, fees = 0n) =>
    store.storeSlice(
      'one',
      resultOf(await begin(), { accepted: [{ address, accepted: { fees, outgoingCount: 0, confirmed } }] }),
    )

  it('has a difference after each change of its confirmed amount, back to 0 included, and after nothing else', async () => {
    await accept(0n, -5n)
    expect(await store.unreported(trx)).toEqual([])
    for (const confirmed of [4n, -4n, 0n]) {
      await accept(confirmed, -5n)
      const unreported = await store.unreported(trx)
      expect(unreported).toMatchObject([{ address, accepted: { confirmed } }])
      expect(await store.unreported(cuy(2))).toEqual([])
      await store.markReported(trx, unreported)
      await accept(confirmed, -6n)
      expect(await store.unreported(trx)).toEqual([])
    }
  })

  it('keeps a difference that changed before it was marked as reported', async () => {
    await accept(4n)
    const unreported = await store.unreported(trx)
    await accept(5n)
    await store.markReported(trx, unreported)
    expect(await store.unreported(trx)).toMatchObject([{ accepted: { confirmed: 5n } }])
  })
})
