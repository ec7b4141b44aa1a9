import type { Chain } from '../chain/chain.ts'
import { type ReconcileParts, reconcile } from '../reconciliation/reconcile.ts'
import { type RescanParts, readAgain } from './rescan.ts'
import { type ScanParts, scan } from './scan.ts'
import { ensureScanStarted, type ScanStartParts } from './start.ts'
import { type WatchGapsParts, type WatchProgressParts, watchGaps, watchProgress } from './watch-progress.ts'

/** What a tick needs. `openReconciliationChain` opens the nodes with the time and requests of reconciliation from then on. */
export type TickParts = ScanParts &
  ScanStartParts &
  RescanParts &
  Omit<ReconcileParts, 'chain'> &
  WatchProgressParts &
  WatchGapsParts & {
    /** Whether the configuration has the meaning of the stored data: otherwise a tick changes nothing. */
    readonly hasStoredMeaning: () => Promise<boolean>
    readonly openReconciliationChain: () => Chain
  }

/**
 * One tick of the cron: starts the scan where it never started, scans, reads gaps again, and compares some addresses with the
 * chain, however the scan ended. The next tick tries again what failed, and what lasts raises an alarm.
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
  await readAgain(parts)
  await reconcile({ ...parts, chain: parts.openReconciliationChain() })
}
