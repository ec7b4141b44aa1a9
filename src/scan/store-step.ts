import type { Block } from '../chain/block.ts'
import { type FindTransfersParts, findOwnedTransfers } from '../deposits/detect-transfers.ts'
import { toPending } from '../deposits/verify-deposit.ts'
import type { Clock } from '../platform/clock.ts'
import type { ScanPosition, ScanStore } from './scan-store.ts'

/** What storing a step needs. */
export interface StoreStepParts extends FindTransfersParts {
  readonly scanStore: Pick<ScanStore, 'append'>
  readonly clock: Clock
  /** Unique name of this invocation's lease. */
  readonly lease: string
}

/**
 * Stores all candidates of the blocks with the position in one batch. No node is asked about a single candidate before: so no
 * block, however full, and no sender, however busy, delays the position. A block whose logs could not be read with
 * certainty is put aside as a gap.
 * @returns the new position, or null where another scan moved it or the lease is lost
 */
export async function storeStep(
  parts: StoreStepParts,
  position: ScanPosition,
  blocks: readonly Block[],
): Promise<ScanPosition | null> {
  const to = blocks.at(-1)
  if (to === undefined) return position
  const { candidates, movements } = await findOwnedTransfers(parts, blocks)
  const appended = await parts.scanStore.append({
    after: position.height,
    to,
    finalized: to.height,
    candidates: candidates.map((owned) => toPending(owned, 'queued')),
    movements,
    unreadable: blocks.flatMap(({ height, logs }) => (logs === null ? [height] : [])),
    lease: parts.lease,
    at: parts.clock.now(),
  })
  return appended === 'superseded' ? null : { height: to.height, hash: to.hash }
}
