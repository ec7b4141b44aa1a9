import type { BlockHeight } from '../chain/block.ts'
import type { RescanId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { Movement, Pending } from '../deposits/deposit.ts'

/** `gap`: one block that the scan could not read with certainty. `request`: a range that an operator wants to be read again. */
export type RescanKind = 'gap' | 'request'

/** A range of stored blocks that is read again. Both ends are included. */
export interface Rescan {
  readonly id: RescanId
  readonly kind: RescanKind
  /** The next block to read. */
  readonly next: BlockHeight
  readonly to: BlockHeight
}

/** What one read of a rescan found. */
export interface RescanStep {
  readonly id: RescanId
  /** The next block to read: above `to` where the rescan is finished. */
  readonly next: BlockHeight
  readonly nextTry: UnixMs
  readonly candidates: readonly Pending[]
  readonly movements: readonly Movement[]
  /** Blocks that could not be read with certainty: each becomes a gap. */
  readonly unreadable: readonly BlockHeight[]
  readonly at: UnixMs
}

/** Ranges that are read again. Each method is one batch that commits whole or not at all. */
export interface Rescans {
  /** The unfinished rescan that has been due longest, or null. */
  due(at: UnixMs): Promise<Rescan | null>
  /** Stores what a read found, and how far the rescan is. Known candidates and movements are left unchanged. */
  record(step: RescanStep): Promise<void>
  /** How many blocks are gaps, and the lowest of them (null where there is none). */
  gaps(): Promise<{ readonly count: number; readonly lowest: BlockHeight | null }>
}
