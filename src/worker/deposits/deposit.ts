import type { Address } from '../chain/address.ts'
import type { Txid } from '../chain/block.ts'
import type { CurrencyId, DeciderName, EntryId, Uid } from '../common/ids.ts'
import type { DecisionKind, TransferState } from '../d1/tables.ts'
import type { StoredTransfer } from './transfer.ts'

/** The states of a transfer to a user. */
export const depositStates = ['seen', 'held', 'credited', 'refused', 'dropped'] as const satisfies TransferState[]
/** One of `depositStates`. */
export type DepositState = (typeof depositStates)[number]

/** A transfer to a user, with its entry and the decision about it. */
export interface Deposit extends StoredTransfer {
  /** The ledger entry of a credited transfer, else null. */
  readonly entry: EntryId | null
  /** The decision of a person, for a transfer that was held for review and decided. */
  readonly decided: { readonly decision: DecisionKind; readonly why: string; readonly by: DeciderName } | null
  /** Estimated seconds until a seen transfer is final; null for any other, or if it is not known. */
  readonly finalIn: number | null
}

/** Selects transfers; a null member filters nothing. A null `uid` selects the transfers of all users. */
export interface DepositFilter {
  readonly uid: Uid | null
  readonly state: DepositState | null
  readonly cuy: CurrencyId | null
}

/** Selects the transfers of one transaction, or those to one address of the service. */
export type DepositKey = { readonly txid: Txid } | { readonly address: Address }
