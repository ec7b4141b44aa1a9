import type { Alarms } from '../alarms/alarms.ts'
import type { Address } from '../chain/address.ts'
import type { ReadDatabase, WriteDatabase } from '../d1/database.ts'
import { findRangeDifferences, type RangeOfUsers, storeRange } from '../ledger/stored-range.ts'
import {
  type DataMeaning,
  findDifferences,
  findPayoutDifferences,
  rangeSetting,
  rememberSettings,
  type SettingDifference,
  type StoredSetting,
} from '../ledger/stored-settings.ts'
import type { Clock } from '../platform/clock.ts'
import type { SharedRuns } from '../platform/shared-runs.ts'
import { newestMigration } from '../platform/version.ts'

/**
 * While the configuration differs from the stored data, they are compared again after this time at
 * the earliest: an operator may have repaired the data.
 */
export const recheckMs = 5_000

/**
 * With several databases a match counts only for this long. While a deployment replaces isolates,
 * an isolate with the old configuration may still change the stored range of users.
 */
export const rangeMatchMs = 60_000

/** A database, and what of the configuration must belong to its data. */
export interface ComparedParts<Db extends ReadDatabase = ReadDatabase> {
  readonly db: Db
  readonly meaning: DataMeaning
  /** The address in `PAYOUTS`; null if `PAYOUTS` is not set. */
  readonly payoutAddress: Address | null
  /**
   * This database and the others, each with its range of users; null if the deployment has only one
   * database.
   */
  readonly ranges: { readonly own: RangeOfUsers<Db>; readonly others: readonly RangeOfUsers<Db>[] } | null
}

export interface SettingsCheckParts extends ComparedParts<WriteDatabase> {
  /** All who ask at once share one comparison. */
  readonly shared: Pick<SharedRuns<boolean>, 'wait'>
  readonly clock: Pick<Clock, 'now'>
  readonly alarms: Pick<Alarms, 'raise'>
}

export interface SettingsCheck {
  /** Whether the configuration belongs to the stored data. */
  readonly matches: () => Promise<boolean>
  /** The names of the settings that differed at the last check, such as `CURRENCIES.2`. */
  readonly differing: () => readonly string[]
}

/**
 * Returns a check whether the configuration belongs to the stored data. On an empty database it
 * stores the configuration, and later checks compare with that. While `matches` returns false, the
 * caller must neither serve nor credit anything. The isolate remembers a match until it ends; with
 * several databases only for `rangeMatchMs`, because an older isolate can move a range. Each
 * setting that differs raises an alarm, once until the configuration matches again. The next tick
 * with a matching configuration ends the alarm.
 */
export function createSettingsCheck(parts: SettingsCheckParts): SettingsCheck {
  const { db, meaning, ranges, shared, clock, alarms } = parts
  let isEqual = false
  let differing: readonly string[] = []
  let isReported = false
  let nextCheckAt = 0
  const compare = async () => {
    const { stored, migration } = await rememberSettings(db, meaning)
    const differences = [...missingMigrations(migration), ...(await compareStored(parts, stored, storeRange))]
    isEqual = differences.length === 0
    differing = differences.map(({ setting }) => setting)
    const validMs = ranges === null ? Number.POSITIVE_INFINITY : rangeMatchMs
    nextCheckAt = clock.now() + (isEqual ? validMs : recheckMs)
    const isKnown = isReported
    isReported = !isEqual
    if (isEqual || isKnown) return isEqual
    for (const difference of differences) {
      await alarms.raise('configuration-differs', { setting: difference.setting }, { ...difference })
    }
    return false
  }
  const matches = async () => (clock.now() < nextCheckAt ? isEqual : shared.wait(compare))
  return { matches, differing: () => differing }
}

/**
 * Finds whether the database lacks a migration of this version: then some statements would fail,
 * and others would not. A newer database is fine, because a migration only adds.
 */
function missingMigrations(newest: number): readonly SettingDifference[] {
  if (newest >= newestMigration) return []
  return [{ setting: 'migrations', stored: String(newest), configured: String(newestMigration) }]
}

/** Lists what the service would find to differ, for a command: it only reads. */
export function findStoredDifferences(
  parts: ComparedParts,
  stored: readonly StoredSetting[],
): Promise<readonly SettingDifference[]> {
  return compareStored(parts, stored, findRangeDifferences)
}

/** Compares a configuration with all that is stored. `rangesDiffer` compares ranges of users. */
async function compareStored<Db extends ReadDatabase>(
  { db, meaning, payoutAddress, ranges }: ComparedParts<Db>,
  stored: readonly StoredSetting[],
  rangesDiffer: (own: RangeOfUsers<Db>, others: readonly RangeOfUsers<Db>[]) => Promise<readonly SettingDifference[]>,
): Promise<readonly SettingDifference[]> {
  return [
    ...findDifferences(meaning, ofCells(ranges !== null, stored)),
    ...(payoutAddress === null ? [] : await findPayoutDifferences(db, payoutAddress)),
    ...(ranges === null ? [] : await rangesDiffer(ranges.own, ranges.others)),
  ]
}

/**
 * Leaves out the stored range of users if there are several cells, because `storeRange` compares
 * it.
 */
const ofCells = (hasCells: boolean, stored: readonly StoredSetting[]) =>
  hasCells ? stored.filter(({ name }) => name !== rangeSetting) : stored
