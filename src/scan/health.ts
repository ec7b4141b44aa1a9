import type { ChainFacts } from '../chain/chain.ts'
import type { LedgerReader } from '../ledger/ledger-store.ts'
import type { Clock } from '../platform/clock.ts'

/** The scan counts as standing still when its position did not move for this long (contract, section 6). */
export const stoppedAfterMs = 180_000
/** Blocks that the scan may be behind between two ticks of the cron: five minutes' blocks. */
export const behindBlocksMax = 100

/** How the scan is, from stored state alone. Heights and `behind` are numbers of blocks. */
export interface ScanHealth {
  readonly status: 'ok' | 'behind' | 'stopped'
  readonly scanned: number
  readonly finalized: number
  readonly behind: number
  /** False where a load balancer or a pager should act: answered as 503. */
  readonly healthy: boolean
  /** One sentence for people. */
  readonly msg: string
}

/** What reading the health needs. */
export interface ScanHealthParts {
  readonly reader: Pick<LedgerReader, 'scanState'>
  readonly clock: Clock
  readonly facts: ChainFacts
}

/** Reads how the scan is. No node is asked. */
export async function readScanHealth({ reader, clock, facts }: ScanHealthParts): Promise<ScanHealth> {
  const state = await reader.scanState()
  if (state === null) {
    return { status: 'ok', scanned: 0, finalized: 0, behind: 0, healthy: true, msg: 'no scan has started yet' }
  }
  const scanned = state.position.height
  const finalized = Math.max(state.finalized, scanned)
  const behind = finalized - scanned
  const where = { scanned, finalized, behind }
  if (state.halted !== null) {
    return { ...where, status: 'stopped', healthy: false, msg: `the scan can't go on: ${state.halted}` }
  }
  const standstill = clock.now() - state.advancedAt
  if (standstill > stoppedAfterMs) {
    const msg = `the scan has not advanced for ${Math.floor(standstill / 1000)} s`
    return { ...where, status: 'stopped', healthy: false, msg }
  }
  // With one node there is nobody to compare with: whoever reads this should know what the answer rests on.
  const basis = facts.quorum === 1 ? 'one node is trusted: internal consistency only' : `${facts.quorum} nodes agree`
  const msg = behind > behindBlocksMax ? `${behind} blocks behind; ${basis}` : basis
  return { ...where, status: behind > behindBlocksMax ? 'behind' : 'ok', healthy: true, msg }
}
