import { type Address, formatBase58 } from '../chain/address.ts'
import type { Txid } from '../chain/block.ts'
import type { Amount } from '../common/amount.ts'
import type { BackendName, CurrencyId, EntryId, EntryType, PersonName, Uid, WalletId } from '../common/ids.ts'
import { formatInstant, type UnixMs } from '../common/time.ts'
import type { PostedItem, StatementWord } from '../schemas/entry.ts'
import { type Currencies, configured } from './currencies.ts'

/** Longest `osn` that a backend can post, in characters. */
export const osnCharsMax = 200
/** An `osn` is one or more printable ASCII characters. */
export const osnForm = /^[\x20-\x7e]+$/

/** What `parseBackendName` accepts, for messages. */
export const backendNameExpected = 'a name of 1 to 64 letters, digits, ".", "_" or "-"'

/**
 * Parses the name of a backend, as tokens (`sub`) and RPC calls give it; null for any other value.
 * It has no `@`, so it is never a person's.
 */
export function parseBackendName(value: unknown): BackendName | null {
  // safe: the test is the definition
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value) ? (value as BackendName) : null
}

/** Longest e-mail address, in characters (RFC 5321, 4.5.3.1.3, without the angle brackets). */
const personCharsMax = 254
/**
 * An e-mail address: a local part without quotes, and a domain (RFC 5321, 4.1.2). All characters
 * are ASCII.
 */
const personForm =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*$/

/**
 * Parses the name of a person, which is an e-mail address; null for any other value. It returns
 * lower case, so that two spellings of one address are one person. The form is checked first: in
 * lower case, some characters beyond ASCII become letters of somebody else's address.
 */
export function parsePersonName(value: unknown): PersonName | null {
  if (typeof value !== 'string' || value.length > personCharsMax || !personForm.test(value)) return null
  return value.toLowerCase() as PersonName // safe: the test above and lower case are the definition
}

/**
 * One ledger entry: `amount` (signed) has changed the wallet `wid`, whose balance after it was
 * `balance`.
 */
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
  /** The backend that has posted the entry; empty for a recharge, which comes from the chain. */
  readonly by: BackendName | ''
}

/**
 * The types of entries that a backend can post: all but recharges (1), which only the chain makes.
 */
export type PostedType = Exclude<EntryType, 1>

/**
 * Identifies an entry. Two entries never have the same key, so an order (`osn`) changes a wallet
 * once for each type.
 */
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

export interface WalletBalance {
  readonly cuy: CurrencyId
  readonly amount: Amount
}

/** Selects the entries that match every given member, and the page of them to read. */
export interface EntrySelection {
  readonly cuy?: CurrencyId | undefined
  readonly wid?: WalletId | undefined
  readonly type?: EntryType | undefined
  /**
   * A full `osn`; or a txid, with or without `0x`, which selects all entries of the transaction.
   */
  readonly osn?: string | undefined
  /** The earliest time, included. */
  readonly from?: UnixMs | undefined
  /** The latest time, excluded. */
  readonly to?: UnixMs | undefined
  /** The number of the page, from 1 for the newest entries. Not together with `before`. */
  readonly page?: number | undefined
  /** Only entries with smaller ids. */
  readonly before?: EntryId | undefined
  /** Most entries on the page; `pageRowsDefault` if absent. */
  readonly limit?: number | undefined
}

/** One page of entries, newest first. `count` is the number of entries on all pages. */
export interface EntryList {
  readonly list: readonly Entry[]
  readonly count: number
}

/**
 * Writes an amount for a reader: `units` are units of 10^−`scale`. JSON answers get numbers
 * (`jsonAmount`), RPC and CSV files get texts (`formatUnits`).
 */
export type WriteAmount<A> = (units: bigint, scale: number) => A

/**
 * Makes the item of an answer to a backend. Answers to users leave out `by`. Throws if the currency
 * is not configured, because the scale is then unknown.
 */
export function postedItem<A>(entry: Entry, currencies: Currencies, write: WriteAmount<A>): PostedItem<A> {
  const { id, uid, wid, osn, type, cuy, mark, by } = entry
  const currency = configured(cuy, currencies)
  const amt = write(entry.amount, currency.scale)
  const balance = write(entry.balance, currency.scale)
  return { id, uid, wid, osn, type, cuy, amt, balance, mark, created_at: formatInstant(entry.createdAt), by }
}

/** An entry of a statement, with where its money goes to and its transaction, where it has them. */
export interface StatementEntry extends Entry {
  readonly what: StatementWord
  /** The recipient of the payout. */
  readonly to: Address | null
  /** The transaction of the deposit, or the newest one of the payout. */
  readonly txid: Txid | null
}

/** Makes the item of an answer; members that the entry does not have are left out. */
export function statementItem<A>(
  { what, to, txid, ...entry }: StatementEntry,
  currencies: Currencies,
  write: WriteAmount<A>,
) {
  return {
    ...postedItem(entry, currencies, write),
    what,
    ...(to === null ? {} : { to: formatBase58(to) }),
    ...(txid === null ? {} : { txid }),
  }
}
