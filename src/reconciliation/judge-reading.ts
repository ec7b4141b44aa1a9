import { balancesMax } from '../chain/limits.ts'

// Limits of reconciliation, each with its reason.

/** Least time from the start of one run over all addresses to the start of the next, in milliseconds. */
export const runIntervalMs = 86_400_000
/** Addresses compared in one slice: one balance query. */
export const sliceAddressesMax = balancesMax
/**
 * Slices of one tick, of all currencies together: 288,000 addresses a day, each in one currency. A slice takes one node
 * request and up to 16 of the 1,000 D1 statements that an invocation may make.
 */
export const slicesPerTickMax = 10
/** Addresses of a slice that can be read again: with any number of open differences, the run still makes progress. */
export const rereadingsMax = 10
/** Addresses of a slice that are left to the run: with any number of moved addresses, it still makes progress. */
export const runAddressesMin = 4
/** Readings judged in one slice. Judging needs no node, and a slice makes no more readings than this. */
export const judgedPerSliceMax = 40
/**
 * How long the lease lasts, in milliseconds: longer than a tick may spend on the nodes of reconciliation, so that only the
 * lease of a killed or very slow tick is taken over.
 */
export const reconciliationLeaseMs = 40_000
/**
 * Final blocks above the scan from which on nothing is compared. A reading is judged once the scan has passed it, so
 * during a long catch-up each address with a transfer in those blocks would have an open difference.
 */
export const unscannedBlocksMax = 60
/** Readings that must find a difference, all with the same sign, before it is confirmed. */
export const readingsNeeded = 3
/** Blocks by which the node that returns a balance may be behind the scan: one minute. */
export const readingLagBlocks = 20
/**
 * Blocks above the finalized head that a balance may include, besides those made since that head was stored. `latest` is
 * 18 blocks ahead (PROTOCOL.md, Finality), and a balance includes transfers that are not mined yet (PROTOCOL.md,
 * Balances): that leaves two minutes for those.
 */
export const readingAheadBlocks = 60
/** The highest fee that one outgoing transaction can explain, in sun. Usual transactions burn less than 30 TRX. */
export const feeMaxSun = 200_000_000n

/**
 * What the database has of one address and currency, in chain units, relative to a balance reading. The exact height of a
 * reading is unknown: it is within a span of blocks.
 */
export interface RecordedBalance {
  /** Received minus sent, up to the span. Negative where an address spent what it received before the scan's start. */
  readonly before: bigint
  /** Received within the span. */
  readonly receivedWithin: bigint
  /** Sent within the span. */
  readonly sentWithin: bigint
  /** Pending up to the span's end: it can turn out to be money or worthless. */
  readonly pending: bigint
  /** Outgoing movements up to the span. For TRX these are transactions, and each of them burnt a fee. */
  readonly outgoingBefore: number
  /** Outgoing movements within the span. */
  readonly outgoingWithin: number
}

/** The part of an address's difference that is explained or confirmed. All zero at first. */
export interface AcceptedDifference {
  /** TRX that is explained by fees: zero or negative. JSON-RPC shows no fees (PROTOCOL.md, Transactions). */
  readonly fees: bigint
  /** Outgoing transactions whose fees are accounted for. */
  readonly outgoingCount: number
  /** The confirmed difference, with its sign. It is reported to the operator. */
  readonly confirmed: bigint
}

/** A difference that is not confirmed yet. */
export interface SuspectedDifference {
  /** Readings that found it, all with the same sign. */
  readonly readings: number
  /** The smallest amount that they found, with its sign. 0n before the first. */
  readonly amount: bigint
  /** `outgoingBefore` of the reading that found the smallest amount. */
  readonly outgoingCount: number
}

/** What a judged reading changes. */
export type ReadingVerdict =
  | { readonly kind: 'cleared' }
  /** Another reading is needed. */
  | { readonly kind: 'open'; readonly suspicion: SuspectedDifference }
  /** Explained by fees, or confirmed. Later differences are measured from here. */
  | { readonly kind: 'accepted'; readonly accepted: AcceptedDifference }

/** No reading found a difference yet. */
export const noSuspicion: SuspectedDifference = { readings: 0, amount: 0n, outgoingCount: 0 }

/** Everything that is recorded of an address, except for what is pending. */
export function recordedTotal({ before, receivedWithin, sentWithin }: RecordedBalance): bigint {
  return before + receivedWithin - sentWithin
}

/**
 * How far a balance is above (or, negative, below) all that the records and the accepted difference can explain. Within
 * the span each transfer may or may not be included, and a pending one may be money or not, so they explain a range.
 */
export function unexplained(balance: bigint, recorded: RecordedBalance, accepted: AcceptedDifference): bigint {
  const expected = recorded.before + accepted.fees + accepted.confirmed
  const lowest = expected - recorded.sentWithin
  const highest = expected + recorded.receivedWithin + recorded.pending
  if (balance < lowest) return balance - lowest
  return balance > highest ? balance - highest : 0n
}

/**
 * Judges a reading once the scan has passed every block that it can include. A shortfall of TRX that fees of outgoing
 * transactions can explain is accepted at once. Any other difference must be found `readingsNeeded` times.
 */
export function judgeReading(
  balance: bigint,
  recorded: RecordedBalance,
  accepted: AcceptedDifference,
  suspicion: SuspectedDifference,
  native: boolean,
): ReadingVerdict {
  const found = unexplained(balance, recorded, accepted)
  if (found === 0n) return { kind: 'cleared' }
  // Transactions within the span may have paid their fee already or not: they can explain, but are not used up.
  const outgoing = native ? recorded.outgoingBefore + recorded.outgoingWithin : 0
  const feesMax = (count: number) => BigInt(count) * feeMaxSun
  const isPayable = -found <= feesMax(outgoing - accepted.outgoingCount) && -found - accepted.fees <= feesMax(outgoing)
  if (found < 0n && isPayable) {
    // While money is under way `found` is only a part of the fees: the rest must stay explainable.
    const outgoingCount = isUnderWay(recorded)
      ? accepted.outgoingCount
      : Math.max(accepted.outgoingCount, recorded.outgoingBefore)
    return { kind: 'accepted', accepted: { ...accepted, fees: accepted.fees + found, outgoingCount } }
  }
  const suspected = addReading(suspicion, found, native ? recorded.outgoingBefore : 0)
  if (suspected.readings < readingsNeeded) return { kind: 'open', suspicion: suspected }
  const outgoingCount = Math.max(accepted.outgoingCount, suspected.outgoingCount)
  return {
    kind: 'accepted',
    accepted: { ...accepted, outgoingCount, confirmed: accepted.confirmed + suspected.amount },
  }
}

/**
 * The accepted difference after a reading without a difference, or null where it is unchanged. Where nothing was under way,
 * the fees of all transactions so far are accounted for: unused fees must not add up and hide a loss.
 */
export function acceptedAfterMatch(
  recorded: RecordedBalance,
  accepted: AcceptedDifference,
  native: boolean,
): AcceptedDifference | null {
  const { outgoingBefore } = recorded
  if (!native || isUnderWay(recorded) || outgoingBefore <= accepted.outgoingCount) return null
  return { ...accepted, outgoingCount: outgoingBefore }
}

function isUnderWay({ receivedWithin, sentWithin, pending, outgoingWithin }: RecordedBalance): boolean {
  return receivedWithin !== 0n || sentWithin !== 0n || pending !== 0n || outgoingWithin !== 0
}

function addReading(suspicion: SuspectedDifference, found: bigint, outgoingCount: number): SuspectedDifference {
  const { readings, amount } = suspicion
  const sameSign = readings > 0 && amount < 0n === found < 0n
  if (!sameSign) return { readings: 1, amount: found, outgoingCount }
  const smaller = magnitude(found) < magnitude(amount)
  return smaller ? { readings: readings + 1, amount: found, outgoingCount } : { ...suspicion, readings: readings + 1 }
}

/** An amount without its sign. */
export function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount
}
