import type { UnixMs } from '../common/time.ts'
import { type BlockHeight, blockSeconds } from './block.ts'

/** In a normal rotation the newest final block is 18 blocks behind the newest one (PROTOCOL.md, Finality). */
const finalityBlocks = 18
/** From broadcast to finality in a normal rotation: one block that includes it, 19 that are built on it. */
export const unminedSeconds = 20 * blockSeconds
/** In a normal rotation a block is final when it is this old, in milliseconds. */
export const finalityMs = (finalityBlocks + 1) * blockSeconds * 1000
/** A block that is late by more than this gets no estimate. The slack covers slots that maintenance skips, and a node that is a block behind. */
const overdueSeconds = 3 * blockSeconds

/**
 * Estimated seconds until the block at `height` is final: 0 if it is, otherwise at least one block time. The estimate is for people and uses what nodes show
 * now.
 */
export function secondsToFinal(height: BlockHeight, finalized: BlockHeight, latest: BlockHeight): number {
  if (height <= finalized) return 0
  const byRotation = height + finalityBlocks + 1 - latest
  const byFinalized = height - finalized + 1 // exact if the head is close to final, as on a private chain
  return Math.max(1, Math.min(byRotation, byFinalized)) * blockSeconds
}

/** The newest known final block. */
interface KnownFinality {
  readonly finalized: BlockHeight
  /** When it became known. */
  readonly finalizedAt: UnixMs
}

/**
 * Estimated seconds left until the block at `height` is final: 0 if it is, otherwise at least 1. Null if nobody knows: it should be final by now, but finality
 * has not moved.
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
