import { type BlockHeight, blockSeconds } from '../chain/block.ts'

/** Readings that must find the same difference before it is reported. */
export const readingsNeeded = 3
/** Blocks by which the node that returns a balance may be behind the scan: one minute. */
const readingLagBlocks = 20
/**
 * Blocks above the finalized head that a balance may include, besides those made since that head was stored. `latest`
 * is 18 blocks ahead (PROTOCOL.md, Finality), and a balance includes transfers that are not mined yet (PROTOCOL.md,
 * Balances): that leaves two minutes for those.
 */
const readingAheadBlocks = 60
/** The highest fee that one transaction can explain, in sun. Usual transactions burn less than 30 TRX. */
export const feeMaxSun = 200_000_000n

/**
 * A balance, and the blocks that it includes: all up to `fromHeight`, none above `toHeight`, some of those between.
 * Once it is judged both are the same: nothing changed between them.
 */
export interface BalanceReading {
  readonly balance: bigint
  readonly fromHeight: BlockHeight
  readonly toHeight: BlockHeight
}

/** What is known of the difference between balance and records. */
export interface DifferenceState {
  /** TRX that fees explain: zero or negative. Balances show fees, transfers do not. */
  readonly accepted: bigint
  /** Sent transactions whose fees are accounted for: they explain nothing more. */
  readonly acceptedSent: number
  /** Transactions that were sent before the last judged reading: what their fees took, `difference` lacks already. */
  readonly readSent: number
  /** What the last reading found beyond that: more on the chain (positive), or less. */
  readonly difference: bigint
  /** How many readings in a row found exactly that, at most `readingsNeeded`: then it is reported. */
  readonly differing: number
}

/** What one address holds in one currency, as far as it is recorded. All amounts are in chain units. */
export interface RecordedHolding extends DifferenceState {
  /** Received minus sent. Negative where it spent what it had received before the scan's start. */
  readonly recorded: bigint
  /** Transactions that the address sent, each of which costs a fee in TRX. */
  readonly sent: number
  /** The highest block with a recorded change. */
  readonly changedHeight: BlockHeight
  /** The last reading, or null. */
  readonly reading: BalanceReading | null
}

/**
 * A balance that was read now, while the scan is at `position`. `finalized` is the finalized head, stored `ageMs` ago.
 */
export function readingOf(balance: bigint, position: BlockHeight, finalized: BlockHeight, ageMs: number) {
  const blocksSince = Math.max(0, Math.ceil(ageMs / (blockSeconds * 1000)))
  const toHeight = (Math.max(finalized, position) + blocksSince + readingAheadBlocks) as BlockHeight // safe: a later height
  return { balance, fromHeight: surelyIncluded(position), toHeight } satisfies BalanceReading
}

/** The newest block that every balance read now includes. */
const surelyIncluded = (position: BlockHeight) => Math.max(0, position - readingLagBlocks) as BlockHeight

/** A reading that is judged. */
export const closeReading = (reading: BalanceReading): BalanceReading => ({ ...reading, toHeight: reading.fromHeight })

/** What to do next with a holding. */
export type NextStep =
  | { readonly kind: 'read' }
  | { readonly kind: 'judge'; readonly reading: BalanceReading }
  /** Nothing before the scan is at this height. */
  | { readonly kind: 'wait'; readonly until: BlockHeight }

/**
 * What to do with a holding that is due while the scan is at `position`. A reading is judged once the scan has passed
 * every block that it can include, and only where nothing recorded has changed since the first of these: so amounts are
 * exact.
 */
export function nextStep({ reading, changedHeight }: RecordedHolding, position: BlockHeight): NextStep {
  if (reading !== null && reading.toHeight > reading.fromHeight && changedHeight <= reading.fromHeight) {
    return position >= reading.toHeight ? { kind: 'judge', reading } : { kind: 'wait', until: reading.toHeight }
  }
  if (changedHeight <= surelyIncluded(position)) return { kind: 'read' }
  return { kind: 'wait', until: (changedHeight + readingLagBlocks) as BlockHeight } // safe: a later height
}

/** What a judged reading changes, and whether something has to be reported. */
export interface Judgement extends DifferenceState {
  /**
   * `found`: a difference was found often enough. `gone`: what was found before is explained now. `open`: another
   * reading is needed. `same`: nothing is new.
   */
  readonly outcome: 'found' | 'gone' | 'open' | 'same'
}

/**
 * Judges a balance that is to be compared with exactly what is recorded. A shortfall of TRX that fees of sent
 * transactions can explain is accepted at once. Any other difference must be found `readingsNeeded` times. What new
 * transactions take of it is accepted as their fees, and the count goes on: an address in use pays one between any two readings.
 */
export function judgeBalance(balance: bigint, holding: RecordedHolding, native: boolean): Judgement {
  const { recorded, sent, accepted, acceptedSent, readSent, differing, difference } = holding
  const found = balance - recorded - accepted
  const isReported = differing >= readingsNeeded
  const sentSince = (before: number) => Math.max(0, sent - before)
  const feesMax = (transactions: number) => (native ? feeMaxSun * BigInt(transactions) : 0n)
  const newSent = sentSince(Math.max(acceptedSent, readSent)) // a correction can have removed some
  const nothing = { unexplained: 0n, max: feesMax(sentSince(acceptedSent)) }
  const known = { unexplained: difference, max: feesMax(newSent) }
  // The smaller fee is the likelier one. But the same shortfall as before can be the fee of a transaction that was recorded late.
  const isLateFee = !isReported && found === difference
  const explanations = difference < 0n && !isLateFee ? [known, nothing] : [nothing, known]
  const explanation = explanations.find(({ unexplained, max }) => unexplained >= found && unexplained - found <= max)
  if (explanation === undefined) {
    return { accepted, acceptedSent, readSent: sent, difference: found, differing: 1, outcome: 'open' }
  }
  const { unexplained } = explanation
  const state = { accepted: accepted - (unexplained - found), readSent: sent, difference: unexplained }
  // It accounts for all fees so far: unused ones must not add up and hide a loss.
  const accounted = { ...state, acceptedSent: sent }
  if (unexplained === 0n) return { ...accounted, differing: 0, outcome: differing > 0 ? 'gone' : 'same' }
  if (isReported) return { ...accounted, differing, outcome: 'same' }
  if (differing + 1 >= readingsNeeded) return { ...accounted, differing: readingsNeeded, outcome: 'found' }
  // New fees are accounted for. The difference can lack older ones, which explain a shortfall if it is recorded later.
  return { ...state, acceptedSent: acceptedSent + newSent, differing: differing + 1, outcome: 'open' }
}
