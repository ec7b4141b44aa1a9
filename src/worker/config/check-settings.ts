import type { Alarms } from '../alarms/alarms.ts'
import type { Address } from '../chain/address.ts'
import type { UserRange } from '../common/user-range.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { type RangeOfUsers, rangeSetting, storeRange } from '../ledger/stored-range.ts'
import {
  findDifferences,
  findPayoutDifferences,
  rememberSettings,
  type Setting,
  type StoredSetting,
} from '../ledger/stored-settings.ts'
import type { Clock } from '../platform/clock.ts'

/** Least pause between two comparisons while the configuration differs, because stored data may be repaired. */
export const recheckMs = 5_000

/** With several databases a match counts for this long: while a deployment replaces isolates, one of the configuration before may change a range again. */
export const rangeMatchMs = 60_000

/** The parts that comparing the configuration with the stored data needs. */
export interface SettingsCheckParts {
  readonly db: WriteDatabase
  readonly settings: readonly Setting[]
  /** The address of `PAYOUTS`, or null. */
  readonly payoutAddress: Address | null
  /** The users of this database, and the other databases with theirs. Null if there is only this one, which has all users. */
  readonly ranges: { readonly users: UserRange; readonly others: readonly RangeOfUsers[] } | null
  readonly clock: Pick<Clock, 'now'>
  readonly alarms: Pick<Alarms, 'raise'>
}

/**
 * Checks whether the configuration belongs to the stored data. A match is cached for the isolate, with several databases for `rangeMatchMs`. On a mismatch nothing is served or credited, and one alarm
 * for each setting is raised; a tick with a matching configuration ends it. Such a deployment stores nothing else.
 */
export function createSettingsCheck(parts: SettingsCheckParts): () => Promise<boolean> {
  const { db, settings, payoutAddress, ranges, clock, alarms } = parts
  let isEqual = false
  let isReported = false
  let nextCheckAt = 0
  return async () => {
    if (clock.now() < nextCheckAt) return isEqual
    const differences = [
      ...findDifferences(settings, ofCells(ranges !== null, await rememberSettings(db, settings))),
      ...(payoutAddress === null ? [] : await findPayoutDifferences(db, payoutAddress)),
      ...(ranges === null ? [] : await storeRange({ db, users: ranges.users }, ranges.others)),
    ]
    isEqual = differences.length === 0
    const validMs = ranges === null ? Number.POSITIVE_INFINITY : rangeMatchMs
    nextCheckAt = clock.now() + (isEqual ? validMs : recheckMs)
    if (isEqual) return true
    if (isReported) return false
    isReported = true
    for (const difference of differences) {
      await alarms.raise('configuration-differs', { setting: difference.setting }, { ...difference })
    }
    return false
  }
}

/** The stored settings to compare: with several cells the range of users is compared by itself. */
const ofCells = (hasCells: boolean, stored: readonly StoredSetting[]) =>
  hasCells ? stored.filter(({ name }) => name !== rangeSetting) : stored
