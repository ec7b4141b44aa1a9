import type { Amount } from '../common/amount.ts'
import type { BackendName, CurrencyId, EntryId, EntryType, PersonName, Uid, WalletId } from '../common/ids.ts'
import { formatInstant, type UnixMs } from '../common/time.ts'
import type { Currencies } from './currencies.ts'

/** Longest `osn`, in characters. */
export const osnCharsMax = 200
/** The characters of an `osn`: printable ASCII. */
export const osnForm = /^[\x20-\x7e]+$/

/** What a backend's name is. */
export const backendNameTakes = 'a name of 1 to 64 letters, digits, ".", "_" or "-"'

/** The name of a backend, or null for any other value. */
export function parseBackendName(value: unknown): BackendName | null {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? (value as BackendName) : null // safe: this is the definition
}

/** Longest e-mail address, in characters (RFC 5321, 4.5.3.1.3, without the angle brackets). */
const personCharsMax = 254
/** A local part without quotes, and a domain (RFC 5321, 4.1.2), in lower case. */
const personForm = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-z0-9-]+(?:\.[a-z0-9-]+)*$/

/** The name of a person: an e-mail address, in lower case, since two spellings of one address are one person. Null for anything else. */
export function parsePersonName(value: unknown): PersonName | null {
  if (typeof value !== 'string' || value.length > personCharsMax) return null
  const name = value.toLowerCase()
  return personForm.test(name) ? (name as PersonName) : null // safe: this is the definition
}

/** One ledger entry. `amount` is signed; `balance` is the balance of the wallet after the entry. */
export interface Entry {
  readonly id: EntryId
  readonly uid: Uid
  readonly wid: WalletId
  readonly osn: string
  readonly type: EntryType
  readonly cuy: CurrencyId
  readonly amount: Amount
  readonly balance: Amount
  readonly mark: string
  readonly createdAt: UnixMs
  /** The name of the backend that posted it; empty for a recharge. */
  readonly by: BackendName | ''
}

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

/** A caller's balance in one currency. */
export interface WalletBalance {
  readonly cuy: CurrencyId
  readonly amount: Amount
}

/** Which entries of a user, and which page of them. What is absent filters nothing. */
export interface EntrySelection {
  readonly cuy?: CurrencyId | undefined
  readonly wid?: WalletId | undefined
  readonly type?: EntryType | undefined
  /** A full `osn`, or a bare txid in any form for all of its entries. */
  readonly osn?: string | undefined
  /** `from` ≤ created_at. */
  readonly from?: UnixMs | undefined
  /** created_at < `to`. */
  readonly to?: UnixMs | undefined
  /** Counted from 1, which is the newest. Not together with `before`. */
  readonly page?: number | undefined
  /** Only entries below this id: the cost of such a page does not grow with its depth. */
  readonly before?: EntryId | undefined
  /** Entries on a page; `pageRowsDefault` where it is absent. */
  readonly limit?: number | undefined
}

/** Entries newest first, and how many match the filter on all pages. */
export interface EntryList {
  readonly list: readonly Entry[]
  readonly count: number
}

/** A ledger entry as backends see it. `A` is the form of an amount. */
export type PostedItem<A> = Omit<Entry, 'amount' | 'balance' | 'createdAt'> & {
  readonly amt: A
  readonly balance: A
  readonly created_at: string
}

/** Writes an amount in smallest units of a currency with this scale. */
export type WriteAmount<A> = (units: bigint, scale: number) => A

/** The item of an entry. The list for callers shows it without `by`. */
export function postedItem<A>(entry: Entry, currencies: Currencies, write: WriteAmount<A>): PostedItem<A> {
  const { id, uid, wid, osn, type, cuy, mark, by } = entry
  const currency = currencies.byId.get(cuy)
  // Without the scale, which is configuration, an amount cannot be written: a guess could be wrong by powers of ten.
  if (currency === undefined) throw new Error(`entry ${id} is in currency ${cuy}, which is not configured`)
  const amt = write(entry.amount, currency.scale)
  const balance = write(entry.balance, currency.scale)
  return { id, uid, wid, osn, type, cuy, amt, balance, mark, created_at: formatInstant(entry.createdAt), by }
}
