import type { Alarms } from '../alarms/alarms.ts'
import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { Amount } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { ReadDatabase, WriteDatabase } from '../d1/database.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Currencies } from './currencies.ts'

/** What is paid out of one currency without a person, in ledger units. A day is the last 24 hours. */
export interface PayoutLimit {
  readonly each: Amount
  /** A smaller payout waits for a person: its fee would cost more than it pays. */
  readonly least: Amount
  readonly perDay: Amount
  /** Payouts of the currency that are approved in a day: so their fees are bounded. */
  readonly countPerDay: number
  /** Null: a user has no limit of its own. */
  readonly perUserPerDay: Amount | null
}

/** `PAYOUTS`. */
export interface PayoutRules {
  /** What payouts are paid from. */
  readonly address: Address
  /** A currency without limits waits for a person. */
  readonly limits: ReadonlyMap<CurrencyId, PayoutLimit>
  /** Sun that a token's transfer may burn. */
  readonly feeLimit: bigint
}

/** What the configuration and the platform give to every use case. */
export interface Settings {
  readonly clock: Clock
  readonly logger: Logger
  readonly alarms: Alarms
  readonly currencies: Currencies
  /** The operator's own wallets as configured (`OPERATOR_ADDRESSES`), the payout address included. */
  readonly operators: ReadonlySet<Address>
  /** `TRON_START_BLOCK`, or null. */
  readonly startBlock: BlockHeight | null
  /** `TRON_FIRST_INDEX`, or null. */
  readonly firstIndex: number | null
  /** Whether new addresses are issued (`ISSUE_ADDRESSES`). */
  readonly issuesAddresses: boolean
  /** The address at an index of the deployment's extended public key. */
  readonly addressAt: (index: number) => Address
  /** Null without `PAYOUTS`: then nothing is paid out. */
  readonly payouts: PayoutRules | null
}

/** What a use case is given that only reads. */
export type ReadContext = Settings & { readonly db: ReadDatabase }
/** What a use case is given that may write. */
export type WriteContext = Settings & { readonly db: WriteDatabase }
