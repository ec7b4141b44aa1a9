import type { Address } from '../chain/address.ts'
import type { Txid } from '../chain/block.ts'
import type { CurrencyId, DeciderName, EntryId, TransferId, Uid } from '../common/ids.ts'
import type { HeldReason } from '../common/reasons.ts'
import type { DecisionKind } from '../d1/tables.ts'
import type { DepositState } from '../schemas/deposit.ts'
import type { StoredTransfer } from './transfer.ts'

/** A transfer to a user, in any state, as lists show it. */
export interface Deposit extends StoredTransfer {
  /**
   * The ledger entry that a credited transfer has created; null if the transfer is not credited.
   */
  readonly entry: EntryId | null
  /**
   * The decision about a transfer that was held for review; null before the decision, and if there
   * was no review.
   */
  readonly decided: { readonly decision: DecisionKind; readonly why: string; readonly by: DeciderName } | null
  /**
   * Estimated seconds until a seen transfer is final; null in any other state, or if the seconds
   * are not known.
   */
  readonly finalIn: number | null
}

/**
 * Selects the transfers that match every member that is not null. A null `uid` selects the
 * transfers of all users.
 */
export interface DepositFilter {
  readonly uid: Uid | null
  readonly state: DepositState | null
  readonly cuy: CurrencyId | null
  /** Only transfers that are held for this reason, of all users. */
  readonly reason?: HeldReason | undefined
}

/** Selects the transfers of one transaction, or those to one address of the service. */
export type DepositKey = { readonly txid: Txid } | { readonly address: Address }

/**
 * The newest `limit` transfers with ids below `before`. If `before` is null, the page begins with
 * the newest transfer. With `after`: the oldest `limit` ones with ids above it.
 */
export interface DepositPage {
  readonly before: TransferId | null
  readonly after?: TransferId | 0 | undefined
  readonly limit: number
}
