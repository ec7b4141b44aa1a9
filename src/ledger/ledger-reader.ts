import type { CurrencyId, EntryId, EntryType, Uid, WalletId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { Amount } from '../common/amount.ts'
import type { Entry } from './entry.ts'

/** A caller's balance in one currency. */
export interface WalletBalance {
  readonly cuy: CurrencyId
  readonly amount: Amount
}

/** Which ledger entries; absent filters are null. */
export interface EntryFilter {
  readonly cuy: CurrencyId | null
  readonly wid: WalletId | null
  readonly type: EntryType | null
  /** A full `osn`, or a bare txid in any form for all of its entries. */
  readonly osn: string | null
  /** `from` ≤ created_at. */
  readonly from: UnixMs | null
  /** created_at < `to`. */
  readonly to: UnixMs | null
}

/** Which page: counted from the newest entry, or the entries below an id, whose cost does not grow with depth. */
export type EntryPage =
  | { readonly kind: 'number'; readonly page: number; readonly limit: number }
  | { readonly kind: 'before'; readonly before: EntryId; readonly limit: number }

/** Entries newest first, and how many match the filter on all pages. */
export interface EntryList {
  readonly list: readonly Entry[]
  readonly count: number
}

/** Reads of the ledger. Each method is one round trip. */
export interface LedgerReader {
  /** The caller's wallets; a currency without an entry is absent. */
  balances(uid: Uid): Promise<readonly WalletBalance[]>
  /** One page of the caller's entries and the number of all that match. */
  entries(uid: Uid, filter: EntryFilter, page: EntryPage): Promise<EntryList>
}
