import type { UnixMs } from '../common/time.ts'
import { type BlockHeight, blockSeconds } from './block.ts'

/**
 * While all 27 block producers work, the newest final block is 18 blocks below the newest block
 * (PROTOCOL.md, Finality).
 */
const finalityBlocks = 18
/**
 * Seconds from the broadcast of a transaction to its finality: one block that contains it, and 19
 * that are built on this block.
 */
export const unminedSeconds = 20 * blockSeconds
/** While all block producers work, a block is final when it is this old, in milliseconds. */
export const finalityMs = (finalityBlocks + 1) * blockSeconds * 1000
/**
 * If a block should have been final for longer than this, there is no estimate. Being late by less
 * is normal: the chain skips slots during its maintenance, and a node may be a block behind.
 */
const overdueSeconds = 3 * blockSeconds

/**
 * Estimates the seconds until the block at `height` is final: 0 if it is, otherwise at least one
 * block time. `finalized` and `latest` are the heights of the newest final block and of the newest
 * block, as a node has just shown them. The estimate is for people.
 */
export function secondsToFinal(height: BlockHeight, finalized: BlockHeight, latest: BlockHeight): number {
  if (height <= finalized) return 0
  const byRotation = height + finalityBlocks + 1 - latest
  // the estimate for a private chain, where each block is final at once or soon
  const byFinalized = height - finalized + 1
  return Math.max(1, Math.min(byRotation, byFinalized)) * blockSeconds
}

interface KnownFinality {
  readonly finalized: BlockHeight
  /** When the service learned of `finalized`, the newest final height that it knows. */
  readonly finalizedAt: UnixMs
}

/**
 * Estimates the seconds until the block at `height` is final from stored heights alone: 0 if it is,
 * otherwise at least 1. Null if finality is late: the block should be final by now, but the
 * finalized height has not grown.
 */
export function secondsLeft(
  height: BlockHeight,
  { finalized, finalizedAt }: KnownFinality,
  now: UnixMs,
): number | null {
  if (height <= finalized) return 0
  const left = Math.ceil(secondsToFinal(height, finalized, height) - (now - finalizedAt) / 1000)
  return left < -overdueSeconds ? null : Math.max(1, left)
}
