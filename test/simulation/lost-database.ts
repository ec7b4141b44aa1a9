import type { Address } from '../../src/worker/chain/address.ts'
import type { BalanceChange } from './chain-balances.ts'
import type { Random } from './random.ts'
import { fineToken } from './scenario.ts'

/**
 * An earlier database with addresses of the same key. It was lost without a copy, so the service
 * begins with an empty one.
 */
export interface LostDatabase {
  /**
   * Addresses that the lost database had issued, from index 0 on. They belong to no caller any
   * more, and people still pay to them.
   */
  readonly issued: readonly Address[]
  /** What the addresses in `issued` have on the chain. At least one holds something. */
  readonly held: readonly BalanceChange[]
  /** `TRON_FIRST_INDEX`, above every index that was issued. */
  readonly firstIndex: number
  /**
   * The block of the run after which the operator sets `TRON_FIRST_INDEX`. Until then no address
   * may be issued.
   */
  readonly setAfter: number
  isSet: boolean
}

/**
 * What was lost before a run, or null. In half of the runs with a loss the operator has set
 * `TRON_FIRST_INDEX` in time.
 */
export function drawLostDatabase(random: Random, addressAt: (index: number) => Address): LostDatabase | null {
  if (!random.chance(0.06)) return null
  const issued = Array.from({ length: random.int(1, 25) }, (_, index) => addressAt(index))
  // The service asks about the first 20 addresses.
  const holders = issued.slice(0, 20)
  const held = Array.from({ length: random.int(1, 3) }, () => ({
    address: random.pick(holders),
    contract: random.pick([null, null, fineToken]),
    amount: BigInt(random.int(1, 1_000_000)),
  }))
  const isSet = random.chance(0.5)
  return { issued, held, firstIndex: issued.length + random.int(0, 5), setAfter: random.int(5, 30), isSet }
}
