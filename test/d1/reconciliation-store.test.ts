import { beforeEach, describe, expect, it } from 'vitest'
import { createLedgerWriter } from '../../src/d1/ledger-writer.ts'
import { createReconciliationStore } from '../../src/d1/reconciliation-store.ts'
import type { ReconciliationStore, Slice, SliceResult } from '../../src/reconciliation/reconciliation-store.ts'
import { freshDatabase } from '../support/database.ts'
import {
  addressAt,
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
} from './entries.ts'

let db: D1Database
let store: ReconciliationStore

beforeEach(async () => {
  db = await freshDatabase()
  store = createReconciliationStore(db)
  await issue(db, [1, 2, 1])
})

const trx = cuy(1)
const none = { settled: 0n, ins: 0n, outs: 0n, pending: 0n, sentBefore: 0, sentWithin: 0 }
const baseline = { fees: 0n, outgoingCount: 0, confirmed: 0n }
const look = { balance: 10n ** 77n, low: height(80), high: height(160) }

const begin = async (at = 1000, position = 100): Promise<Slice> => {
  const turn = await store.beginSlice(trx, ms(at), ms(at - 500), height(position))
  if (turn === null) throw new Error('nothing to do')
  return turn
}
const result = (turn: Slice, changes: Partial<SliceResult> = {}): SliceResult => ({
  after: turn.run.slices,
  run: turn.run,
  open: [],
  closed: [],
  accepted: [],
  ...changes,
})
const finished = (turn: Slice): Slice['run'] => ({ ...turn.run, cursor: 2, addresses: 3, finishedAt: ms(1000) })

describe('books', () => {
  const span = (index: number, low: number, high: number) => ({
    address: addressAt(index),
    low: height(low),
    high: height(high),
  })

  it('sum what was received and sent before and within the span, and leave out what lies behind it', async () => {
    const writer = createLedgerWriter(db)
    await startScan(writer)
    await writer.append(
      step({
        to: block(140),
        finalized: height(140),
        deposits: [
          deposit({ txid: txid(1), block: block(110), raw: 1n }),
          deposit({ txid: txid(2), block: block(111), raw: 20n }),
          deposit({ txid: txid(3), block: block(130), raw: 300n }),
          deposit({ txid: txid(4), block: block(131), raw: 4000n }),
          deposit({ txid: txid(5), block: block(110), raw: 50_000n, cuy: cuy(2), native: false }),
        ],
        movements: [
          movement({ txid: txid(6), block: block(109), raw: 2n }),
          movement({ txid: txid(7), block: block(110), raw: 0n }),
          movement({ txid: txid(8), block: block(111), raw: 5n }),
          movement({ txid: txid(8), block: block(111), raw: 5n, direction: 'in', address: addressAt(2) }),
        ],
        pending: [
          pending({ txid: txid(9), block: block(130), raw: 7n }),
          pending({ txid: txid(10), block: block(131), raw: 70n }),
        ],
      }),
    )
    const asked = [span(2, 110, 130), span(0, 110, 130), span(1, 0, 200), span(0, 140, 200), span(2, 111, 130)]
    expect(await store.recordedBalances(trx, asked)).toEqual([
      { ...none, ins: 5n },
      { settled: -1n, ins: 320n, outs: 5n, pending: 7n, sentBefore: 2, sentWithin: 1 },
      none,
      { settled: 4314n, ins: 0n, outs: 0n, pending: 77n, sentBefore: 3, sentWithin: 0 },
      { ...none, settled: 5n },
    ])
    expect(await store.recordedBalances(cuy(2), [span(0, 110, 130)])).toEqual([{ ...none, settled: 50_000n }])
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
      deposit({ txid: txid(n + 1), raw, outcome: 'too-large', amount: deposit({}).amount }),
    ).map((one) => ({ ...one, amount: 0n as typeof one.amount }))
    await createLedgerWriter(db).credit(rows, ms(1))
    const [books] = await store.recordedBalances(trx, [span(0, 200, 200)])
    expect(books).toEqual({ ...none, settled: raw * BigInt(count) })
  })
})

describe('a turn', () => {
  it('of a new run has all addresses before it, in order', async () => {
    expect(await begin()).toEqual({
      run: {
        id: 1,
        cuy: 1,
        startedAt: 1000,
        finishedAt: null,
        slices: 0,
        cursor: -1,
        lastIndex: 2,
        addresses: 0,
        recorded: 0n,
        balance: 0n,
        differing: 0,
      },
      due: [],
      next: [0, 1, 2].map((index) => ({ address: addressAt(index), accepted: baseline, index, examined: false })),
    })
  })

  it('goes on where the one before it ended', async () => {
    const turn = await begin()
    const run = { ...turn.run, cursor: 1, addresses: 2, recorded: -(10n ** 80n), onChain: 10n ** 80n, differing: 1 }
    expect(await store.storeSlice(result(turn, { run }))).toBe('stored')
    const next = await begin(1200)
    expect(next.run).toEqual({ ...run, slices: 1 })
    expect(next.next.map(({ index }) => index)).toEqual([2])
  })

  it('is superseded whole where another one was stored since, or another run began', async () => {
    const [one, other] = [await begin(), await begin()]
    const run = finished(one)
    expect(await store.storeSlice(result(one, { run }))).toBe('stored')
    const late = {
      open: [{ address: addressAt(0), suspicion: { readings: 0, amount: 0n, outgoingCount: 0 }, reading: look }],
    }
    expect(await store.storeSlice(result(other, { run, ...late }))).toBe('superseded')
    const old = await begin(1100)
    await begin(2000)
    expect(await store.storeSlice(result(old, late))).toBe('superseded')
    expect((await begin(2000, 1000)).due).toEqual([])
  })

  it('throws what is no rival’s doing', async () => {
    const turn = await begin()
    await expect(store.storeSlice(result(turn, { run: { ...turn.run, cursor: 9, addresses: 10 } }))).rejects.toThrow(
      'CHECK',
    )
  })

  it('finds a difference due once the scan has reached its end, with what is accepted of it', async () => {
    const turn = await begin()
    const suspicion = { readings: 2, amount: -(10n ** 60n), outgoingCount: 3 }
    const accepted = { fees: -5n, outgoingCount: 4, confirmed: -(10n ** 70n) }
    const address = addressAt(1)
    await store.storeSlice(
      result(turn, { open: [{ address, suspicion, reading: look }], accepted: [{ address, accepted: accepted }] }),
    )
    expect((await begin(1000, 159)).due).toEqual([])
    const { due, next } = await begin(1000, 160)
    expect(due).toEqual([{ address, suspicion, look, accepted: accepted }])
    expect(next[1]).toEqual({ address, accepted: accepted, index: 1, examined: true })
    const again = { readings: 0, amount: 0n, outgoingCount: 0 }
    await store.storeSlice(
      result(await begin(), { open: [{ address, suspicion: again, reading: { ...look, balance: 0n } }] }),
    )
    expect((await begin(1000, 160)).due).toMatchObject([{ suspicion: again, reading: { balance: 0n } }])
    await store.storeSlice(result(await begin(), { closed: [address] }))
    expect((await begin(1000, 160)).due).toEqual([])
  })
})

describe('waiting', () => {
  const waiting = (before = 500, position = 100) => store.currenciesDue([cuy(2), trx], ms(before), height(position))

  it('is every currency without a run, or with one to go on with, or with one of yesterday', async () => {
    expect(await waiting()).toEqual([2, 1])
    const turn = await begin()
    expect(await waiting()).toEqual([2, 1])
    await store.storeSlice(result(turn, { run: finished(turn) }))
    expect(await waiting()).toEqual([2])
    expect(await waiting(999)).toEqual([2])
    expect(await waiting(1000)).toEqual([2, 1])
  })

  it('is also one with a look to judge, or with something to tell', async () => {
    const turn = await begin()
    const address = addressAt(0)
    await store.storeSlice(
      result(turn, {
        run: finished(turn),
        open: [{ address, suspicion: { readings: 0, amount: 0n, outgoingCount: 0 }, reading: look }],
        accepted: [{ address, accepted: baseline }],
      }),
    )
    expect(await waiting(500, 159)).toEqual([2])
    expect(await waiting(500, 160)).toEqual([2, 1])
    const told = { address, accepted: { ...baseline, confirmed: 3n } }
    await store.storeSlice(result(await begin(1100), { accepted: [told] }))
    expect(await waiting()).toEqual([2, 1])
    expect(await store.unreported(trx)).toEqual([told])
    await store.markReported(trx, [told])
    expect(await waiting()).toEqual([2])
  })

  it('is none before the first address was issued', async () => {
    store = createReconciliationStore(await freshDatabase())
    expect(await waiting()).toEqual([])
    expect(await store.beginSlice(trx, ms(1000), ms(500), height(100))).toBeNull()
  })
})

describe('telling', () => {
  const address = addressAt(0)
  const accept = async (known: bigint, fees = 0n) =>
    store.storeSlice(
      result(await begin(), { accepted: [{ address, accepted: { fees, outgoingCount: 0, confirmed: known } }] }),
    )

  it('is due whenever the confirmed difference changes, back to nothing included, and for nothing else', async () => {
    await accept(0n, -5n)
    expect(await store.unreported(trx)).toEqual([])
    for (const known of [4n, -4n, 0n]) {
      await accept(known, -5n)
      const untold = await store.unreported(trx)
      expect(untold).toMatchObject([{ address, accepted: { known } }])
      expect(await store.unreported(cuy(2))).toEqual([])
      await store.markReported(trx, untold)
      await accept(known, -6n)
      expect(await store.unreported(trx)).toEqual([])
    }
  })

  it('of an amount that changed meanwhile leaves the change to be told', async () => {
    await accept(4n)
    const untold = await store.unreported(trx)
    await accept(5n)
    await store.markReported(trx, untold)
    expect(await store.unreported(trx)).toMatchObject([{ accepted: { confirmed: 5n } }])
  })
})
