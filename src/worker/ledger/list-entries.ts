import { type Amount, noAmount } from '../common/amount.ts'
import type { Uid } from '../common/ids.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import type { ReadDatabase } from '../d1/database.ts'
import type { Currencies, Currency } from './currencies.ts'
import type { EntryList, EntrySelection } from './entry.ts'
import { pageRowsDefault, selectBalances, selectEntries } from './store/entries.ts'

/** A page that is asked for by its number begins among this many of the newest entries. */
export const offsetMax = 10_000
const tooDeep = `at most ${offsetMax} entries deep; use before for older ones`
/** The message to a caller who gives both `page` and `before`. */
const notWithBefore = 'not allowed with before'

/**
 * Reads the user's balance in each configured currency, ordered by `cuy`, in ledger units; 0 where
 * the user has no entry.
 */
export async function listWallets(
  { db, currencies }: { readonly db: ReadDatabase; readonly currencies: Currencies },
  uid: Uid,
): Promise<readonly { readonly currency: Currency; readonly amount: Amount }[]> {
  const balances = new Map((await selectBalances(db, uid)).map(({ cuy, amount }) => [cuy, amount]))
  return currencies.list.map((currency) => ({ currency, amount: balances.get(currency.cuy) ?? noAmount }))
}

/**
 * Reads one page of a user's entries, newest first. Refuses `page` beside `before`, and a page that
 * begins past `offsetMax` existing entries.
 */
export async function listEntries(
  { db }: { readonly db: ReadDatabase },
  uid: Uid,
  selection: EntrySelection,
): Promise<Result<EntryList, QueryFailure>> {
  const { page, before, limit = pageRowsDefault } = selection
  const refuse = (why: string) => err({ kind: 'bad-input', field: 'page', why } as const)
  if (page !== undefined && before !== undefined) return refuse(notWithBefore)
  const isDeep = page !== undefined && (page - 1) * limit >= offsetMax
  // A page past the end of a short history is empty, not refused. Counting is cheap, because
  // entries store their number.
  if (isDeep && (await selectEntries(db, uid, { limit: 1 })).count > offsetMax) return refuse(tooDeep)
  return ok(await selectEntries(db, uid, selection))
}
