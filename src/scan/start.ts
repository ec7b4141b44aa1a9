import type { BlockHeight } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { ok, type Result } from '../common/result.ts'
import type { Clock } from '../platform/clock.ts'
import type { ScanStore } from './scan-store.ts'

/** What starting the scan needs. */
export interface ScanStartParts {
  readonly scanStore: Pick<ScanStore, 'state' | 'start'>
  readonly chain: Pick<Chain, 'finalizedHead'>
  readonly clock: Clock
  /** `TRON_START_BLOCK`, or null for the finalized height at the first start. */
  readonly startBlock: BlockHeight | null
}

/**
 * Makes sure that the height from which deposits are looked for is stored: the condition for showing an address
 * ("watch before show"). Fails only where nodes must be queried for that height and none answers.
 */
export async function ensureScanStarted(parts: ScanStartParts): Promise<Result<null, ChainFailure>> {
  const { scanStore, startBlock, clock } = parts
  if ((await scanStore.state()) !== null) return ok(null)
  if (startBlock !== null) {
    await scanStore.start({ height: (startBlock - 1) as BlockHeight, hash: null }, clock.now())
    return ok(null)
  }
  const head = await parts.chain.finalizedHead()
  if (!head.ok) return head
  // The first block to scan is the finalized one, so the position is its parent.
  const height = Math.max(0, head.value.height - 1) as BlockHeight
  const hash = head.value.height === 0 ? null : head.value.parentHash
  await scanStore.start({ height, hash }, clock.now())
  return ok(null)
}
