import type { UnixMs } from '../common/time.ts'
import { type BlockHeight, blockSeconds } from './block.ts'

/** In a normal rotation the newest final block is 18 blocks behind the newest one (PROTOCOL.md, Finality). */
const finalityBlocks = 18
/** From broadcast to finality in a normal rotation: one block that includes it, 19 that are built on it. */
export const unminedSeconds = 20 * blockSeconds
/** In a normal rotation a block is final when it is this old, in milliseconds. */
export const finalityMs = (finalityBlocks + 1) * blockSeconds * 1000
/** A block that is late by more than this has no estimate: slots that maintenance skips, and a node that is a block behind. */
const overdueSeconds = 3 * blockSeconds

/**
 * About how many seconds until the block at `height` is final: 0 where it is final, otherwise at least one block time. An
 * estimate for people by what nodes show at this moment.
 */
export function secondsToFinal(height: BlockHeight, finalized: BlockHeight, latest: BlockHeight): number {
  if (height <= finalized) return 0
  const byRotation = height + finalityBlocks + 1 - latest
  const byFinalized = height - finalized + 1 // exact where the head is close to final, as on a private chain
  return Math.max(1, Math.min(byRotation, byFinalized)) * blockSeconds
}

/** The newest final block that is known. */
interface KnownFinality {
  readonly finalized: BlockHeight
  /** When it became known. */
  readonly finalizedAt: UnixMs
}

/**
 * About how many seconds are left until the block at `height` is final: 0 where it is, and otherwise at least 1. Null if
 * nobody knows: it should be final by now, and finality has not moved.
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
