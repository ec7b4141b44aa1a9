import { blockSeconds } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'

/** Balances that one isolate keeps: 100 bytes each. */
const rememberedMax = 10_000

/** Balances that were read less than one block time ago, by query. They can be lost at any time. */
export interface RecentBalances {
  /** Chain units, or null where the query has no recent answer. */
  get(query: string, at: UnixMs): bigint | null
  set(query: string, units: bigint, at: UnixMs): void
}

/** The recent balances of a new isolate. */
export function createRecentBalances(): RecentBalances {
  const known = new Map<string, { readonly units: bigint; readonly readAt: UnixMs }>()
  return {
    get(query, at) {
      const found = known.get(query)
      return found === undefined || at - found.readAt >= blockSeconds * 1000 ? null : found.units
    },
    set(query, units, readAt) {
      if (known.size >= rememberedMax) known.clear()
      known.set(query, { units, readAt })
    },
  }
}
