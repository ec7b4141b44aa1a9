import type { Clock } from '../platform/clock.ts'
import type { ScanState, ScanStore } from './scan-store.ts'

/** The scan is `stopped` when its position has not moved for this long. */
export const stoppedAfterMs = 180_000
/** Highest age of the state that health checks of one isolate share. */
export const sharedHealthMs = 1_000
/** The scan is `behind` by more than this number of blocks: those of five minutes, more than a scan that keeps up leaves. */
export const behindBlocksMax = 100

/** The health of the scan, from stored state alone. Heights and `behind` are numbers of blocks. */
export interface ScanHealth {
  readonly status: 'ok' | 'behind' | 'stopped'
  readonly scanned: number
  readonly finalized: number
  readonly behind: number
  /** What is wrong in one sentence for people, or null. */
  readonly msg: string | null
}

/** What the health checks of one isolate share, so that many of them cause few queries. It can be lost at any time. */
export interface SharedHealth {
  /** Undefined before the first read. */
  state: ScanState | null | undefined
  /** When the newest read began. */
  readAt: number
}

/** What reading the health needs. */
export interface ScanHealthParts {
  readonly scanStore: Pick<ScanStore, 'state'>
  readonly clock: Clock
  readonly sharedHealth: SharedHealth
}

/** Reads the health of the scan. No node is queried, and the database at most once in `sharedHealthMs`. */
export async function readScanHealth(parts: ScanHealthParts): Promise<ScanHealth> {
  const state = await readState(parts)
  if (state === null) return { status: 'stopped', scanned: 0, finalized: 0, behind: 0, msg: 'no scan has started yet' }
  const scanned = state.position.height
  const finalized = Math.max(state.finalized, scanned)
  const behind = finalized - scanned
  const heights = { scanned, finalized, behind }
  if (state.halted !== null) return { ...heights, status: 'stopped', msg: `the scan is halted: ${state.halted}` }
  const stillMs = parts.clock.now() - state.advancedAt
  if (stillMs > stoppedAfterMs) {
    return { ...heights, status: 'stopped', msg: `the scan has not advanced for ${Math.floor(stillMs / 1000)} s` }
  }
  if (behind > behindBlocksMax) return { ...heights, status: 'behind', msg: `${behind} blocks behind` }
  return { ...heights, status: 'ok', msg: null }
}

async function readState({ scanStore, clock, sharedHealth: shared }: ScanHealthParts): Promise<ScanState | null> {
  const now = clock.now()
  // While a read runs, others use the state before it.
  if (shared.state !== undefined && now - shared.readAt < sharedHealthMs) return shared.state
  shared.readAt = now
  const state = await scanStore.state()
  shared.state = state
  return state
}
