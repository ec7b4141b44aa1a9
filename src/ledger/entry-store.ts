import type { BackendName, CurrencyId, EntryType, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { Amount } from '../common/amount.ts'
import type { Entry } from './entry.ts'

/** The types that a backend posts. Only the chain makes recharges. */
export type PostedType = Exclude<EntryType, 1>

/** The identity of an entry: an order changes a wallet once. */
export interface EntryKey {
  readonly uid: Uid
  readonly cuy: CurrencyId
  readonly osn: string
  readonly type: EntryType
}

/** An entry to be posted. `amount` is signed. */
export interface NewEntry extends EntryKey {
  readonly type: PostedType
  readonly amount: Amount
  readonly mark: string
}

/** What the database had at the moment of one attempt to post. */
export interface PostAttempt {
  /** Whether this attempt has stored the entries. */
  readonly stored: boolean
  /** The stored entries with the keys of the post, those of this attempt included, in the order of the post. */
  readonly known: readonly Entry[]
  /** The balances of the wallets of the post after the attempt; a wallet without an entry is absent. */
  readonly balances: readonly { readonly uid: Uid; readonly cuy: CurrencyId; readonly amount: Amount }[]
}

/** The only writer of entries other than recharges. */
export interface EntryStore {
  /**
   * Stores all entries in their order, or none: none where one of their keys is known, or where a balance would be below
   * zero or above 2^53−1 after one of them. One batch, so that equal posts at once store one.
   */
  post(entries: readonly NewEntry[], by: BackendName, at: UnixMs): Promise<PostAttempt>
}
