import type { Alarms } from '../alarms/alarms.ts'
import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { Amount } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { ReadDatabase, WriteDatabase } from '../d1/database.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Currencies } from './currencies.ts'

/**
 * A payout within all of these limits of its currency is approved without a person. Amounts are in
 * ledger units; a day is the last 24 hours.
 */
export interface PayoutLimit {
  readonly each: Amount
  /** A smaller payout waits for a person, because the network's fee would be more than it pays. */
  readonly least: Amount
  readonly perDay: Amount
  /** Most payouts that are approved in a day. This limits the network's fees, too. */
  readonly countPerDay: number
  /** Most for one user in a day; null if users have no limit of their own. */
  readonly perUserPerDay: Amount | null
}

/** `PAYOUTS`, parsed. */
export interface PayoutRules {
  /** The address from which payouts are paid. */
  readonly address: Address
  /** Each payout of a currency without limits waits for a person. */
  readonly limits: ReadonlyMap<CurrencyId, PayoutLimit>
  /** The most sun that the network may take as the fee of a token transfer. */
  readonly feeLimit: bigint
}

/**
 * What every use case gets besides its database: the settings that it may need, the clock, the
 * logger and the alarms.
 */
export interface AppContext {
  readonly clock: Clock
  readonly logger: Logger
  readonly alarms: Alarms
  readonly currencies: Currencies
  /** `OPERATOR_ADDRESSES`, and the payout address. Money that these send is never a deposit. */
  readonly operators: ReadonlySet<Address>
  /**
   * `TRON_START_BLOCK`: the first block to scan in an empty database; null begins after the
   * finalized height.
   */
  readonly startBlock: BlockHeight | null
  /**
   * `TRON_FIRST_INDEX`: the index of the first address in an empty database; null if it is not set.
   */
  readonly firstIndex: number | null
  /** `ISSUE_ADDRESSES`: if false, users only get the addresses that they have. */
  readonly issuesAddresses: boolean
  /**
   * Derives the address at an index of the deployment's extended public key; see `deriveAddress`.
   */
  readonly addressAt: (index: number) => Address
  /** Null without `PAYOUTS`: then there are no payouts. */
  readonly payouts: PayoutRules | null
  /** The addresses from which payouts of any cell are paid. */
  readonly payoutAddresses: ReadonlySet<Address>
}

/** For a use case that only reads. */
export type ReadContext = AppContext & { readonly db: ReadDatabase }
/** For a use case that may write. */
export type WriteContext = AppContext & { readonly db: WriteDatabase }
