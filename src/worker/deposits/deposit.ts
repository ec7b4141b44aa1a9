import type { Address } from '../chain/address.ts'
import type { Txid } from '../chain/block.ts'
import type { CurrencyId, DeciderName, EntryId, Uid } from '../common/ids.ts'
import type { DecisionKind, TransferState } from '../d1/tables.ts'
import type { StoredTransfer } from './transfer.ts'

/** The states of a transfer to a caller. */
export const depositStates = ['seen', 'held', 'credited', 'refused', 'dropped'] as const satisfies TransferState[]
/** One of `depositStates`. */
export type DepositState = (typeof depositStates)[number]

/** A transfer to a caller, with what has become of it. */
export interface Deposit extends StoredTransfer {
  /** The ledger entry, where it is credited. */
  readonly entry: EntryId | null
  /** What is decided about it, if it was held for review. */
  readonly decided: { readonly decision: DecisionKind; readonly why: string; readonly by: DeciderName } | null
  /** About how many seconds until it is final, if it is seen and that is known. */
  readonly finalIn: number | null
}

/** Which transfers; absent filters are null. Without `uid` those to all callers. */
export interface DepositFilter {
  readonly uid: Uid | null
  readonly state: DepositState | null
  readonly cuy: CurrencyId | null
}

/** The transfers of one transaction, or to one address of the service. */
export type DepositKey = { readonly txid: Txid } | { readonly address: Address }
