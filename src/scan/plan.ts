import { type BlockHash, type BlockHeight, blockSeconds, type Header } from '../chain/block.ts'
import { readBlocksMax } from '../chain/limits.ts'

/** Which blocks to read next, both ends included. */
export type ScanPlan =
  | { readonly kind: 'caught-up' }
  | { readonly kind: 'read'; readonly from: BlockHeight; readonly to: BlockHeight }

/**
 * A block is final when 19 of the 27 block producers have built on it: 18 blocks later in normal rotation, so
 * `finalized` is `latest` − 18 (java-tron `DposService.java`, read November 2026).
 */
const blocksToFinal = 18

/**
 * The blocks after `position`, in order and without a gap, at most `readBlocksMax` and none above `finalized`. A
 * finalized head below the position (another node, another time) is `caught-up`: the position never goes backwards.
 */
export function planScan(position: BlockHeight, finalized: BlockHeight): ScanPlan {
  if (finalized <= position) return { kind: 'caught-up' }
  const to = Math.min(position + readBlocksMax, finalized)
  return { kind: 'read', from: (position + 1) as BlockHeight, to: to as BlockHeight } // safe: whole numbers above 0
}

/**
 * Whether `block` is the child of the block that was read before it; `previousHash` is null where none was. False for a
 * finalized block means that a node lied or the chain was rewritten: the scan stops, and nothing is undone.
 */
export function isChildOf(previousHash: BlockHash | null, block: Pick<Header, 'parentHash'>): boolean {
  return previousHash === null || block.parentHash === previousHash
}

/**
 * About how many seconds until the block at `height` is final: 0 where it is, else at least one block's time. A guess
 * for people and `Retry-After`: while finality is stalled it is too short.
 */
export function secondsToFinal(height: BlockHeight, finalized: BlockHeight, latest: BlockHeight): number {
  if (height <= finalized) return 0
  const byRotation = height + blocksToFinal + 1 - latest
  const byFinalized = height - finalized + 1 // right where the head is close to final, as on a private chain
  return Math.max(1, Math.min(byRotation, byFinalized)) * blockSeconds
}
