import { balancesMax } from '../scan/limits.ts'

// Limits of reconciliation, each with the figure that it stays below (those of the platform: domain/limits.ts).

/** Time from the start of one comparison of all addresses to the start of the next. */
export const runEveryMs = 86_400_000
/** Addresses compared in one slice: one question to a node. A slice a minute is 28,800 addresses a day. */
export const sliceAddressesMax = balancesMax
/** Of those, addresses that are looked at again, so that differences, however many, never stop the run. */
export const looksAgainMax = 10
/** Differences judged in one slice. It costs no question to a node, and a slice finds no more of them. */
export const judgedMax = 40
/**
 * Currencies that get a slice in one tick; each minute begins with another one. A slice is one request to a node and up
 * to 12 D1 statements, beside the scan's 20, and the free plan allows 50 of either.
 */
export const currenciesPerTickMax = 2
/** Looks that must find a difference of one sign before it counts. */
export const looksNeeded = 3
/** Blocks by which the node that shows a balance may lag behind the scan: one minute. */
export const lagBlocks = 20
/**
 * Blocks above the finalized head that a balance may have in it already. `latest` is 18 blocks ahead, the head can be
 * a tick of 25 s old, and a node counts transfers that are yet to be mined: two minutes are left for those.
 */
export const aheadBlocks = 60
/** The highest fee put down to one outgoing transaction, in sun. Usual ones burn less than 30. */
export const feeMaxSun = 200_000_000n

/**
 * What is stored of one address and currency, in chain units, seen from a look whose exact height nobody knows: only
 * that it is within a span of blocks.
 */
export interface Books {
  /** Received less sent, up to the span. Below zero where an address spent what it had before the scan began. */
  readonly settled: bigint
  /** Received within the span. */
  readonly ins: bigint
  /** Sent within the span. */
  readonly outs: bigint
  /** Undecided up to the span's end: TRX that may be worthless TRC-10. */
  readonly pending: bigint
  /** Outgoing movements up to the span. For TRX these are transactions, each of which burnt a fee. */
  readonly sentBefore: number
  /** Outgoing movements within the span. */
  readonly sentWithin: number
}

/** What is accepted of the difference between an address and its books. Zero in everything before anything was. */
export interface Baseline {
  /** TRX put down to fees: zero or less. JSON-RPC shows no fees (fact sheet, R11). */
  readonly fees: bigint
  /** Outgoing transactions whose fees are accounted for. */
  readonly sent: number
  /** The confirmed difference, signed: what the operator was told about. */
  readonly known: bigint
}

/** A difference under examination. */
export interface Suspicion {
  /** Looks that found it, all with one sign. */
  readonly looks: number
  /** The smallest that they found, signed. 0n before the first. */
  readonly amount: bigint
  /** `sentBefore` at the look that found the smallest. */
  readonly sent: number
}

/** What one judged look makes of a suspicion. */
export type Finding =
  | { readonly kind: 'cleared' }
  /** Look again. */
  | { readonly kind: 'open'; readonly suspicion: Suspicion }
  /** Explained by fees, or confirmed: measured from this baseline from now on. */
  | { readonly kind: 'accepted'; readonly baseline: Baseline }

/** No look yet. */
export const unexamined: Suspicion = { looks: 0, amount: 0n, sent: 0 }

/** Everything that the books hold. */
export function recordedIn({ settled, ins, outs }: Books): bigint {
  return settled + ins - outs
}

/**
 * What an address holds beyond (or, negative, below) all that the books and the baseline can explain. Within the span
 * each transfer may or may not be in the balance, and a pending one may be money or not: so they explain a range.
 */
export function unexplained(held: bigint, books: Books, { fees, known }: Baseline): bigint {
  const lowest = books.settled - books.outs + fees + known
  const highest = books.settled + books.ins + books.pending + fees + known
  if (held < lowest) return held - lowest
  return held > highest ? held - highest : 0n
}

/**
 * Judges a look once the books reach past everything that it can have seen. A shortfall of TRX that the fees of
 * outgoing transactions can explain is put down to them at once. Anything else must be found `looksNeeded` times.
 */
export function judgeLook(
  { held, baseline, suspicion }: { readonly held: bigint; readonly baseline: Baseline; readonly suspicion: Suspicion },
  books: Books,
  native: boolean,
): Finding {
  const found = unexplained(held, books, baseline)
  if (found === 0n) return { kind: 'cleared' }
  // Fees of the span's transactions may be in the balance, so they can explain; or not, so they aren't used up.
  const unpaid = native ? books.sentBefore + books.sentWithin - baseline.sent : 0
  if (found < 0n && -found <= BigInt(unpaid) * feeMaxSun) {
    const { fees, known, sent } = baseline
    return { kind: 'accepted', baseline: { fees: fees + found, sent: Math.max(sent, books.sentBefore), known } }
  }
  const grown = foundAgain(suspicion, found, native ? books.sentBefore : 0)
  if (grown.looks < looksNeeded) return { kind: 'open', suspicion: grown }
  const { fees, known, sent } = baseline
  return { kind: 'accepted', baseline: { fees, sent: Math.max(sent, grown.sent), known: known + grown.amount } }
}

/**
 * The baseline after a look that found no difference, or null where it stays as it is. Where nothing was under way, the
 * fees of all transactions so far are accounted for: allowances for fees must not pile up and hide a loss.
 */
export function afterQuietLook(books: Books, baseline: Baseline, native: boolean): Baseline | null {
  const quiet = books.ins === 0n && books.outs === 0n && books.pending === 0n && books.sentWithin === 0
  if (!native || !quiet || books.sentBefore <= baseline.sent) return null
  return { ...baseline, sent: books.sentBefore }
}

function foundAgain({ looks, amount, sent }: Suspicion, found: bigint, sentNow: number): Suspicion {
  const sameSign = looks > 0 && amount < 0n === found < 0n
  if (!sameSign) return { looks: 1, amount: found, sent: sentNow }
  const smaller = magnitude(found) < magnitude(amount)
  return { looks: looks + 1, amount: smaller ? found : amount, sent: smaller ? sentNow : sent }
}

/** Without its sign. */
export function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount
}
