import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  afterQuietLook,
  type Baseline,
  type Books,
  feeMaxSun,
  judgeLook,
  looksNeeded,
  recordedIn,
  unexamined,
  unexplained,
} from '../../src/reconciliation/judge-reading.ts'

const books = (changes: Partial<Books> = {}): Books => ({
  settled: 100n,
  ins: 0n,
  outs: 0n,
  pending: 0n,
  sentBefore: 0,
  sentWithin: 0,
  ...changes,
})
const nothing: Baseline = { fees: 0n, sent: 0, known: 0n }
const judge = (held: bigint, changes: Partial<Books> = {}, baseline = nothing, native = true) =>
  judgeLook({ held, baseline, suspicion: unexamined }, books(changes), native)

describe('what the books explain', () => {
  it.each<[held: bigint, changes: Partial<Books>, baseline: Partial<Baseline>, left: bigint]>([
    // held   within the span, or pending      accepted                left unexplained
    [100n, {}, {}, 0n],
    [101n, {}, {}, 1n],
    [99n, {}, {}, -1n],
    [110n, { ins: 10n }, {}, 0n], //            the look saw the deposit
    [100n, { ins: 10n }, {}, 0n], //            the look was before it
    [111n, { ins: 10n }, {}, 1n],
    [60n, { outs: 40n }, {}, 0n],
    [59n, { outs: 40n }, {}, -1n],
    [70n, { outs: 40n, ins: 10n }, {}, 0n],
    [105n, { pending: 5n }, {}, 0n], //         real TRX
    [100n, { pending: 5n }, {}, 0n], //         a worthless token
    [106n, { pending: 5n }, {}, 1n],
    [97n, {}, { fees: -3n }, 0n],
    [98n, {}, { fees: -3n }, 1n],
    [107n, {}, { known: 7n }, 0n],
    [100n, {}, { known: 7n }, -7n],
    [104n, {}, { known: 7n, fees: -3n }, 0n],
    [0n, { settled: -20n }, { known: 20n }, 0n], // it spent what it had before the scan began
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
          const all = books({ settled, ins: sum(ins), outs: sum(outs) })
          expect(unexplained(settled + part(ins) - part(outs), all, nothing)).toBe(0n)
          expect(unexplained(settled + sum(ins) + 1n, all, nothing)).toBe(1n)
          expect(unexplained(settled - sum(outs) - 1n, all, nothing)).toBe(-1n)
          expect(recordedIn(all)).toBe(settled + sum(ins) - sum(outs))
        },
      ),
    )
  })
})

describe('a look', () => {
  it('that the books explain clears the suspicion', () => {
    expect(judge(110n, { ins: 10n })).toEqual({ kind: 'cleared' })
  })

  it('counts only with two more of the same sign, and with the smallest amount that any found', () => {
    let suspicion = unexamined
    for (const [held, looks, amount] of [
      [105n, 1, 5n],
      [90n, 1, -10n], // the other sign: a new suspicion
      [93n, 2, -7n],
    ] as const) {
      const finding = judgeLook({ held, baseline: nothing, suspicion }, books(), false)
      expect(finding).toEqual({ kind: 'open', suspicion: { looks, amount, sent: 0 } })
      if (finding.kind === 'open') suspicion = finding.suspicion
    }
    expect(suspicion.looks).toBe(looksNeeded - 1)
    const last = judgeLook({ held: 91n, baseline: nothing, suspicion }, books(), false)
    expect(last).toEqual({ kind: 'accepted', baseline: { fees: 0n, sent: 0, known: -7n } })
  })

  it('adds what is confirmed to what was known', () => {
    const suspicion = { looks: looksNeeded - 1, amount: 3n, sent: 0 }
    const finding = judgeLook({ held: 113n, baseline: { ...nothing, known: 10n }, suspicion }, books(), true)
    expect(finding).toEqual({ kind: 'accepted', baseline: { fees: 0n, sent: 0, known: 13n } })
  })
})

describe('fees', () => {
  const rich = { settled: 10n * feeMaxSun }
  const short = (units: bigint) => 10n * feeMaxSun - units

  it.each<[name: string, missing: bigint, sent: Partial<Books>, paid: number, kind: string]>([
    ['one transaction explains one fee', feeMaxSun, { sentBefore: 1 }, 0, 'accepted'],
    ['and not a sun more', feeMaxSun + 1n, { sentBefore: 1 }, 0, 'open'],
    ['two explain two', 2n * feeMaxSun, { sentBefore: 2 }, 0, 'accepted'],
    ['one that may be in the balance already explains as well', feeMaxSun, { sentWithin: 1 }, 0, 'accepted'],
    ['one whose fee was accounted for does not', 1n, { sentBefore: 1 }, 1, 'open'],
    ['without any nothing is a fee', 1n, {}, 0, 'open'],
  ])('%s', (_, missing, sent, paid, kind) => {
    expect(judge(short(missing), { ...rich, ...sent }, { ...nothing, sent: paid }).kind).toBe(kind)
  })

  it('use up the transactions before the span alone: those within it may not have paid yet', () => {
    expect(judge(short(5n), { ...rich, sentBefore: 3, sentWithin: 2 }, { fees: -1n, sent: 1, known: 4n })).toEqual({
      kind: 'accepted',
      baseline: { fees: -9n, sent: 3, known: 4n },
    })
  })

  it('are never what a token is short of, nor what a surplus is', () => {
    expect(judge(99n, { sentBefore: 5 }, nothing, false).kind).toBe('open')
    expect(judge(101n, { sentBefore: 5 }).kind).toBe('open')
  })

  it('are accounted for by a quiet look, and by no other', () => {
    expect(afterQuietLook(books({ sentBefore: 4 }), { ...nothing, sent: 1, fees: -2n }, true)).toEqual({
      fees: -2n,
      sent: 4,
      known: 0n,
    })
    expect(afterQuietLook(books({ sentBefore: 4 }), { ...nothing, sent: 4 }, true)).toBeNull()
    expect(afterQuietLook(books({ sentBefore: 4 }), nothing, false)).toBeNull()
    for (const underWay of [{ ins: 1n }, { outs: 1n }, { pending: 1n }, { sentWithin: 1 }]) {
      expect(afterQuietLook(books({ sentBefore: 4, ...underWay }), nothing, true)).toBeNull()
    }
  })
})
