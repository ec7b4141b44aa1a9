import type { Alarms } from '../platform/alarms.ts'
import type { Clock } from '../platform/clock.ts'
import { stoppedAfterMs } from './health.ts'
import type { Rescans } from './rescans.ts'
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
}

/**
 * Raises `scan-stalled` where for three minutes the position has not moved although final blocks are above it, or no
 * node has answered, or the scan could not be started.
 */
export async function watchProgress({ scanStore, clock, alarms, startWatch }: WatchProgressParts): Promise<void> {
  const state = await scanStore.state()
  const now = clock.now()
  startWatch.failingSince = state === null ? (startWatch.failingSince ?? now) : null
  const scanned = state?.position.height ?? 0
  const finalized = state?.finalized ?? 0
  if (state !== null && finalized <= scanned && state.problem !== 'no-answer')
    return await alarms.clear('scan-stalled', '')
  // Where nothing is known to be above the position, only the end of a scan shows that nodes answer.
  const movedAt =
    state === null ? startWatch.failingSince : finalized > scanned ? state.advancedAt : lastAnswerAt(state)
  if (now - (movedAt ?? now) <= stoppedAfterMs) return await alarms.clear('scan-stalled', '')
  await alarms.raise('scan-stalled', '', { scanned, finalized, why: state?.problem ?? 'not started' })
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

function lastAnswerAt({ caughtUpAt, advancedAt }: ScanState): number {
  return Math.max(caughtUpAt, advancedAt)
}
