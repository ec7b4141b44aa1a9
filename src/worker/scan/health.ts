import { blockSeconds } from '../chain/block.ts'
import { finalityMs } from '../chain/finality.ts'
import type { UnixMs } from '../common/time.ts'
import type { ReadContext } from '../ledger/context.ts'
import { readShared, type SharedRead } from '../platform/shared-read.ts'
import { type ScanState, selectScan } from './store/position.ts'

/** The scan is `stopped` when its position has not moved for this long. */
export const stoppedAfterMs = 180_000
/** The scan is `behind` by more than this number of blocks: those of five minutes, more than a scan that keeps up leaves. */
export const behindBlocksMax = 100

/**
 * If the newest final block that is known is older than this, newer ones are final. It is older than `finalityMs` by the
 * longest time between two scans, and by ten seconds for a scan.
 */
export const oldFinalMs = finalityMs + 70_000

/** The health of the scan, from stored state alone. `msg` says what is wrong in one sentence for people. */
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

/** Heights and `behind` are numbers of blocks. */
interface ScanHeights {
  readonly scanned: number
  readonly finalized: number
  /** Final blocks that are not read. Those that no node has shown are counted by the clock. */
  readonly behind: number
  /** The time of block `finalized` on the chain; null where it is not known. */
  readonly finalizedTime: UnixMs | null
}

/** What the health checks of one isolate share. */
export type SharedHealth = SharedRead<ScanState | null>

/** The health of the scan in this state, which is null before it was started. It is not known before the first scan has ended. */
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
  if (stillMs > stoppedAfterMs) {
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

/** Reads the state of the scan. No node is queried, and the database at most once in `sharedReadMs`. */
export function readScanState(
  { db, clock }: Pick<ReadContext, 'db' | 'clock'>,
  shared: SharedHealth,
): Promise<ScanState | null> {
  return readShared(shared, clock, () => selectScan(db))
}
