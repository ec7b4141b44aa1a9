import type { Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { Sighting } from '../deposits/deposit.ts'

/** Transfers to callers in blocks that are not final: information for callers, never money. */
export interface Sightings {
  /** Transfers to the caller's addresses, at most 100. */
  of(uid: Uid): Promise<readonly Sighting[]>
  /**
   * Stores what the unconfirmed blocks show, or null where they could not be read, and removes what the position has
   * passed. One that is not shown any longer stays until then: it can be mined again.
   */
  update(sightings: readonly Sighting[] | null, at: UnixMs): Promise<void>
}
