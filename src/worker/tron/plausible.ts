import { type BlockHeight, blockSeconds } from '../chain/block.ts'
import { aheadMsMax, headSlackBlocks } from './limits.ts'

/** The height of a block and its time in milliseconds. */
interface TimedBlock {
  readonly height: BlockHeight
  readonly timestamp: number
}

/**
 * Why the clock rules a block out: the block is in the future, or it is more blocks above a final
 * one than there were slots since. Null if neither is so. Without this check an invented height
 * would stay for ever, because a stored height never decreases (PROTOCOL.md, Restarts and forks).
 */
export function whyImplausible(block: TimedBlock, final: TimedBlock | null, now: number): string | null {
  const { height, timestamp } = block
  if (timestamp > now + aheadMsMax) return `block ${height} is from the future`
  if (final === null) return null
  const slots = Math.max(now - final.timestamp, 0) / (blockSeconds * 1000)
  if (height - final.height <= slots + headSlackBlocks) return null
  return `block ${height} is more blocks above ${final.height} than there were slots`
}
