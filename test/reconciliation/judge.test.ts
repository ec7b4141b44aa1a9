import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/worker/chain/block.ts'
import {
  closeReading,
  feeMaxSun,
  type Judgement,
  judgeBalance,
  type NextStep,
  nextStep,
  type RecordedHolding,
  readingOf,
  readingsNeeded,
} from '../../src/worker/reconciliation/judge.ts'

const height = (n: number) => n as BlockHeight

/**
 * An address with 100 recorded units, which has sent nothing. No reading of its balance has
 * differed from the recorded sum.
 */
const holding = (changes: Partial<RecordedHolding> = {}): RecordedHolding => ({
  recorded: 100n,
  sent: 0,
  changedHeight: height(50),
  reading: null,
  accepted: 0n,
  acceptedSent: 0,
  readSent: 0,
  difference: 0n,
  differing: 0,
  ...changes,
})
const reading = (from: number, to: number) => ({ balance: 100n, fromHeight: height(from), toHeight: height(to) })

describe('a reading', () => {
  it('includes all blocks up to a minute before the position, and none above those that can be made meanwhile', () => {
    expect(readingOf(7n, height(200), height(210), 9_000)).toEqual({ balance: 7n, fromHeight: 180, toHeight: 273 })
    expect(readingOf(7n, height(200), height(190), -5_000)).toEqual({ balance: 7n, fromHeight: 180, toHeight: 260 })
    expect(readingOf(7n, height(5), height(5), 0).fromHeight).toBe(0)
  })
})

describe('a holding that is due while the scan is at block 300', () => {
  it.each<[what: string, changes: Partial<RecordedHolding>, step: NextStep]>([
    ['is read where it never was', {}, { kind: 'read' }],
    ['is read again where its reading is judged', { reading: closeReading(reading(200, 280)) }, { kind: 'read' }],
    [
      'is judged where the scan has passed its reading',
      { reading: reading(220, 300) },
      { kind: 'judge', reading: reading(220, 300) },
    ],
    ['waits for the end of its reading', { reading: reading(221, 301) }, { kind: 'wait', until: height(301) }],
    [
      'is judged where its last change is in the first block that the reading includes',
      { reading: reading(220, 300), changedHeight: height(220) },
      { kind: 'judge', reading: reading(220, 300) },
    ],
    [
      'is read again where it has changed since',
      { reading: reading(220, 300), changedHeight: height(221) },
      { kind: 'read' },
    ],
    ['is read as soon as each balance includes its last change', { changedHeight: height(280) }, { kind: 'read' }],
    ['waits until then', { changedHeight: height(281) }, { kind: 'wait', until: height(301) }],
    [
      'waits until then also with a reading',
      { reading: reading(220, 290), changedHeight: height(299) },
      { kind: 'wait', until: height(319) },
    ],
  ])('%s', (_, changes, step) => {
    expect(nextStep(holding(changes), height(300))).toEqual(step)
  })
})

/** A difference that was found in so many readings that its alarm was raised. */
const reported = (difference: bigint): Partial<RecordedHolding> => ({ difference, differing: readingsNeeded })
const trx = 1_000_000n

describe('a balance', () => {
  type After = Partial<Judgement>
  it.each<[what: string, balance: bigint, before: Partial<RecordedHolding>, after: After]>([
    ['that is what is recorded', 100n, {}, { outcome: 'same', differing: 0 }],
    ['that is more, for the first time', 106n, {}, { outcome: 'open', difference: 6n, differing: 1 }],
    [
      'that is more, for the second time',
      106n,
      { difference: 6n, differing: 1 },
      { outcome: 'open', difference: 6n, differing: 2 },
    ],
    [
      'that is more, for the third time',
      106n,
      { difference: 6n, differing: 2 },
      { outcome: 'found', difference: 6n, differing: 3 },
    ],
    [
      'that is more by another amount than before',
      107n,
      { difference: 6n, differing: 2 },
      { outcome: 'open', difference: 7n, differing: 1 },
    ],
    [
      'that is less, for the third time',
      99n,
      { difference: -1n, differing: 2 },
      { outcome: 'found', difference: -1n, differing: 3 },
    ],
    [
      'that was suspected once',
      100n,
      { difference: 6n, differing: 1 },
      { outcome: 'gone', difference: 0n, differing: 0 },
    ],
    ['with a reported difference', 106n, reported(6n), { outcome: 'same', difference: 6n, differing: 3 }],
    ['with a reported difference that is gone', 100n, reported(6n), { outcome: 'gone', difference: 0n, differing: 0 }],
    [
      'with a reported difference that has grown',
      108n,
      reported(6n),
      { outcome: 'open', difference: 8n, differing: 1 },
    ],
    ['with accepted fees', 97n, { accepted: -3n }, { outcome: 'same', accepted: -3n, differing: 0 }],
    ['above what fees had taken', 100n, { accepted: -3n }, { outcome: 'open', difference: 3n, differing: 1 }],
    [
      'of what was spent before the first block',
      0n,
      { recorded: -20n, difference: 20n, differing: 2 },
      { outcome: 'found', difference: 20n },
    ],
  ])('%s', (_, balance, before, after) => {
    for (const native of [true, false]) expect(judgeBalance(balance, holding(before), native)).toMatchObject(after)
  })
})

describe('a shortfall of TRX', () => {
  const recorded = 1_000n * trx
  type Case = [what: string, missing: bigint, before: Partial<RecordedHolding>, outcome: string, accepted: bigint]
  it.each<Case>([
    ['of one highest fee, with one sent transaction', feeMaxSun, { sent: 1 }, 'same', -feeMaxSun],
    ['of a sun more', feeMaxSun + 1n, { sent: 1 }, 'open', 0n],
    ['of two fees, with two', 2n * feeMaxSun, { sent: 2 }, 'same', -2n * feeMaxSun],
    ['with a transaction whose fee is accounted for', 1n, { sent: 1, acceptedSent: 1 }, 'open', 0n],
    ['without a transaction', 1n, {}, 'open', 0n],
    ['after a correction that removed transactions', 1n, { sent: 1, acceptedSent: 3 }, 'open', 0n],
  ])('%s', (_, missing, before, outcome, accepted) => {
    const after = judgeBalance(recorded - missing, holding({ recorded, ...before }), true)
    expect(after).toMatchObject({ outcome, accepted })
  })

  it.each<[what: string, difference: bigint, found: bigint, fee: bigint, rest: bigint]>([
    ['a reported surplus remains, and a fee was paid', 6n, 5n, 1n, 6n],
    ['a reported surplus was collected or credited, and a fee was paid', 6n, -2n, 2n, 0n],
    ['a reported shortfall remains, and a fee was paid', -6n, -7n, 1n, -6n],
    ['a reported shortfall was found, and a fee was paid', -6n, -1n, 1n, 0n],
  ])('explained by the smallest fee: %s', (_, difference, found, fee, rest) => {
    const before = holding({ recorded, sent: 1, ...reported(difference * trx) })
    expect(judgeBalance(recorded + found * trx, before, true)).toEqual({
      accepted: -fee * trx,
      acceptedSent: 1,
      readSent: 1,
      difference: rest * trx,
      differing: rest === 0n ? 0 : readingsNeeded,
      outcome: rest === 0n ? 'gone' : 'same',
    })
  })

  it('is never that of a token, and no surplus is ever explained by a fee', () => {
    expect(judgeBalance(99n, holding({ sent: 5 }), false).outcome).toBe('open')
    expect(judgeBalance(101n, holding({ sent: 5 }), true).outcome).toBe('open')
  })

  it('leaves no unused fee that could hide a later loss', () => {
    const before = holding({ recorded, sent: 3 })
    const after = judgeBalance(recorded, before, true)
    expect(after.acceptedSent).toBe(3)
    expect(judgeBalance(recorded - trx, { ...before, ...after }, true).outcome).toBe('open')
  })
})

/**
 * A difference of 6 TRX, found `differing` times, at an address that has sent 4 transactions and
 * paid 3 TRX of fees for them.
 */
const counted = (differing: number, changes: Partial<RecordedHolding> = {}): RecordedHolding => {
  const fees = { accepted: -3n * trx, sent: 4, acceptedSent: 4, readSent: 4 }
  return holding({ recorded: 1_000n * trx, ...fees, difference: 6n * trx, differing, ...changes })
}

describe('a difference of TRX that is being counted', () => {
  type Case = [what: string, units: bigint, before: RecordedHolding, after: Partial<Judgement>]
  const begunAnew = (difference: bigint) =>
    ({ outcome: 'open', differing: 1, difference, accepted: -3n * trx }) as const
  it.each<Case>([
    [
      'is found again beside the fee of a new transaction',
      5n * trx,
      counted(1, { sent: 5 }),
      { outcome: 'open', differing: 2, difference: 6n * trx, accepted: -4n * trx, acceptedSent: 5 },
    ],
    [
      'is reported, exactly, beside the fees of two',
      4n * trx,
      counted(2, { sent: 6 }),
      { outcome: 'found', differing: 3, difference: 6n * trx, accepted: -5n * trx, acceptedSent: 6 },
    ],
    [
      'accounts for a transaction that cost nothing',
      6n * trx,
      counted(1, { sent: 5 }),
      { outcome: 'open', differing: 2, difference: 6n * trx, accepted: -3n * trx, acceptedSent: 5 },
    ],
    [
      'keeps the fees that it can lack from before: they are needed where it is recorded later',
      5n * trx,
      counted(1, { sent: 5, acceptedSent: 2 }),
      { outcome: 'open', differing: 2, accepted: -4n * trx, acceptedSent: 3 },
    ],
    ['is another one without a new transaction', 5n * trx, counted(2), begunAnew(5n * trx)],
    [
      'is another one where only older transactions have unused fees',
      5n * trx,
      counted(2, { acceptedSent: 2 }),
      begunAnew(5n * trx),
    ],
    [
      'is another one below the highest fee',
      feeMaxSun - 1n,
      counted(2, { sent: 5, difference: 2n * feeMaxSun }),
      begunAnew(feeMaxSun - 1n),
    ],
    ['is another one where it has grown', 7n * trx, counted(2, { sent: 5 }), begunAnew(7n * trx)],
    [
      'is gone where it was recorded, beside the fee of a new transaction',
      -1n * trx,
      counted(2, { sent: 5 }),
      { outcome: 'gone', differing: 0, difference: 0n, accepted: -4n * trx, acceptedSent: 5 },
    ],
  ])('%s', (_, found, before, after) => {
    expect(judgeBalance(before.recorded + before.accepted + found, before, true)).toMatchObject(after)
  })

  it.each<[what: string, found: bigint, after: Partial<Judgement>]>([
    [
      'goes on beside the fee of a new transaction, which does not hide the loss',
      -7n * trx,
      { outcome: 'found', difference: -6n * trx, accepted: -4n * trx },
    ],
    [
      'was the fee of that transaction, which was recorded late',
      -6n * trx,
      { outcome: 'gone', difference: 0n, accepted: -9n * trx },
    ],
  ])('or a shortfall: %s', (_, found, after) => {
    const before = counted(2, { sent: 5, difference: -6n * trx })
    expect(judgeBalance(before.recorded + before.accepted + found, before, true)).toMatchObject(after)
  })

  it('of a token is another one, whatever was sent', () => {
    expect(judgeBalance(105n, holding({ difference: 6n, differing: 2, sent: 1 }), false)).toMatchObject({
      outcome: 'open',
      differing: 1,
      difference: 5n,
      accepted: 0n,
    })
  })
})

it('hides no loss behind the fees of transactions from before the count', () => {
  const before = holding({ recorded: 1_000n * trx, sent: 3 })
  let now: RecordedHolding = before
  const judge = (balance: bigint) => {
    const after = judgeBalance(balance * trx, now, true)
    now = { ...now, ...after }
    return after
  }
  judge(1_500n)
  judge(1_500n)
  for (const outcome of ['open', 'open', 'found']) {
    expect(judge(1_400n)).toMatchObject({ outcome, difference: 400n * trx, accepted: 0n })
  }
})

it('is reported after three readings with its exact amount, whatever fees were paid and whatever was lost meanwhile', () => {
  const fee = fc.bigInt(0n, feeMaxSun)
  const interval = fc.array(fee, { maxLength: 3 })
  const sum = (fees: readonly bigint[]) => fees.reduce((all, one) => all + one, 0n)
  const surplus = fc.bigInt(4n * feeMaxSun, 10n ** 12n)
  fc.assert(
    fc.property(
      fc.array(interval, { maxLength: 3 }),
      surplus,
      fc.bigInt(0n, 10n ** 9n),
      fc.array(interval, { minLength: 2, maxLength: 2 }),
      (before, amount, lost, during) => {
        let now = holding({ recorded: 10n ** 15n })
        let balance = now.recorded
        const read = (change: bigint, fees: readonly bigint[]) => {
          balance += change - sum(fees)
          now = { ...now, sent: now.sent + fees.length }
          const judgement = judgeBalance(balance, now, true)
          now = { ...now, ...judgement }
          return judgement.outcome
        }
        for (const fees of before) expect(read(0n, fees)).toBe('same')
        read(amount + lost, [])
        for (const change of [-lost, 0n]) read(change, [])
        const outcomes = during.map((fees) => read(0n, fees))
        expect(outcomes).toContain(lost === 0n ? 'same' : 'found')
        expect(now).toMatchObject({ difference: amount, differing: readingsNeeded })
        expect(now.accepted).toBe(-sum([...before, ...during].flat()))
      },
    ),
  )
})

it('is reported with its exact amount, whatever fees and differences came before', () => {
  const amounts = fc.bigInt(-(10n ** 40n), 10n ** 40n)
  const state = fc.record({
    recorded: amounts,
    accepted: fc.bigInt(-(10n ** 12n), 0n),
    difference: amounts.filter((amount) => amount !== 0n),
    differing: fc.integer({ min: 1, max: readingsNeeded }),
    sent: fc.nat(5),
    acceptedSent: fc.nat(5),
    readSent: fc.nat(5),
  })
  fc.assert(
    fc.property(state, fc.bigInt(0n, 10n ** 40n), fc.boolean(), (changes, balance, native) => {
      let now = holding(changes)
      for (let i = 0; i < readingsNeeded; i += 1) now = { ...now, ...judgeBalance(balance, now, native) }
      expect(now.recorded + now.accepted + now.difference).toBe(balance)
      expect(now.accepted <= changes.accepted).toBe(true)
      expect(now.differing).toBe(now.difference === 0n ? 0 : readingsNeeded)
    }),
  )
})
