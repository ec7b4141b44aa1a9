import type { Clock } from '../platform/clock.ts'
import type { ScanStore } from './scan-store.ts'

/** The scan is `stopped` when its position has not moved for this long. */
export const stoppedAfterMs = 180_000
/** The scan is `behind` by more than this number of blocks: five minutes' blocks, more than two ticks leave. */
export const behindBlocksMax = 100

/** The health of the scan, from stored state alone. Heights and `behind` are numbers of blocks. */
export interface ScanHealth {
  readonly status: 'ok' | 'behind' | 'stopped'
  readonly scanned: number
  readonly finalized: number
  readonly behind: number
  /** One sentence for people. */
  readonly msg: string
}

/** What reading the health needs. */
export interface ScanHealthParts {
  readonly scanStore: Pick<ScanStore, 'state'>
  readonly clock: Clock
  /** Nodes that must agree. With 1 there is nothing to compare with, and the message says so. */
  readonly quorum: number
}

/** Reads the health of the scan. No node is queried. */
export async function readScanHealth({ scanStore, clock, quorum }: ScanHealthParts): Promise<ScanHealth> {
  const state = await scanStore.state()
  if (state === null) return { status: 'ok', scanned: 0, finalized: 0, behind: 0, msg: 'no scan has started yet' }
  const scanned = state.position.height
  const finalized = Math.max(state.finalized, scanned)
  const behind = finalized - scanned
  const heights = { scanned, finalized, behind }
  if (state.halted !== null) return { ...heights, status: 'stopped', msg: `the scan is halted: ${state.halted}` }
  const stillMs = clock.now() - state.advancedAt
  if (stillMs > stoppedAfterMs) {
    return { ...heights, status: 'stopped', msg: `the scan has not advanced for ${Math.floor(stillMs / 1000)} s` }
  }
  const basis = quorum === 1 ? 'one node is trusted: internal consistency only' : `${quorum} nodes agree`
  if (behind > behindBlocksMax) return { ...heights, status: 'behind', msg: `${behind} blocks behind; ${basis}` }
  return { ...heights, status: 'ok', msg: basis }
}
