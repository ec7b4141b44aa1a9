import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AcceptedDifference,
  acceptedAfterMatch,
  feeMaxSun,
  judgeReading,
  noSuspicion,
  type RecordedBalance,
  readingsNeeded,
  recordedTotal,
  unexplained,
} from '../../src/reconciliation/judge-reading.ts'

const books = (changes: Partial<RecordedBalance> = {}): RecordedBalance => ({
  before: 100n,
  receivedWithin: 0n,
  sentWithin: 0n,
  pending: 0n,
  outgoingBefore: 0,
  outgoingWithin: 0,
  ...changes,
})
const nothing: AcceptedDifference = { fees: 0n, outgoingCount: 0, confirmed: 0n }
const judge = (held: bigint, changes: Partial<RecordedBalance> = {}, baseline = nothing, native = true) =>
  judgeReading({ held, baseline, suspicion: noSuspicion }, books(changes), native)

describe('what the books explain', () => {
  it.each<[held: bigint, changes: Partial<RecordedBalance>, baseline: Partial<AcceptedDifference>, left: bigint]>([
    // held   within the span, or pending      accepted                left unexplained
    [100n, {}, {}, 0n],
    [101n, {}, {}, 1n],
    [99n, {}, {}, -1n],
    [110n, { receivedWithin: 10n }, {}, 0n], //            the look saw the deposit
    [100n, { receivedWithin: 10n }, {}, 0n], //            the look was before it
    [111n, { receivedWithin: 10n }, {}, 1n],
    [60n, { sentWithin: 40n }, {}, 0n],
    [59n, { sentWithin: 40n }, {}, -1n],
    [70n, { sentWithin: 40n, receivedWithin: 10n }, {}, 0n],
    [105n, { pending: 5n }, {}, 0n], //         real TRX
    [100n, { pending: 5n }, {}, 0n], //         a worthless token
    [106n, { pending: 5n }, {}, 1n],
    [97n, {}, { fees: -3n }, 0n],
    [98n, {}, { fees: -3n }, 1n],
    [107n, {}, { confirmed: 7n }, 0n],
    [100n, {}, { confirmed: 7n }, -7n],
    [104n, {}, { confirmed: 7n, fees: -3n }, 0n],
    [0n, { before: -20n }, { confirmed: 20n }, 0n], // it spent what it had before the scan began
  ])('holding %s with %o and %o leaves %s', (held, changes, baseline, left) => {
    expect(unexplained(held, books(changes), { ...nothing, ...baseline })).toBe(left)
  })

  it('is every balance that some part of the transfers under way leads to, and none beside', () => {
    const transfers = fc.array(fc.bigInt(1n, 10n ** 40n), { maxLength: 6 })
    fc.assert(
      fc.property(
        fc.bigInt(0n, 10n ** 40n),
        transfers,
        transfers,
        fc.infiniteStream(fc.boolean()),
        (settled, ins, outs, seen) => {
          const sum = (list: readonly bigint[]) => list.reduce((total, one) => total + one, 0n)
          const part = (list: readonly bigint[]) => sum(list.filter(() => seen.next().value))
          const all = books({ before: settled, receivedWithin: sum(ins), sentWithin: sum(outs) })
          expect(unexplained(settled + part(ins) - part(outs), all, nothing)).toBe(0n)
          expect(unexplained(settled + sum(ins) + 1n, all, nothing)).toBe(1n)
          expect(unexplained(settled - sum(outs) - 1n, all, nothing)).toBe(-1n)
          expect(recordedTotal(all)).toBe(settled + sum(ins) - sum(outs))
        },
      ),
    )
  })
})

describe('a look', () => {
  it('that the books explain clears the suspicion', () => {
    expect(judge(110n, { receivedWithin: 10n })).toEqual({ kind: 'cleared' })
  })

  it('counts only with two more of the same sign, and with the smallest amount that any found', () => {
    let suspicion = noSuspicion
    for (const [held, looks, amount] of [
      [105n, 1, 5n],
      [90n, 1, -10n], // the other sign: a new suspicion
      [93n, 2, -7n],
    ] as const) {
      const finding = judgeReading({ held, baseline: nothing, suspicion }, books(), false)
      expect(finding).toEqual({ kind: 'open', suspicion: { looks, amount, outgoingCount: 0 } })
      if (finding.kind === 'open') suspicion = finding.suspicion
    }
    expect(suspicion.readings).toBe(readingsNeeded - 1)
    const last = judgeReading({ held: 91n, baseline: nothing, suspicion }, books(), false)
    expect(last).toEqual({ kind: 'accepted', baseline: { fees: 0n, outgoingCount: 0, confirmed: -7n } })
  })

  it('adds what is confirmed to what was known', () => {
    const suspicion = { readings: readingsNeeded - 1, amount: 3n, outgoingCount: 0 }
    const finding = judgeReading({ held: 113n, baseline: { ...nothing, confirmed: 10n }, suspicion }, books(), true)
    expect(finding).toEqual({ kind: 'accepted', baseline: { fees: 0n, outgoingCount: 0, confirmed: 13n } })
  })
})

describe('fees', () => {
  const rich = { settled: 10n * feeMaxSun }
  const short = (units: bigint) => 10n * feeMaxSun - units

  it.each<[name: string, missing: bigint, outgoingCount: Partial<RecordedBalance>, paid: number, kind: string]>([
    ['one transaction explains one fee', feeMaxSun, { outgoingBefore: 1 }, 0, 'accepted'],
    ['and not a sun more', feeMaxSun + 1n, { outgoingBefore: 1 }, 0, 'open'],
    ['two explain two', 2n * feeMaxSun, { outgoingBefore: 2 }, 0, 'accepted'],
    ['one that may be in the balance already explains as well', feeMaxSun, { outgoingWithin: 1 }, 0, 'accepted'],
    ['one whose fee was accounted for does not', 1n, { outgoingBefore: 1 }, 1, 'open'],
    ['without any nothing is a fee', 1n, {}, 0, 'open'],
  ])('%s', (_, missing, sent, paid, kind) => {
    expect(judge(short(missing), { ...rich, ...sent }, { ...nothing, outgoingCount: paid }).kind).toBe(kind)
  })

  it('use up the transactions before the span alone: those within it may not have paid yet', () => {
    expect(
      judge(
        short(5n),
        { ...rich, outgoingBefore: 3, outgoingWithin: 2 },
        { fees: -1n, outgoingCount: 1, confirmed: 4n },
      ),
    ).toEqual({
      kind: 'accepted',
      baseline: { fees: -9n, outgoingCount: 3, confirmed: 4n },
    })
  })

  it('are never what a token is short of, nor what a surplus is', () => {
    expect(judge(99n, { outgoingBefore: 5 }, nothing, false).kind).toBe('open')
    expect(judge(101n, { outgoingBefore: 5 }).kind).toBe('open')
  })

  it('are accounted for by a quiet look, and by no other', () => {
    expect(acceptedAfterMatch(books({ outgoingBefore: 4 }), { ...nothing, outgoingCount: 1, fees: -2n }, true)).toEqual(
      {
        fees: -2n,
        outgoingCount: 4,
        confirmed: 0n,
      },
    )
    expect(acceptedAfterMatch(books({ outgoingBefore: 4 }), { ...nothing, outgoingCount: 4 }, true)).toBeNull()
    expect(acceptedAfterMatch(books({ outgoingBefore: 4 }), nothing, false)).toBeNull()
    for (const underWay of [{ receivedWithin: 1n }, { sentWithin: 1n }, { pending: 1n }, { outgoingWithin: 1 }]) {
      expect(acceptedAfterMatch(books({ outgoingBefore: 4, ...underWay }), nothing, true)).toBeNull()
    }
  })
})
