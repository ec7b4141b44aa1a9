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

const recorded = (changes: Partial<RecordedBalance> = {}): RecordedBalance => ({
  before: 100n,
  receivedWithin: 0n,
  sentWithin: 0n,
  pending: 0n,
  outgoingBefore: 0,
  outgoingWithin: 0,
  ...changes,
})
const nothing: AcceptedDifference = { fees: 0n, outgoingCount: 0, confirmed: 0n }
const judge = (balance: bigint, changes: Partial<RecordedBalance> = {}, accepted = nothing, native = true) =>
  judgeReading(balance, recorded(changes), accepted, noSuspicion, native)

describe('the unexplained part of a balance', () => {
  it.each<[balance: bigint, changes: Partial<RecordedBalance>, accepted: Partial<AcceptedDifference>, left: bigint]>([
    [100n, {}, {}, 0n],
    [101n, {}, {}, 1n],
    [99n, {}, {}, -1n],
    [110n, { receivedWithin: 10n }, {}, 0n], // the reading includes the deposit
    [100n, { receivedWithin: 10n }, {}, 0n], // the reading is older than the deposit
    [111n, { receivedWithin: 10n }, {}, 1n],
    [60n, { sentWithin: 40n }, {}, 0n],
    [59n, { sentWithin: 40n }, {}, -1n],
    [70n, { sentWithin: 40n, receivedWithin: 10n }, {}, 0n],
    [105n, { pending: 5n }, {}, 0n], // TRX
    [100n, { pending: 5n }, {}, 0n], // a worthless token
    [106n, { pending: 5n }, {}, 1n],
    [97n, {}, { fees: -3n }, 0n],
    [98n, {}, { fees: -3n }, 1n],
    [107n, {}, { confirmed: 7n }, 0n],
    [100n, {}, { confirmed: 7n }, -7n],
    [104n, {}, { confirmed: 7n, fees: -3n }, 0n],
    [0n, { before: -20n }, { confirmed: 20n }, 0n], // it spent what it had before the scan's start
  ])('of %s with %o and %o is %s', (balance, changes, accepted, left) => {
    expect(unexplained(balance, recorded(changes), { ...nothing, ...accepted })).toBe(left)
  })

  it('is 0 for every balance that some of the transfers under way lead to, and for no balance outside that range', () => {
    const transfers = fc.array(fc.bigInt(1n, 10n ** 40n), { maxLength: 6 })
    fc.assert(
      fc.property(
        fc.bigInt(0n, 10n ** 40n),
        transfers,
        transfers,
        fc.infiniteStream(fc.boolean()),
        (before, received, sent, included) => {
          const sum = (list: readonly bigint[]) => list.reduce((total, one) => total + one, 0n)
          const part = (list: readonly bigint[]) => sum(list.filter(() => included.next().value))
          const all = recorded({ before, receivedWithin: sum(received), sentWithin: sum(sent) })
          expect(unexplained(before + part(received) - part(sent), all, nothing)).toBe(0n)
          expect(unexplained(before + sum(received) + 1n, all, nothing)).toBe(1n)
          expect(unexplained(before - sum(sent) - 1n, all, nothing)).toBe(-1n)
          expect(recordedTotal(all)).toBe(before + sum(received) - sum(sent))
        },
      ),
    )
  })
})

describe('a reading', () => {
  it('without an unexplained part clears the suspicion', () => {
    expect(judge(110n, { receivedWithin: 10n })).toEqual({ kind: 'cleared' })
  })

  it('confirms a difference only with two others of the same sign, with the smallest amount of the three', () => {
    let suspicion = noSuspicion
    for (const [balance, readings, amount] of [
      [105n, 1, 5n],
      [90n, 1, -10n], // the other sign: a new suspicion
      [93n, 2, -7n],
    ] as const) {
      const verdict = judgeReading(balance, recorded(), nothing, suspicion, false)
      expect(verdict).toEqual({ kind: 'open', suspicion: { readings, amount, outgoingCount: 0 } })
      if (verdict.kind === 'open') suspicion = verdict.suspicion
    }
    expect(suspicion.readings).toBe(readingsNeeded - 1)
    const last = judgeReading(91n, recorded(), nothing, suspicion, false)
    expect(last).toEqual({ kind: 'accepted', accepted: { fees: 0n, outgoingCount: 0, confirmed: -7n } })
  })

  it('adds a confirmed difference to the one before', () => {
    const suspicion = { readings: readingsNeeded - 1, amount: 3n, outgoingCount: 0 }
    const verdict = judgeReading(113n, recorded(), { ...nothing, confirmed: 10n }, suspicion, true)
    expect(verdict).toEqual({ kind: 'accepted', accepted: { fees: 0n, outgoingCount: 0, confirmed: 13n } })
  })
})

describe('fees', () => {
  const before = 10n * feeMaxSun

  it.each<[name: string, missing: bigint, outgoing: Partial<RecordedBalance>, paid: number, kind: string]>([
    ['of one transaction explain the highest fee', feeMaxSun, { outgoingBefore: 1 }, 0, 'accepted'],
    ['of one transaction do not explain a sun more', feeMaxSun + 1n, { outgoingBefore: 1 }, 0, 'open'],
    ['of two transactions explain two fees', 2n * feeMaxSun, { outgoingBefore: 2 }, 0, 'accepted'],
    ['of a transaction within the span explain as well', feeMaxSun, { outgoingWithin: 1 }, 0, 'accepted'],
    ['that are accounted for do not explain again', 1n, { outgoingBefore: 1 }, 1, 'open'],
    ['explain nothing without a transaction', 1n, {}, 0, 'open'],
  ])('%s', (_, missing, outgoing, paid, kind) => {
    expect(judge(before - missing, { before, ...outgoing }, { ...nothing, outgoingCount: paid }).kind).toBe(kind)
  })

  it('account for the transactions before the span where nothing is under way', () => {
    const accepted = { fees: -1n, outgoingCount: 1, confirmed: 4n }
    const verdict = (underWay: Partial<RecordedBalance>) =>
      judge(before - 5n, { before, outgoingBefore: 3, ...underWay }, accepted)
    const explained = (outgoingCount: number) => ({
      kind: 'accepted',
      accepted: { fees: -9n, outgoingCount, confirmed: 4n },
    })
    expect(verdict({})).toEqual(explained(3))
    // The rest of the fees shows only in a later reading.
    expect(verdict({ outgoingWithin: 2 })).toEqual(explained(1))
  })

  it('explain no more in total than all transactions can have paid', () => {
    const underWay = { before, outgoingBefore: 1, receivedWithin: 1n }
    const accepted = { fees: -feeMaxSun, outgoingCount: 0, confirmed: 0n }
    expect(judge(before - feeMaxSun - 1n, underWay, accepted).kind).toBe('open')
    expect(judge(before - feeMaxSun - 1n, { ...underWay, outgoingBefore: 2 }, accepted).kind).toBe('accepted')
  })

  it('never explain a shortfall of a token or a surplus', () => {
    expect(judge(99n, { outgoingBefore: 5 }, nothing, false).kind).toBe('open')
    expect(judge(101n, { outgoingBefore: 5 }).kind).toBe('open')
  })

  it('are accounted for by a match while nothing is under way, and by no other', () => {
    const accepted = { ...nothing, outgoingCount: 1, fees: -2n }
    expect(acceptedAfterMatch(recorded({ outgoingBefore: 4 }), accepted, true)).toEqual({
      fees: -2n,
      outgoingCount: 4,
      confirmed: 0n,
    })
    expect(acceptedAfterMatch(recorded({ outgoingBefore: 4 }), { ...nothing, outgoingCount: 4 }, true)).toBeNull()
    expect(acceptedAfterMatch(recorded({ outgoingBefore: 4 }), nothing, false)).toBeNull()
    for (const underWay of [{ receivedWithin: 1n }, { sentWithin: 1n }, { pending: 1n }, { outgoingWithin: 1 }]) {
      expect(acceptedAfterMatch(recorded({ outgoingBefore: 4, ...underWay }), nothing, true)).toBeNull()
    }
  })
})
