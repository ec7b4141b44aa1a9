import type { BlockHeight } from '../chain/block.ts'
import type { ChainFailure } from '../chain/failure.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Pending } from '../deposits/deposit.ts'
import type { Uid } from '../ledger/entry.ts'
import type { LedgerReader, ScanState, WalletBalance } from '../ledger/ledger-store.ts'
import { secondsToFinal } from './plan.ts'
import { leaseMs, type ScanParts, scan } from './scan.ts'

/** How long a call waits for a scan that another call runs. With its own scan before it, within 15 s in all. */
export const scanWaitMs = 12_000
/** First pause between two looks at a running scan; each next one is longer, up to `pollMsMax`. */
export const pollMsMin = 150
/** Longest pause between two looks at a running scan. */
export const pollMsMax = 1_200

/** What a caller learns from "check now". */
export interface CheckNowReport {
  /** What was credited to the caller since the call began, in each currency that had something. */
  readonly credited: readonly WalletBalance[]
  /** Transfers to the caller that were seen but are not final, and about how long until the last one is. */
  readonly unconfirmed: { readonly count: number; readonly seconds: number } | null
  /** The caller's deposits that can't be decided yet. */
  readonly pending: readonly Pending[]
  /** Finalized blocks that are not scanned yet. */
  readonly behindBlocks: number
  /** Why the scan did not finish, or null. */
  readonly problem: ChainFailure['kind'] | 'still-running' | null
}

/** What "check now" needs. */
export interface CheckNowParts extends ScanParts {
  readonly reader: LedgerReader
  readonly shared: SharedScanState
}

/**
 * "Check now" for one caller. However many call at once, one of them scans and the others wait for its end: whoever
 * asked before a scan began is answered by that scan.
 */
export async function checkNow(parts: CheckNowParts, uid: Uid): Promise<Result<CheckNowReport, QueryFailure>> {
  const since = parts.clock.now()
  const { state, running } = await awaitScan(parts, since)
  if (state === null) {
    return ok({ credited: [], unconfirmed: null, pending: [], behindBlocks: 0, problem: null })
  }
  const [credited, sightings, pending] = await Promise.all([
    parts.reader.creditedSince(uid, since),
    parts.reader.sightingsOf(uid),
    parts.reader.pendingOf(uid, null),
  ])
  const problem = running ? 'still-running' : state.problem
  const unread = problem === 'no-answer' && state.caughtUpAt < since && credited.length === 0
  if (unread && state.position.height >= state.finalized) return err({ kind: 'chain-unavailable' })
  const unconfirmed = sightings.filter((sighting) => sighting.block.height > state.position.height)
  // The tail's newest sighting is the best lower bound of the chain's head that is stored.
  const newest = Math.max(0, ...unconfirmed.map((sighting) => sighting.block.height)) as BlockHeight
  return ok({
    credited,
    unconfirmed:
      unconfirmed.length === 0
        ? null
        : { count: unconfirmed.length, seconds: secondsToFinal(newest, state.finalized, newest) },
    pending,
    behindBlocks: Math.max(0, state.finalized - state.position.height),
    problem,
  })
}

/** How old another call's look at the scan's state may be to be shared: a fraction of the shortest pause. */
export const sharedStateMs = 100

/**
 * What the calls of one isolate know together about the running scan, so that a thousand of them waiting for it don't
 * ask the database a thousand times each. Plain values, free to be lost; what is true stands in the database.
 */
export interface SharedScanState {
  state: ScanState | null
  /** When `state` was asked for. */
  lookedAt: number
  /** Until when a scan of this isolate is counted on, 0 where none runs; a killed one is not waited for longer. */
  scanningUntil: number
}

/** A watch that knows nothing yet. Whoever makes it keeps it for the isolate's life. */
export function createSharedScanState(): SharedScanState {
  return { state: null, lookedAt: 0, scanningUntil: 0 }
}

/** Sees to it that a scan that began at or after `since` has ended, by running it or by waiting for it. */
async function awaitScan(
  parts: CheckNowParts,
  since: UnixMs,
): Promise<{ readonly state: ScanState | null; readonly running: boolean }> {
  const { clock, shared: watch } = parts
  const giveUpAt = since + scanWaitMs
  let pauseMs = pollMsMin
  for (;;) {
    const isOthers = clock.now() < watch.scanningUntil || clock.now() - watch.lookedAt < sharedStateMs
    const state = isOthers ? watch.state : await look(parts)
    if (state === null && !isOthers) return { state, running: false }
    // A tick's scan doesn't look past the finalized head; one that was caught up is followed by one that does.
    const answered =
      state !== null && state.triedAt >= since && (state.unconfirmedReadAt >= since || state.problem !== null)
    if (answered) return { state, running: false }
    if (state !== null && state.leaseUntil <= clock.now() && watch.scanningUntil <= clock.now()) {
      if (await scanOnce(parts)) {
        const after = await look(parts)
        // A scan that was held up until its lease was lost has no end of its own to tell of: another one runs.
        return { state: after, running: after !== null && after.triedAt < since }
      }
    }
    if (clock.now() + pauseMs > giveUpAt) return { state: state ?? (await look(parts)), running: true }
    await clock.sleep(pauseMs * (1 + clock.random() / 2))
    pauseMs = Math.min(pauseMs * 1.6, pollMsMax)
  }
}

async function look({ reader, clock, shared: watch }: CheckNowParts): Promise<ScanState | null> {
  watch.lookedAt = clock.now()
  watch.state = await reader.scanState()
  return watch.state
}

/** Scans, unless somebody else holds the lease: false then. */
async function scanOnce(parts: CheckNowParts): Promise<boolean> {
  const { shared: watch, clock } = parts
  watch.scanningUntil = clock.now() + leaseMs
  try {
    return (await scan(parts, { withTail: true })).kind !== 'held'
  } finally {
    watch.scanningUntil = 0
  }
}
