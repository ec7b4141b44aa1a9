import { type Amount, noAmount } from '../common/amount.ts'
import type { Uid } from '../common/ids.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import type { ReadDatabase } from '../d1/database.ts'
import type { Currencies, Currency } from './currencies.ts'
import type { EntryList, EntrySelection } from './entry.ts'
import { pageRowsDefault, selectBalances, selectEntries } from './store/entries.ts'

/** Most entries that a page by number skips in a history that has more: each of them is read. */
export const offsetMax = 10_000
/** What is wrong with a page behind more than `offsetMax` entries. */
const tooDeep = `at most ${offsetMax} entries deep; use before for older ones`
/** What is wrong with a page together with `before`. */
export const notWithBefore = 'not allowed with before'

/** One balance in ledger units for each configured currency, ordered by `cuy`; 0 where there is no entry yet. */
export async function listWallets(
  { db, currencies }: { readonly db: ReadDatabase; readonly currencies: Currencies },
  uid: Uid,
): Promise<readonly { readonly currency: Currency; readonly amount: Amount }[]> {
  const balances = new Map((await selectBalances(db, uid)).map(({ cuy, amount }) => [cuy, amount]))
  return currencies.list.map((currency) => ({ currency, amount: balances.get(currency.cuy) ?? noAmount }))
}

/** One page of a caller's entries, newest first, unless it is too deep in a long history. */
export async function listEntries(
  { db }: { readonly db: ReadDatabase },
  uid: Uid,
  selection: EntrySelection,
): Promise<Result<EntryList, QueryFailure>> {
  const { page, before, limit = pageRowsDefault } = selection
  const refuse = (why: string) => err({ kind: 'bad-input', field: 'page', why } as const)
  if (page !== undefined && before !== undefined) return refuse(notWithBefore)
  const isDeep = page !== undefined && (page - 1) * limit > offsetMax
  // A page past the end of a short history is empty. The number of all entries is stored, so it costs nothing to read.
  if (isDeep && (await selectEntries(db, uid, { limit: 1 })).count > offsetMax) return refuse(tooDeep)
  return ok(await selectEntries(db, uid, selection))
}
