import type { Amount } from '../common/amount.ts'
import type { BackendName, CurrencyId, EntryId, EntryType, PersonName, Uid, WalletId } from '../common/ids.ts'
import { formatInstant, type UnixMs } from '../common/time.ts'
import type { Currencies } from './currencies.ts'

/** Longest `osn`, in characters. */
export const osnCharsMax = 200
/** The characters of an `osn`: printable ASCII. */
export const osnForm = /^[\x20-\x7e]+$/

/** The form of a backend's name, for messages. */
export const backendNameExpected = 'a name of 1 to 64 letters, digits, ".", "_" or "-"'

/** Parses the name of a backend; null for any other value. */
export function parseBackendName(value: unknown): BackendName | null {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? (value as BackendName) : null // safe: this is the definition
}

/** Longest e-mail address, in characters (RFC 5321, 4.5.3.1.3, without the angle brackets). */
const personCharsMax = 254
/** A local part without quotes, and a domain (RFC 5321, 4.1.2), in lower case. */
const personForm = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-z0-9-]+(?:\.[a-z0-9-]+)*$/

/**
 * Parses the name of a person, which is an e-mail address. It is put into lower case, because two spellings of one address are one person. Null for anything
 * else.
 */
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

/** The types that a backend can post. Recharges come only from the chain. */
export type PostedType = Exclude<EntryType, 1>

/** The key of an entry. An order changes a wallet once: a second entry with its key is refused. */
export interface EntryKey {
  readonly uid: Uid
  readonly cuy: CurrencyId
  readonly osn: string
  readonly type: EntryType
}

/** An entry that is to be posted. `amount` is signed. */
export interface NewEntry extends EntryKey {
  readonly type: PostedType
  readonly amount: Amount
  readonly mark: string
}

/** A user's balance in one currency. */
export interface WalletBalance {
  readonly cuy: CurrencyId
  readonly amount: Amount
}

/** Selects entries of a user and a page of them. An absent member filters nothing. */
export interface EntrySelection {
  readonly cuy?: CurrencyId | undefined
  readonly wid?: WalletId | undefined
  readonly type?: EntryType | undefined
  /** A full `osn`, or a txid in any form, which selects all its entries. */
  readonly osn?: string | undefined
  /** `from` ≤ created_at. */
  readonly from?: UnixMs | undefined
  /** created_at < `to`. */
  readonly to?: UnixMs | undefined
  /** The number of the page, from 1 for the newest. Cannot be combined with `before`. */
  readonly page?: number | undefined
  /** Only entries below this id. Such a page costs the same at any depth. */
  readonly before?: EntryId | undefined
  /** Entries on a page, by default `pageRowsDefault`. */
  readonly limit?: number | undefined
}

/** One page of entries, newest first. `count` is the number on all pages. */
export interface EntryList {
  readonly list: readonly Entry[]
  readonly count: number
}

/** A ledger entry as backends see it. `A` is the type of an amount. */
export type PostedItem<A> = Omit<Entry, 'amount' | 'balance' | 'createdAt'> & {
  readonly amt: A
  readonly balance: A
  readonly created_at: string
}

/** Writes an amount in smallest units of a currency with this scale. */
export type WriteAmount<A> = (units: bigint, scale: number) => A

/** Renders an entry for backends. Users see it without `by`. */
export function postedItem<A>(entry: Entry, currencies: Currencies, write: WriteAmount<A>): PostedItem<A> {
  const { id, uid, wid, osn, type, cuy, mark, by } = entry
  const currency = currencies.byId.get(cuy)
  // The scale comes from the configuration. Without it the amount could be wrong by powers of ten.
  if (currency === undefined) throw new Error(`entry ${id} is in currency ${cuy}, which is not configured`)
  const amt = write(entry.amount, currency.scale)
  const balance = write(entry.balance, currency.scale)
  return { id, uid, wid, osn, type, cuy, amt, balance, mark, created_at: formatInstant(entry.createdAt), by }
}
