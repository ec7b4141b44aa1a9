import type { Uid } from '../common/ids.ts'
import { type Amount, noAmount } from '../common/amount.ts'
import type { Currencies, Currency } from './currencies.ts'
import type { LedgerReader } from './ledger-reader.ts'

/** What listing wallets needs. */
export interface ListWalletsParts {
  readonly ledger: Pick<LedgerReader, 'balances'>
  readonly currencies: Currencies
}

/** One balance in ledger units for each configured currency, ordered by `cuy`; 0 where there is no entry yet. */
export async function listWallets(
  { ledger, currencies }: ListWalletsParts,
  uid: Uid,
): Promise<readonly { readonly currency: Currency; readonly amount: Amount }[]> {
  const balances = new Map((await ledger.balances(uid)).map(({ cuy, amount }) => [cuy, amount]))
  return currencies.list.map((currency) => ({ currency, amount: balances.get(currency.cuy) ?? noAmount }))
}
