import { type BlockHeight, blockSeconds } from '../chain/block.ts'

/** A difference is reported after this many readings in a row have found it. */
export const readingsNeeded = 3
/** The node that returns a balance may be this many blocks (one minute) behind the scan. */
const readingLagBlocks = 20
/**
 * A balance may include this many blocks above the finalized head, besides those made since that
 * head was stored. `latest` is 18 blocks ahead (PROTOCOL.md, Finality). A balance also includes
 * transfers that are not mined yet (PROTOCOL.md, Balances), for which two minutes are left.
 */
const readingAheadBlocks = 60
/**
 * The highest fee that one transaction can explain, in sun. Usual transactions burn less than 30
 * TRX.
 */
export const feeMaxSun = 200_000_000n

/**
 * A balance, and the blocks that it includes: all up to `fromHeight`, none above `toHeight`, and
 * some of those between. Once the reading is judged both heights are equal, because nothing has
 * changed between them.
 */
export interface BalanceReading {
  readonly balance: bigint
  readonly fromHeight: BlockHeight
  readonly toHeight: BlockHeight
}

/** The known difference between balance and records. */
export interface DifferenceState {
  /** TRX that fees explain: zero or negative. Balances show fees, transfers do not. */
  readonly accepted: bigint
  /**
   * The number of sent transactions whose fees are accounted for: they explain no other shortfall.
   */
  readonly acceptedSent: number
  /**
   * The number of transactions that were sent before the last judged reading; `difference` already
   * excludes their fees.
   */
  readonly readSent: number
  /**
   * The part of the last reading that nothing explains: above zero if the chain has more than the
   * records, below zero if it has less.
   */
  readonly difference: bigint
  /**
   * How many readings in a row have found exactly `difference`. At `readingsNeeded` the difference
   * is reported.
   */
  readonly differing: number
}

/** The recorded holding of one address in one currency. All amounts are in chain units. */
export interface RecordedHolding extends DifferenceState {
  /**
   * Received minus sent. Negative if the address spent money that it had received before the scan's
   * start.
   */
  readonly recorded: bigint
  /** Transactions that the address sent, each of which costs a fee in TRX. */
  readonly sent: number
  /** The highest block with a recorded change. */
  readonly changedHeight: BlockHeight
  /** The last reading; null before the first one. */
  readonly reading: BalanceReading | null
}

/**
 * Makes a reading of a balance that was read now, while the scan is at `scannedHeight`. `finalized`
 * is the finalized head, stored `ageMs` ago.
 */
export function readingOf(balance: bigint, scannedHeight: BlockHeight, finalized: BlockHeight, ageMs: number) {
  const blocksSince = Math.max(0, Math.ceil(ageMs / (blockSeconds * 1000)))
  // safe: a height plus blocks is a height
  const toHeight = (Math.max(finalized, scannedHeight) + blocksSince + readingAheadBlocks) as BlockHeight
  return { balance, fromHeight: surelyIncluded(scannedHeight), toHeight } satisfies BalanceReading
}

/** The newest block that every balance read now surely includes. */
const surelyIncluded = (scannedHeight: BlockHeight) => Math.max(0, scannedHeight - readingLagBlocks) as BlockHeight

/** Marks a reading as judged: both heights are equal. */
export const closeReading = (reading: BalanceReading): BalanceReading => ({ ...reading, toHeight: reading.fromHeight })

export type NextStep =
  | { readonly kind: 'read' }
  | { readonly kind: 'judge'; readonly reading: BalanceReading }
  /** Wait until the scan is at this height. */
  | { readonly kind: 'wait'; readonly until: BlockHeight }

/**
 * The next step for a due holding while the scan is at `scannedHeight`. A reading is judged once
 * the scan has passed every block that it may include, and only if no record has changed since the
 * first of these blocks. So amounts are exact.
 */
export function nextStep({ reading, changedHeight }: RecordedHolding, scannedHeight: BlockHeight): NextStep {
  if (reading !== null && reading.toHeight > reading.fromHeight && changedHeight <= reading.fromHeight) {
    return scannedHeight >= reading.toHeight ? { kind: 'judge', reading } : { kind: 'wait', until: reading.toHeight }
  }
  if (changedHeight <= surelyIncluded(scannedHeight)) return { kind: 'read' }
  // safe: a height plus blocks is a height
  return { kind: 'wait', until: (changedHeight + readingLagBlocks) as BlockHeight }
}

/** The new state after a judged reading, and whether there is something to report. */
export interface Judgement extends DifferenceState {
  /**
   * `found`: a difference was found often enough. `gone`: an earlier difference is explained now.
   * `open`: another reading is needed. `same`: nothing is new.
   */
  readonly outcome: 'found' | 'gone' | 'open' | 'same'
}

/**
 * Judges a balance against the records of exactly the blocks that it includes. A shortfall of TRX
 * that fees of sent transactions can explain is accepted at once. Any other difference must be
 * found `readingsNeeded` times. The part that new transactions explain is accepted as their fees,
 * and the count goes on, because an address in use pays a fee between any two readings.
 */
export function judgeBalance(balance: bigint, holding: RecordedHolding, native: boolean): Judgement {
  const { recorded, sent, accepted, acceptedSent, readSent, differing, difference } = holding
  const found = balance - recorded - accepted
  const isReported = differing >= readingsNeeded
  const sentSince = (before: number) => Math.max(0, sent - before)
  const feesMax = (transactions: number) => (native ? feeMaxSun * BigInt(transactions) : 0n)
  // an operator's correction may have removed sent transactions
  const newSent = sentSince(Math.max(acceptedSent, readSent))
  const nothing = { unexplained: 0n, max: feesMax(sentSince(acceptedSent)) }
  const known = { unexplained: difference, max: feesMax(newSent) }
  // The explanation with the smaller fee is the likelier one. But a shortfall equal to the last one
  // may be the fee of a transaction that was recorded late.
  const isLateFee = !isReported && found === difference
  const explanations = difference < 0n && !isLateFee ? [known, nothing] : [nothing, known]
  const explanation = explanations.find(({ unexplained, max }) => unexplained >= found && unexplained - found <= max)
  if (explanation === undefined) {
    return { accepted, acceptedSent, readSent: sent, difference: found, differing: 1, outcome: 'open' }
  }
  const { unexplained } = explanation
  const state = { accepted: accepted - (unexplained - found), readSent: sent, difference: unexplained }
  // All fees so far are accounted for: fees that explained nothing must not add up and hide a loss.
  const accounted = { ...state, acceptedSent: sent }
  if (unexplained === 0n) return { ...accounted, differing: 0, outcome: differing > 0 ? 'gone' : 'same' }
  if (isReported) return { ...accounted, differing, outcome: 'same' }
  if (differing + 1 >= readingsNeeded) return { ...accounted, differing: readingsNeeded, outcome: 'found' }
  // The new fees are accounted for. Fees that are older and not accounted for may still explain a
  // later shortfall.
  return { ...state, acceptedSent: acceptedSent + newSent, differing: differing + 1, outcome: 'open' }
}
