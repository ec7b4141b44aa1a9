import { type ReconcileParts, reconcile } from '../reconciliation/reconcile.ts'
import { type ScanParts, scan } from './scan.ts'
import { ensureScanStarted, type ScanStartParts } from './start.ts'

/** What a tick needs. */
export type TickParts = ScanParts & ScanStartParts & ReconcileParts

/**
 * One tick of the cron: starts the scan where it never started, scans, and compares a slice of addresses with the chain
 * where the scan ended caught up. The next tick tries again what failed.
 */
export async function runTick(parts: TickParts): Promise<void> {
  const started = await ensureScanStarted(parts)
  if (!started.ok) {
    parts.logger.warn('scan-not-started', { why: started.error.kind })
    return
  }
  const scanned = await scan(parts, { withUnconfirmed: false })
  if (scanned.kind === 'scanned' && scanned.problem === null) await reconcile(parts)
}
