import type { Alarms } from '../alarms/alarms.ts'
import type { Address } from '../chain/address.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { findDifferences, findPayoutDifferences, rememberSettings, type Setting } from '../ledger/stored-settings.ts'
import type { Clock } from '../platform/clock.ts'

/** Least time between two comparisons while the configuration differs: stored data can be repaired. */
export const recheckMs = 5_000

/** What comparing the configuration with the stored data needs. */
export interface SettingsCheckParts {
  readonly db: WriteDatabase
  readonly settings: readonly Setting[]
  /** The address of `PAYOUTS`, or null. */
  readonly payoutAddress: Address | null
  readonly clock: Pick<Clock, 'now'>
  readonly alarms: Pick<Alarms, 'raise'>
}

/**
 * Whether the configuration has the meaning that the stored data has. Where it is so, it stays so for the life of the
 * isolate. Where it is not, nothing may be served or credited; one alarm for each setting is raised, and cleared by a tick of a
 * configuration that has it. It is all that such a deployment stores.
 */
export function createSettingsCheck(parts: SettingsCheckParts): () => Promise<boolean> {
  const { db, settings, payoutAddress, clock, alarms } = parts
  let isEqual = false
  let isReported = false
  let nextCheckAt = 0
  return async () => {
    if (isEqual || clock.now() < nextCheckAt) return isEqual
    const differences = [
      ...findDifferences(settings, await rememberSettings(db, settings)),
      ...(payoutAddress === null ? [] : await findPayoutDifferences(db, payoutAddress)),
    ]
    isEqual = differences.length === 0
    if (isEqual) return true
    nextCheckAt = clock.now() + recheckMs
    if (isReported) return false
    isReported = true
    for (const difference of differences) {
      await alarms.raise('configuration-differs', { setting: difference.setting }, { ...difference })
    }
    return false
  }
}
