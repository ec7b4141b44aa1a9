import type { Alarms } from '../platform/alarms.ts'
import type { Clock } from '../platform/clock.ts'
import type { AlarmKind } from '../platform/logger.ts'
import { stoppedAfterMs } from './health.ts'
import type { Rescans } from './rescans.ts'
import { stallMs } from './scan.ts'
import type { ScanState, ScanStore } from './scan-store.ts'

/** Since when no tick of this isolate could start the scan; null where it has started. */
export interface StartWatch {
  failingSince: number | null
}

/** What the watch over the scan needs. */
export interface WatchProgressParts {
  readonly scanStore: Pick<ScanStore, 'state'>
  readonly clock: Clock
  readonly alarms: Alarms
  readonly startWatch: StartWatch
  /** `TRON_FIRST_INDEX`, or null. */
  readonly firstIndex: number | null
}

/**
 * Raises `scan-stalled` where for three minutes the position has not moved although final blocks are above it, or no
 * node has answered, or the scan could not be started. Clears what is well by the stored state: a scan that is killed right
 * after it was well again must not suppress the next alarm. A tick comes here only where the configuration is that of the data.
 */
export async function watchProgress(parts: WatchProgressParts): Promise<void> {
  const { scanStore, clock, alarms, startWatch, firstIndex } = parts
  const state = await scanStore.state()
  const now = clock.now()
  startWatch.failingSince = state === null ? (startWatch.failingSince ?? now) : null
  const well: AlarmKind[] = ['configuration-differs']
  if (firstIndex !== null) well.push('key-was-used')
  if (state?.halted === null) well.push('chain-forked')
  if (state !== null && now - state.finalizedAt <= stallMs) well.push('finality-stalled')
  const stillSince = state === null ? startWatch.failingSince : stillSinceOf(state)
  if (stillSince === null || now - stillSince <= stoppedAfterMs)
    return await alarms.clearWell([...well, 'scan-stalled'])
  const heights = { scanned: state?.position.height ?? 0, finalized: state?.finalized ?? 0 }
  await alarms.raise('scan-stalled', '', { ...heights, why: state?.problem ?? 'not started' })
  await alarms.clearWell(well)
}

/** Since when the scan stands still; null where it has nothing to scan. */
function stillSinceOf({ position, finalized, problem, advancedAt, caughtUpAt }: ScanState): number | null {
  if (finalized > position.height) return advancedAt
  // Where nothing is known to be above the position, only the end of a scan shows that nodes answer.
  return problem === 'no-answer' ? Math.max(caughtUpAt, advancedAt) : null
}

/** Raises `block-unreadable` while the logs of any stored block could not be read with certainty. */
export async function watchGaps({ rescans, alarms }: WatchGapsParts): Promise<void> {
  const { count, lowest } = await rescans.gaps()
  if (lowest === null) return await alarms.clear('block-unreadable', '')
  await alarms.raise('block-unreadable', '', { blocks: count, lowest })
}

/** What the watch over gaps needs. */
export interface WatchGapsParts {
  readonly rescans: Pick<Rescans, 'gaps'>
  readonly alarms: Alarms
}
