import type { SharedBlocks } from '../chain/chain.ts'
import { type Clock, endsWithin } from '../platform/clock.ts'

/**
 * A scanner that got null from `take` has this long, counted from its call, to give the value.
 * Other scanners that take the same key wait until then.
 */
export const leaseMs = 5_000
/**
 * Most values in memory. Cells need only the newest few, and a range of blocks can have a megabyte.
 */
export const keptMax = 12

/**
 * A value that was given (`isGiven`), or one that a scanner is reading. `waited` resolves with the
 * value, or with null if it could not be read.
 */
interface Entry {
  readonly at: number
  readonly waited: PromiseWithResolvers<{ readonly value: unknown } | null>
  isGiven: boolean
}

/**
 * Makes the memory, in one Durable Object, of what the cells' scanners have read in the last
 * minute. It checks no value: only scanners of the same Worker call it. If it is lost, scanners
 * only read again.
 */
export function createSharedBlocks(clock: Pick<Clock, 'now' | 'sleep'>): SharedBlocks {
  const entries = new Map<string, Entry>()
  const begin = (key: string) => {
    const entry: Entry = { at: clock.now(), waited: Promise.withResolvers(), isGiven: false }
    entries.delete(key)
    entries.set(key, entry)
    for (const oldest of entries.keys()) {
      if (entries.size <= keptMax) break
      entries.get(oldest)?.waited.resolve(null)
      entries.delete(oldest)
    }
    return entry
  }
  return {
    async take(key, keptMs) {
      const entry = entries.get(key)
      const ageMs = entry === undefined ? 0 : clock.now() - entry.at
      if (entry?.isGiven && ageMs < keptMs) return await entry.waited.promise
      if (entry !== undefined && !entry.isGiven && ageMs < leaseMs) {
        const { promise } = entry.waited
        return (await endsWithin(promise, leaseMs - ageMs, clock)) ? await promise : null
      }
      begin(key)
      return null
    },
    async give(key, value) {
      if (value === null) {
        entries.get(key)?.waited.resolve(null)
        entries.delete(key)
        return
      }
      const present = entries.get(key)
      const entry = present === undefined || present.isGiven ? begin(key) : present
      entry.isGiven = true
      entry.waited.resolve({ value })
    },
  }
}
