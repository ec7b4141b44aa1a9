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

/** What a tick needs. */
export type TickParts = ScanParts &
  ScanStartParts &
  RescanParts &
  ReconcileParts &
  WatchProgressParts &
  WatchGapsParts & {
    readonly events: Pick<EventStore, 'removeOld'>
    readonly eventsKeepDays: number
    /** Whether it also does what is done once in a minute. */
    readonly isFirst: boolean
    /** Whether the configuration has the meaning of the stored data: otherwise a tick changes nothing. */
    readonly hasStoredMeaning: () => Promise<boolean>
  }

/**
 * One tick: starts the scan where it never started, and scans. The first one of a minute also reads gaps again, compares a slice
 * of addresses with the chain where the scan ended caught up, and removes old events. The next tick tries again what failed, and
 * what lasts raises an alarm.
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
  const scanned = await scan(parts, null)
  if (!parts.isFirst) return
  await readAgain(parts)
  if (scanned.kind === 'scanned' && scanned.problem === null) await reconcile(parts)
  const keptSince = (parts.clock.now() - parts.eventsKeepDays * dayMs) as UnixMs // safe: an earlier time
  await parts.events.removeOld(keptSince, removedMax)
}
