import type { Address } from '../chain/address.ts'
import type { UnixMs } from '../common/time.ts'

/** What token contracts returned about themselves, stored once the nodes have agreed on it. */
export interface TokenFacts {
  /** The stored `decimals()` of a contract, or null. */
  decimals(contract: Address): Promise<number | null>
  /** Stores the `decimals()` of a contract. */
  storeDecimals(contract: Address, decimals: number, at: UnixMs): Promise<void>
}
