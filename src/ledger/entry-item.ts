import type { BackendName, CurrencyId, EntryId, EntryType, Uid, WalletId } from '../common/ids.ts'
import { formatInstant } from '../common/time.ts'
import type { Currencies } from './currencies.ts'
import type { Entry } from './entry.ts'

/** A ledger entry as the lists show it. `A` is the form of an amount. */
export interface EntryItem<A> {
  readonly id: EntryId
  readonly uid: Uid
  readonly wid: WalletId
  readonly osn: string
  readonly type: EntryType
  readonly cuy: CurrencyId
  readonly amt: A
  readonly balance: A
  readonly mark: string
  readonly created_at: string
}

/** A ledger entry as backends see it. */
export interface PostedItem<A> extends EntryItem<A> {
  readonly by: BackendName | ''
}

/** Writes an amount in smallest units of a currency with this scale. */
export type WriteAmount<A> = (units: bigint, scale: number) => A

/** The item of an entry. */
export function entryItem<A>(entry: Entry, currencies: Currencies, write: WriteAmount<A>): EntryItem<A> {
  const { id, uid, wid, osn, type, cuy, mark } = entry
  const currency = currencies.byId.get(cuy)
  // Without the scale, which is configuration, an amount cannot be written: a guess could be wrong by powers of ten.
  if (currency === undefined) throw new Error(`entry ${id} is in currency ${cuy}, which is not configured`)
  const amt = write(entry.amount, currency.scale)
  const balance = write(entry.balance, currency.scale)
  return { id, uid, wid, osn, type, cuy, amt, balance, mark, created_at: formatInstant(entry.createdAt) }
}

/** The item of an entry with the name of its backend. */
export function postedItem<A>(entry: Entry, currencies: Currencies, write: WriteAmount<A>): PostedItem<A> {
  return { ...entryItem(entry, currencies, write), by: entry.by }
}
