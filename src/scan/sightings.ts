import type { UnixMs } from '../common/time.ts'
import type { Sighting } from '../deposits/deposit.ts'
import type { Uid } from '../ledger/entry.ts'

/** Transfers to callers in blocks that are not final: information for callers, never money. */
export interface Sightings {
  /** Transfers to the caller's addresses, at most 100. */
  of(uid: Uid): Promise<readonly Sighting[]>
  /** Replaces all sightings; null keeps them. Both store `at` as the scan's `unconfirmedReadAt`. */
  replace(sightings: readonly Sighting[] | null, at: UnixMs): Promise<void>
}
