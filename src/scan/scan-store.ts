import type { BlockHash, BlockHeight, BlockRef } from '../chain/block.ts'
import type { ChainFailure } from '../chain/failure.ts'
import type { UnixMs } from '../common/time.ts'
import type { Movement, Pending } from '../deposits/deposit.ts'

/** The newest stored block. `hash` is null before the first block was read. */
export interface ScanPosition {
  readonly height: BlockHeight
  readonly hash: BlockHash | null
}

/** The stored state of the scan. */
export interface ScanState {
  /** Every block at or below this position is stored. */
  readonly position: ScanPosition
  /** The newest finalized height that was ever agreed. It never decreases. */
  readonly finalized: BlockHeight
  /** When `finalized` last increased. */
  readonly finalizedAt: UnixMs
  /** When the position last moved. */
  readonly advancedAt: UnixMs
  /** Start of the newest scan that ended caught up: everything that was final then is stored. 0 before the first one. */
  readonly caughtUpAt: UnixMs
  /** Start of the newest scan that ended, caught up or not. 0 before the first one. */
  readonly triedAt: UnixMs
  /** Why that scan was not caught up, or null. */
  readonly problem: ChainFailure['kind'] | null
  /** When the newest scan ended and released its lease; 0 while one runs, or where the newest one was killed. */
  readonly endedAt: UnixMs
  /** When the lease expires; in the past while no scan runs. */
  readonly leaseUntil: UnixMs
  /** Why the scan is halted until an operator acts, or null. */
  readonly halted: string | null
}

/** One step of the scan. It is stored whole or not at all. */
export interface ScanStep {
  /** The expected position; with any other position the step is `superseded`. */
  readonly after: BlockHeight
  readonly to: BlockRef
  readonly finalized: BlockHeight
  /** All transfers to callers in the blocks, for the queue. */
  readonly candidates: readonly Pending[]
  readonly movements: readonly Movement[]
  /** Blocks whose logs could not be read with certainty: each becomes a gap. */
  readonly unreadable: readonly BlockHeight[]
  /** Name of the lease of the scan; a lost lease makes the step `superseded`. */
  readonly lease: string
  readonly at: UnixMs
}

/** The result of asking for the lease. `taken`: another scan has it. */
export type LeaseAttempt =
  | { readonly kind: 'acquired'; readonly state: ScanState }
  | { readonly kind: 'taken'; readonly state: ScanState }
  | { readonly kind: 'not-started' }

/** Position, lease and state of the scan. Each method is one batch that commits whole or not at all. */
export interface ScanStore {
  /** Null before the first address was asked for or the first tick ran. */
  state(): Promise<ScanState | null>
  /**
   * Stores the position below the first block to scan, and the agreed finalized height (by default the position). A no-op
   * where one is stored already.
   */
  start(position: ScanPosition, at: UnixMs, finalized?: BlockHeight): Promise<void>
  /** Takes the lease until `until` unless another scan has it at `at`. `lease` is the unique name of its owner. */
  acquireLease(lease: string, at: UnixMs, until: UnixMs): Promise<LeaseAttempt>
  /**
   * Releases the lease at `at`, which is then `endedAt`, and stores `startedAt` as `triedAt`, and as `caughtUpAt` where
   * `problem` is null. A no-op where the lease was lost.
   */
  releaseLease(lease: string, startedAt: UnixMs, problem: ChainFailure['kind'] | null, at: UnixMs): Promise<void>
  /** Stores a finalized height. A height below the stored one changes nothing. */
  recordFinalized(height: BlockHeight, at: UnixMs): Promise<void>
  /** Stores why the scan is halted. The next appended step clears it. */
  halt(lease: string, why: string): Promise<void>
  /**
   * Stores position, candidates, movements and gaps together. A known candidate is left unchanged (a question about its txid
   * was faster); the rest of the step is stored.
   */
  append(step: ScanStep): Promise<'appended' | 'superseded'>
}
