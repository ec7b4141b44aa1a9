import type { BlockHeight } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { ok, type Result } from '../common/result.ts'
import type { LedgerReader, LedgerWriter } from '../ledger/ledger-store.ts'
import type { Clock } from '../platform/clock.ts'

/** What starting needs. */
export interface ScanStartParts {
  readonly reader: LedgerReader
  readonly starter: Pick<LedgerWriter, 'start'>
  readonly chain: Pick<Chain, 'finalizedHead'>
  readonly clock: Clock
  /** `TRON_START_BLOCK`, or null for the finalized height when first asked. */
  readonly startBlock: BlockHeight | null
}

/**
 * Makes sure that the height from which deposits are looked for is stored: the condition for showing an address
 * ("watch before show", section 2 of the contract). Fails only where that height must be asked of nodes and they
 * don't answer.
 */
export async function ensureScanStarted(parts: ScanStartParts): Promise<Result<null, ChainFailure>> {
  if ((await parts.reader.scanState()) !== null) return ok(null)
  if (parts.startBlock !== null) {
    await parts.starter.start({ height: (parts.startBlock - 1) as BlockHeight, hash: null }, parts.clock.now())
    return ok(null)
  }
  const head = await parts.chain.finalizedHead()
  if (!head.ok) return head
  // The first block to scan is the finalized one, so the position is its parent.
  const height = Math.max(0, head.value.height - 1) as BlockHeight
  const hash = head.value.height === 0 ? null : head.value.parentHash
  await parts.starter.start({ height, hash }, parts.clock.now())
  return ok(null)
}
