import type { BlockHeight } from '../domain/block.ts'
import type { Deposit, Pending } from '../domain/deposit/deposit.ts'
import type { ChainFailure, QueryFailure } from '../domain/failure.ts'
import type { Uid } from '../domain/flow.ts'
import { err, ok, type Result } from '../domain/result.ts'
import { secondsToFinal } from '../domain/scan-plan.ts'
import type { UnixMs } from '../domain/time.ts'
import type { LedgerReader, ScanState } from '../ports/ledger.ts'
import { type ScanParts, scan } from './scan.ts'

/** How long a call waits for a scan that another call runs. With its own scan before it, within 15 s in all. */
export const waitMs = 12_000
/** First pause between two looks at a running scan; each next one is longer, up to `pollMsMax`. */
export const pollMsMin = 150
/** Longest pause between two looks at a running scan. */
export const pollMsMax = 1_200

/** What a caller learns from "check now". */
export interface RechargeReport {
  /** The caller's deposits credited since the call began, oldest first. */
  readonly credited: readonly Deposit[]
  /** Transfers to the caller that were seen but are not final, and about how long until the last one is. */
  readonly unfinal: { readonly count: number; readonly seconds: number } | null
  /** The caller's deposits that can't be decided yet. */
  readonly pending: readonly Pending[]
  /** Finalized blocks that are not scanned yet. */
  readonly behindBlocks: number
  /** Why the scan did not finish, or null. */
  readonly trouble: ChainFailure['kind'] | 'still-running' | null
}

/** What "check now" needs. */
export interface RechargeParts extends ScanParts {
  readonly reader: LedgerReader
}

/**
 * "Check now" for one caller. However many call at once, one of them scans and the others wait for its end: whoever
 * asked before a scan began is answered by that scan.
 */
export async function recharge(parts: RechargeParts, uid: Uid): Promise<Result<RechargeReport, QueryFailure>> {
  const since = parts.clock.now()
  const { state, running } = await awaitScan(parts, since)
  if (state === null) {
    return ok({ credited: [], unfinal: null, pending: [], behindBlocks: 0, trouble: null })
  }
  const [stored, sightings, pending] = await Promise.all([
    parts.reader.depositsSince(uid, since),
    parts.reader.sightingsOf(uid),
    parts.reader.pendingOf(uid, null),
  ])
  const credited = stored.filter((deposit) => deposit.outcome === 'credited')
  const trouble = running ? 'still-running' : state.trouble
  const unread = trouble === 'no-answer' && state.caughtUpAt < since && credited.length === 0
  if (unread && state.position.height >= state.finalized) return err({ kind: 'chain-unavailable' })
  const unfinal = sightings.filter((sighting) => sighting.block.height > state.position.height)
  // The tail's newest sighting is the best lower bound of the chain's head that is stored.
  const newest = Math.max(0, ...unfinal.map((sighting) => sighting.block.height)) as BlockHeight
  return ok({
    credited,
    unfinal:
      unfinal.length === 0 ? null : { count: unfinal.length, seconds: secondsToFinal(newest, state.finalized, newest) },
    pending,
    behindBlocks: Math.max(0, state.finalized - state.position.height),
    trouble,
  })
}

/** Sees to it that a scan that began at or after `since` has ended, by running it or by waiting for it. */
async function awaitScan(
  parts: RechargeParts,
  since: UnixMs,
): Promise<{ readonly state: ScanState | null; readonly running: boolean }> {
  const giveUpAt = since + waitMs
  let pauseMs = pollMsMin
  for (;;) {
    const state = await parts.reader.scanState()
    if (state === null) return { state, running: false }
    const now = parts.clock.now()
    // A tick's scan doesn't look past the finalized head; one that was caught up is followed by one that does.
    const answered = state.triedAt >= since && (state.tailReadAt >= since || state.trouble !== null)
    if (answered) return { state, running: false }
    if (state.leaseUntil <= now) {
      const report = await scan(parts, { withTail: true })
      if (report.kind !== 'held') return { state: await parts.reader.scanState(), running: false }
    }
    if (parts.clock.now() + pauseMs > giveUpAt) return { state, running: true }
    await parts.clock.sleep(pauseMs * (1 + parts.clock.random() / 2))
    pauseMs = Math.min(pauseMs * 1.6, pollMsMax)
  }
}
