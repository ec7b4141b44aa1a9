import type { Address } from '../chain/address.ts'
import { balancesMax, type ScannerCalls } from '../chain/chain.ts'
import type { Uid } from '../common/ids.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import type { ReadDatabase } from '../d1/database.ts'
import type { Currency } from '../ledger/currencies.ts'
import { selectAddresses, selectIssued } from './store/address-book.ts'

/** The most addresses whose balances one call sums. They take 20 requests to a node. */
export const balanceAddressesMax = 20 * balancesMax

export interface ReadBalanceParts {
  readonly db: ReadDatabase
  readonly scanner: Pick<ScannerCalls, 'balances'>
}

/**
 * Which balance to read: that of `address`, which must be one of the user's, or with null the sum
 * over all of the user's addresses.
 */
export interface BalanceQuery {
  readonly currency: Currency
  readonly address: Address | null
}

/**
 * Sums the balances of the user's addresses as a node shows them now, in chain units; 0 if the user
 * has no address. Takes one request to a node for every `balancesMax` addresses. If the user has
 * more than `balanceAddressesMax` addresses, the query must name one of them.
 */
export async function readChainBalance(
  { db, scanner }: ReadBalanceParts,
  uid: Uid,
  { currency, address }: BalanceQuery,
): Promise<Result<bigint, QueryFailure>> {
  const issued =
    address === null
      ? await selectAddresses(db, uid, balanceAddressesMax + 1)
      : [await selectIssued(db, address)].filter((one) => one?.uid === uid)
  const wanted = issued.flatMap((one) => one?.address ?? [])
  if (address !== null && wanted.length === 0) return err({ kind: 'not-found', what: 'address' })
  if (wanted.length > balanceAddressesMax) {
    const why = `required where you have more than ${balanceAddressesMax} addresses`
    return err({ kind: 'bad-input', field: 'address', why })
  }
  if (wanted.length === 0) return ok(0n)
  const balances = await scanner.balances(uid, wanted, currency.asset)
  return balances.ok ? ok(balances.value.reduce((sum, units) => sum + units, 0n)) : balances
}
