import type { Chain } from '../chain/chain.ts'
import { type ReconcileParts, reconcile } from '../reconciliation/reconcile.ts'
import { type ScanParts, scan } from './scan.ts'
import { ensureScanStarted, type ScanStartParts } from './start.ts'
import { type WatchProgressParts, watchProgress } from './watch-progress.ts'

/** What a tick needs. `openReconciliationChain` opens the nodes with the time and requests of reconciliation from then on. */
export type TickParts = ScanParts &
  ScanStartParts &
  Omit<ReconcileParts, 'chain'> &
  WatchProgressParts & { readonly openReconciliationChain: () => Chain }

/**
 * One tick of the cron: starts the scan where it never started, scans, and compares some addresses with the chain, however
 * the scan ended. The next tick tries again what failed, and what lasts raises an alarm.
 */
export async function runTick(parts: TickParts): Promise<void> {
  try {
    await scanAndReconcile(parts)
    parts.alarms.clear('tick-failed', '')
  } catch (thrown) {
    parts.alarms.raise('tick-failed', '', { why: thrown instanceof Error ? thrown.message : String(thrown) })
    throw thrown
  } finally {
    await watchProgress(parts)
  }
}

async function scanAndReconcile(parts: TickParts): Promise<void> {
  const started = await ensureScanStarted(parts)
  if (!started.ok) {
    parts.logger.warn('scan-not-started', { why: started.error.kind })
    return
  }
  await scan(parts, { withUnconfirmed: false })
  await reconcile({ ...parts, chain: parts.openReconciliationChain() })
}
