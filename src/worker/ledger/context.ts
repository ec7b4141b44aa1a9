import type { Alarms } from '../alarms/alarms.ts'
import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { Amount } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { ReadDatabase, WriteDatabase } from '../d1/database.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Currencies } from './currencies.ts'

/** The limits within which payouts of one currency are approved without a person, in ledger units. A day is the last 24 hours. */
export interface PayoutLimit {
  readonly each: Amount
  /** A smaller payout waits for a person, because its fee would cost more than it pays. */
  readonly least: Amount
  readonly perDay: Amount
  /** Most payouts approved in a day. This bounds the fees, too. */
  readonly countPerDay: number
  /** Null: users have no limit of their own. */
  readonly perUserPerDay: Amount | null
}

/** The `PAYOUTS` setting, parsed. */
export interface PayoutRules {
  /** The payout address. */
  readonly address: Address
  /** The limits by currency. Payouts of a currency without limits wait for a person. */
  readonly limits: ReadonlyMap<CurrencyId, PayoutLimit>
  /** The most sun that a token transfer may burn. */
  readonly feeLimit: bigint
}

/** The settings, clock and logger that every use case gets. */
export interface AppContext {
  readonly clock: Clock
  readonly logger: Logger
  readonly alarms: Alarms
  readonly currencies: Currencies
  /** The operator's wallets (`OPERATOR_ADDRESSES`), with the payout address. */
  readonly operators: ReadonlySet<Address>
  /** `TRON_START_BLOCK`, or null. */
  readonly startBlock: BlockHeight | null
  /** `TRON_FIRST_INDEX`, or null. */
  readonly firstIndex: number | null
  /** Whether new addresses are issued (`ISSUE_ADDRESSES`). */
  readonly issuesAddresses: boolean
  /** The address at an index of the deployment's extended public key. */
  readonly addressAt: (index: number) => Address
  /** Null without `PAYOUTS`: then there are no payouts. */
  readonly payouts: PayoutRules | null
}

/** The context of a use case that only reads. */
export type ReadContext = AppContext & { readonly db: ReadDatabase }
/** The context of a use case that may write. */
export type WriteContext = AppContext & { readonly db: WriteDatabase }
