import type { Amount } from './amount.ts'
import type { Currencies, Currency } from './currencies.ts'
import type { Uid } from './entry.ts'
import type { LedgerReader } from './ledger-store.ts'

/** What listing wallets needs. */
export interface ListWalletsParts {
  readonly reader: Pick<LedgerReader, 'balances'>
  readonly currencies: Currencies
}

/** One balance in ledger units for each configured currency, ordered by `cuy`; 0 where there is no entry yet. */
export async function listWallets(
  parts: ListWalletsParts,
  uid: Uid,
): Promise<readonly { readonly currency: Currency; readonly amount: Amount }[]> {
  const held = new Map((await parts.reader.balances(uid)).map((balance) => [balance.cuy, balance.amount]))
  const none = 0n as Amount // safe: 0 is within every bound
  return parts.currencies.list.map((currency) => ({ currency, amount: held.get(currency.cuy) ?? none }))
}
