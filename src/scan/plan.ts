import { type BlockHash, type BlockHeight, blockSeconds, type Header } from '../chain/block.ts'
import { readBlocksMax } from '../chain/limits.ts'

/** Which blocks to read next, both ends included. */
export type ScanPlan =
  | { readonly kind: 'caught-up' }
  | { readonly kind: 'read'; readonly from: BlockHeight; readonly to: BlockHeight }

/** In a normal rotation the newest final block is 18 blocks behind the newest one (PROTOCOL.md, Finality). */
const finalityBlocks = 18

/**
 * The blocks above `position`, in order and without a gap, at most `blocksMax` and none above `finalized`. A finalized
 * head below the position (of another node, at another time) is `caught-up`: the position never decreases.
 */
export function planScan(position: BlockHeight, finalized: BlockHeight, blocksMax = readBlocksMax): ScanPlan {
  if (finalized <= position) return { kind: 'caught-up' }
  const to = Math.min(position + blocksMax, finalized)
  return { kind: 'read', from: (position + 1) as BlockHeight, to: to as BlockHeight } // safe: whole numbers above 0
}

/**
 * Whether `block` is the child of the previous block; `previousHash` is null where none was read. False for a finalized
 * block means that a node lied or that the chain was rewritten: the scan halts, and nothing is undone.
 */
export function isChildOf(previousHash: BlockHash | null, block: Pick<Header, 'parentHash'>): boolean {
  return previousHash === null || block.parentHash === previousHash
}

/**
 * About how many seconds until the block at `height` is final: 0 where it is final, otherwise at least one block time. An
 * estimate for people and `Retry-After`; it is too short while finality is stalled.
 */
export function secondsToFinal(height: BlockHeight, finalized: BlockHeight, latest: BlockHeight): number {
  if (height <= finalized) return 0
  const byRotation = height + finalityBlocks + 1 - latest
  const byFinalized = height - finalized + 1 // exact where the head is close to final, as on a private chain
  return Math.max(1, Math.min(byRotation, byFinalized)) * blockSeconds
}
