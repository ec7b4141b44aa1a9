import type { Chain } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { EventStore } from '../events/event-store.ts'
import { type ReconcileParts, reconcile } from '../reconciliation/reconcile.ts'
import { type RescanParts, readAgain } from './rescan.ts'
import { type ScanParts, scan } from './scan.ts'
import { ensureScanStarted, type ScanStartParts } from './start.ts'
import { type WatchGapsParts, type WatchProgressParts, watchGaps, watchProgress } from './watch-progress.ts'

/** Old events that are removed in a minute: more than a busy service stores in one. */
const removedMax = 500
const dayMs = 86_400_000

/** What a tick needs. `openReconciliationChain` opens the nodes with the time and requests of reconciliation from then on. */
export type TickParts = ScanParts &
  ScanStartParts &
  RescanParts &
  Omit<ReconcileParts, 'chain'> &
  WatchProgressParts &
  WatchGapsParts & {
    readonly events: Pick<EventStore, 'removeOld'>
    readonly eventsKeepDays: number
    /** Whether it also does what is done once in a minute. */
    readonly isLast: boolean
    /** Whether the configuration has the meaning of the stored data: otherwise a tick changes nothing. */
    readonly hasStoredMeaning: () => Promise<boolean>
    readonly openReconciliationChain: () => Chain
  }

/**
 * One tick: starts the scan where it never started, and scans. The last one of a minute, which delays no other, also reads gaps
 * again, compares some addresses with the chain, however the scan ended, and removes old events. The next tick tries again what
 * failed, and what lasts raises an alarm.
 */
export async function runTick(parts: TickParts): Promise<void> {
  try {
    if (!(await parts.hasStoredMeaning())) return
    await scanAndWatch(parts)
    await parts.alarms.clear('tick-failed', '')
  } catch (thrown) {
    await parts.alarms.raise('tick-failed', '', { why: thrown instanceof Error ? thrown.message : String(thrown) })
    throw thrown
  }
}

async function scanAndWatch(parts: TickParts): Promise<void> {
  try {
    await scanAndReconcile(parts)
  } finally {
    await watchProgress(parts)
    await watchGaps(parts)
  }
}

async function scanAndReconcile(parts: TickParts): Promise<void> {
  const started = await ensureScanStarted(parts)
  if (!started.ok) {
    parts.logger.warn('scan-not-started', { why: started.error.kind })
    return
  }
  await scan(parts, null)
  if (!parts.isLast) return
  await readAgain(parts)
  await reconcile({ ...parts, chain: parts.openReconciliationChain() })
  const keptSince = (parts.clock.now() - parts.eventsKeepDays * dayMs) as UnixMs // safe: an earlier time
  await parts.events.removeOld(keptSince, removedMax)
}
