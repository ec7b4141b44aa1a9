import { standstillMs } from '../alarms/alarms.ts'
import { blockSeconds } from '../chain/block.ts'
import { finalityMs } from '../chain/finality.ts'
import type { UnixMs } from '../common/time.ts'
import type { ScanState } from './store/position.ts'

/**
 * The scan is `behind` if more final blocks than this are unread: five minutes of blocks, more than
 * a healthy scan leaves.
 */
export const behindBlocksMax = 100

/**
 * If the newest known final block is older than this, newer ones must be final by now:
 * `finalityMs`, plus a minute between two scans, plus ten seconds for a scan.
 */
export const oldFinalMs = finalityMs + 70_000

/**
 * The health of the scan, from stored state alone. `msg` is one sentence for people about what is
 * wrong.
 */
export type ScanHealth = ScanHeights &
  (
    | { readonly status: 'ok'; readonly msg: null }
    | { readonly status: 'behind'; readonly msg: string }
    | {
        readonly status: 'stopped'
        readonly reason: 'scan-not-started' | 'chain-forked' | 'scan-stalled'
        readonly msg: string
      }
  )

/**
 * `scanned` and `finalized` are heights: of the newest block that the scan has stored, and of the
 * newest known final block.
 */
interface ScanHeights {
  readonly scanned: number
  readonly finalized: number
  /**
   * Final blocks that are not read. Those that no node has shown yet are estimated from the clock.
   */
  readonly behind: number
  /** The timestamp of block `finalized`; null if it is not known. */
  readonly finalizedTime: UnixMs | null
}

/**
 * The health of a scan in this state. A scan that was never started (null), or has not ended once,
 * is `stopped` with `scan-not-started`.
 */
export function healthOf(state: ScanState | null, now: UnixMs): ScanHealth {
  const notStarted = { status: 'stopped', reason: 'scan-not-started', msg: 'no scan has started yet' } as const
  if (state === null) return { scanned: 0, finalized: 0, behind: 0, finalizedTime: null, ...notStarted }
  const scanned = state.height
  const finalized = Math.max(state.finalized, scanned)
  const finalizedTime = state.finalized >= scanned && state.finalizedTime > 0 ? state.finalizedTime : null
  const ageMs = finalizedTime === null ? 0 : now - finalizedTime
  const isOld = ageMs > oldFinalMs
  const unknown = isOld ? Math.floor((ageMs - finalityMs) / (blockSeconds * 1000)) : 0
  const behind = finalized - scanned + unknown
  const heights = { scanned, finalized, behind, finalizedTime }
  if (state.triedAt === 0) return { ...heights, ...notStarted }
  if (state.halted !== null) {
    const msg = `the scan is halted: ${state.halted}`
    return { ...heights, status: 'stopped', reason: 'chain-forked', msg }
  }
  const stillMs = now - state.advancedAt
  if (stillMs > standstillMs) {
    const msg = `the scan has not advanced for ${Math.floor(stillMs / 1000)} s`
    return { ...heights, status: 'stopped', reason: 'scan-stalled', msg }
  }
  if (isOld) {
    const msg = `the newest final block that is known is ${Math.floor(ageMs / 1000)} s old`
    return { ...heights, status: 'behind', msg }
  }
  if (behind > behindBlocksMax) return { ...heights, status: 'behind', msg: `${behind} blocks behind` }
  return { ...heights, status: 'ok', msg: null }
}
