import { ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createAlarmStore } from '../../src/d1/alarm-store.ts'
import { createStores } from '../../src/d1/stores.ts'
import type { EvidenceSources } from '../../src/deposits/gather-evidence.ts'
import { createAlarms } from '../../src/platform/alarms.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { Logger } from '../../src/platform/logger.ts'
import type { Stores } from '../../src/services.ts'
import { openSqliteD1 } from '../support/sqlite-d1.ts'

/** Evidence sources over an empty database with the real migrations, and what they logged as alarms. */
interface TestSources {
  readonly sources: EvidenceSources
  readonly stores: Stores
  readonly alarms: readonly string[]
}

/** The time of every source. */
export const now = 1_790_000_000_000 as UnixMs

/** Sources whose nodes answer only the queries of `chain`. */
export function createSources(chain: Partial<EvidenceSources['proofChain']>): TestSources {
  const unexpected = () => Promise.reject(new Error('a query that is not needed'))
  const alarms: string[] = []
  const ignore = () => undefined
  const db = openSqliteD1().connect(async (work) => work())
  const stores = createStores(db, ignore)
  const clock: Clock = { now: () => now, sleep: () => Promise.resolve(), random: () => 0 }
  const logger: Logger = { info: ignore, warn: ignore, error: ignore, alarm: (kind) => alarms.push(kind) }
  const sources: EvidenceSources = {
    proofChain: {
      receipts: unexpected,
      transactionBytes: unexpected,
      bytesInBlock: async () => ok(new Map()),
      decimals: unexpected,
      ...chain,
    },
    tokenFacts: stores.tokenFacts,
    clock,
    alarms: createAlarms({ store: createAlarmStore(db), clock, logger }),
  }
  return { sources, stores, alarms }
}
