import { dayMs } from '../common/time.ts'
import type { Observation } from '../platform/observation.ts'
import type { ScanContext } from './rules.ts'
import { storeSize } from './store/size.ts'

/** The most that D1 stores in one database (Cloudflare's limits page, November 2026). */
export const databaseBytesMax = 10_000_000_000
/** At this share of `databaseBytesMax` the alarm `database-filling` is raised. */
const fillingFrom = 0.7
/** At this share of `databaseBytesMax` the alarm `database-nearly-full` is raised as well. */
const nearlyFullFrom = 0.9
/** The size of each day is kept for this many days. */
const sizeDays = 40

/**
 * Stores the size of the database once a day, and returns the alarms about it. `sizeDay` is the
 * newest day with a stored size, in days since 1970.
 */
export async function watchSize(
  { db, clock, databaseBytes }: Pick<ScanContext, 'db' | 'clock'> & { databaseBytes(): number },
  sizeDay: number,
): Promise<Observation> {
  const bytes = databaseBytes()
  if (bytes === 0) return { kinds: [], faults: [] }
  const day = Math.floor(clock.now() / dayMs)
  if (day > sizeDay) {
    await storeSize(db, { day, bytes, keptFrom: day - sizeDays })
  }
  const fields = { bytes, percent: Math.floor((bytes * 100) / databaseBytesMax) }
  const part = bytes / databaseBytesMax
  return {
    kinds: ['database-filling', 'database-nearly-full'],
    faults: [
      ...(part < fillingFrom ? [] : [{ kind: 'database-filling', subject: {}, fields } as const]),
      ...(part < nearlyFullFrom ? [] : [{ kind: 'database-nearly-full', subject: {}, fields } as const]),
    ],
  }
}
