import { type BlockHeight, blockSeconds } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'

const blockMs = blockSeconds * 1000
/** A tick that comes just before a block is final is followed by another one, which costs requests. */
const marginMs = 500
/** In a normal rotation the newest final block is 18 blocks behind the newest one (PROTOCOL.md, Finality). */
const finalityBlocks = 18
/** From broadcast to finality in a normal rotation: one block that includes it, 19 that are built on it. */
export const unminedSeconds = 20 * blockSeconds

/** What decides when the next tick comes. */
export interface TickEnd {
  readonly startedAt: UnixMs
  readonly now: UnixMs
  /** `SCAN_EVERY_SECONDS`. */
  readonly everyMs: number
  /** Earliest time for a tick that is not due by the interval, by the allowances of the nodes. */
  readonly roomAt: UnixMs
  /** Whether final blocks are left that can be read at once. */
  readonly isBehind: boolean
  /** The lowest height above the scan with a transfer to a caller, or null. */
  readonly seen: BlockHeight | null
  readonly finalized: BlockHeight
  /** When `finalized` was first known. */
  readonly finalizedAt: UnixMs
}

/**
 * When the next tick comes: when the block of a transfer that was seen should be final, then after each block time until it
 * is; at once while the scan is behind. Neither before the allowances have room, nor later than by the interval.
 */
export function nextTickAt({ startedAt, now, everyMs, roomAt, isBehind, ...end }: TickEnd): UnixMs {
  const byInterval = startedAt + everyMs
  const wanted = isBehind ? now : (finalAt(end, startedAt) ?? byInterval)
  return Math.max(now, Math.min(byInterval, Math.max(wanted, roomAt))) as UnixMs // safe: one of the times
}

/** When the next transfer that was seen should be final, by one final block in each block time. Null where none was seen. */
function finalAt(
  { seen, finalized, finalizedAt }: Pick<TickEnd, 'seen' | 'finalized' | 'finalizedAt'>,
  startedAt: UnixMs,
): number | null {
  if (seen === null) return null
  return Math.max(finalizedAt + (seen - finalized) * blockMs + marginMs, startedAt + blockMs)
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
