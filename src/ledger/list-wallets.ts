import { type Amount, noAmount } from '../common/amount.ts'
import type { Uid } from '../common/ids.ts'
import type { ReadDatabase } from '../d1/database.ts'
import type { Currencies, Currency } from './currencies.ts'
import { selectBalances } from './entries.ts'

/** One balance in ledger units for each configured currency, ordered by `cuy`; 0 where there is no entry yet. */
export async function listWallets(
  { db, currencies }: { readonly db: ReadDatabase; readonly currencies: Currencies },
  uid: Uid,
): Promise<readonly { readonly currency: Currency; readonly amount: Amount }[]> {
  const balances = new Map((await selectBalances(db, uid)).map(({ cuy, amount }) => [cuy, amount]))
  return currencies.list.map((currency) => ({ currency, amount: balances.get(currency.cuy) ?? noAmount }))
}
