import { balancesMax } from '../chain/limits.ts'

// Limits of reconciliation, each with the figure that it stays below (those of the platform: domain/limits.ts).

/** Time from the start of one comparison of all addresses to the start of the next. */
export const runIntervalMs = 86_400_000
/** Addresses compared in one slice: one question to a node. A slice a minute is 28,800 addresses a day. */
export const sliceAddressesMax = balancesMax
/** Of those, addresses that are looked at again, so that differences, however many, never stop the run. */
export const rereadingsMax = 10
/** Differences judged in one slice. It costs no question to a node, and a slice finds no more of them. */
export const judgedPerSliceMax = 40
/**
 * Currencies that get a slice in one tick; each minute begins with another one. A slice is one request to a node and up
 * to 12 D1 statements, beside the scan's 20, and the free plan allows 50 of either.
 */
export const currenciesPerTickMax = 2
/** Looks that must find a difference of one sign before it counts. */
export const readingsNeeded = 3
/** Blocks by which the node that shows a balance may lag behind the scan: one minute. */
export const readingLagBlocks = 20
/**
 * Blocks above the finalized head that a balance may have in it already. `latest` is 18 blocks ahead, the head can be
 * a tick of 25 s old, and a node counts transfers that are yet to be mined: two minutes are left for those.
 */
export const readingAheadBlocks = 60
/** The highest fee put down to one outgoing transaction, in sun. Usual ones burn less than 30. */
export const feeMaxSun = 200_000_000n

/**
 * What is stored of one address and currency, in chain units, seen from a look whose exact height nobody knows: only
 * that it is within a span of blocks.
 */
export interface RecordedBalance {
  /** Received less sent, up to the span. Below zero where an address spent what it had before the scan began. */
  readonly before: bigint
  /** Received within the span. */
  readonly receivedWithin: bigint
  /** Sent within the span. */
  readonly sentWithin: bigint
  /** Undecided up to the span's end: TRX that may be worthless TRC-10. */
  readonly pending: bigint
  /** Outgoing movements up to the span. For TRX these are transactions, each of which burnt a fee. */
  readonly outgoingBefore: number
  /** Outgoing movements within the span. */
  readonly outgoingWithin: number
}

/** What is accepted of the difference between an address and its books. Zero in everything before anything was. */
export interface AcceptedDifference {
  /** TRX put down to fees: zero or less. JSON-RPC shows no fees (fact sheet, R11). */
  readonly fees: bigint
  /** Outgoing transactions whose fees are accounted for. */
  readonly outgoingCount: number
  /** The confirmed difference, signed: what the operator was told about. */
  readonly confirmed: bigint
}

/** A difference under examination. */
export interface SuspectedDifference {
  /** Looks that found it, all with one sign. */
  readonly readings: number
  /** The smallest that they found, signed. 0n before the first. */
  readonly amount: bigint
  /** `sentBefore` at the look that found the smallest. */
  readonly outgoingCount: number
}

/** What one judged look makes of a suspicion. */
export type ReadingVerdict =
  | { readonly kind: 'cleared' }
  /** Look again. */
  | { readonly kind: 'open'; readonly suspicion: SuspectedDifference }
  /** Explained by fees, or confirmed: measured from this baseline from now on. */
  | { readonly kind: 'accepted'; readonly baseline: AcceptedDifference }

/** No look yet. */
export const noSuspicion: SuspectedDifference = { readings: 0, amount: 0n, outgoingCount: 0 }

/** Everything that the books hold. */
export function recordedTotal({ before: settled, receivedWithin: ins, sentWithin: outs }: RecordedBalance): bigint {
  return settled + ins - outs
}

/**
 * What an address holds beyond (or, negative, below) all that the books and the baseline can explain. Within the span
 * each transfer may or may not be in the balance, and a pending one may be money or not: so they explain a range.
 */
export function unexplained(
  held: bigint,
  books: RecordedBalance,
  { fees, confirmed: known }: AcceptedDifference,
): bigint {
  const lowest = books.before - books.sentWithin + fees + known
  const highest = books.before + books.receivedWithin + books.pending + fees + known
  if (held < lowest) return held - lowest
  return held > highest ? held - highest : 0n
}

/**
 * Judges a look once the books reach past everything that it can have seen. A shortfall of TRX that the fees of
 * outgoing transactions can explain is put down to them at once. Anything else must be found `looksNeeded` times.
 */
export function judgeReading(
  {
    held,
    baseline,
    suspicion,
  }: { readonly held: bigint; readonly baseline: AcceptedDifference; readonly suspicion: SuspectedDifference },
  books: RecordedBalance,
  native: boolean,
): ReadingVerdict {
  const found = unexplained(held, books, baseline)
  if (found === 0n) return { kind: 'cleared' }
  // Fees of the span's transactions may be in the balance, so they can explain; or not, so they aren't used up.
  const unpaid = native ? books.outgoingBefore + books.outgoingWithin - baseline.outgoingCount : 0
  if (found < 0n && -found <= BigInt(unpaid) * feeMaxSun) {
    const { fees, confirmed: known, outgoingCount: sent } = baseline
    return {
      kind: 'accepted',
      baseline: { fees: fees + found, outgoingCount: Math.max(sent, books.outgoingBefore), confirmed: known },
    }
  }
  const grown = foundAgain(suspicion, found, native ? books.outgoingBefore : 0)
  if (grown.readings < readingsNeeded) return { kind: 'open', suspicion: grown }
  const { fees, confirmed: known, outgoingCount: sent } = baseline
  return {
    kind: 'accepted',
    baseline: { fees, outgoingCount: Math.max(sent, grown.outgoingCount), confirmed: known + grown.amount },
  }
}

/**
 * The baseline after a look that found no difference, or null where it stays as it is. Where nothing was under way, the
 * fees of all transactions so far are accounted for: allowances for fees must not pile up and hide a loss.
 */
export function acceptedAfterMatch(
  books: RecordedBalance,
  baseline: AcceptedDifference,
  native: boolean,
): AcceptedDifference | null {
  const quiet =
    books.receivedWithin === 0n && books.sentWithin === 0n && books.pending === 0n && books.outgoingWithin === 0
  if (!native || !quiet || books.outgoingBefore <= baseline.outgoingCount) return null
  return { ...baseline, outgoingCount: books.outgoingBefore }
}

function foundAgain(
  { readings: looks, amount, outgoingCount: sent }: SuspectedDifference,
  found: bigint,
  sentNow: number,
): SuspectedDifference {
  const sameSign = looks > 0 && amount < 0n === found < 0n
  if (!sameSign) return { readings: 1, amount: found, outgoingCount: sentNow }
  const smaller = magnitude(found) < magnitude(amount)
  return { readings: looks + 1, amount: smaller ? found : amount, outgoingCount: smaller ? sentNow : sent }
}

/** Without its sign. */
export function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount
}
