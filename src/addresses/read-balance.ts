import type { Address } from '../chain/address.ts'
import type { Chain } from '../chain/chain.ts'
import { balancesMax } from '../chain/limits.ts'
import type { Uid } from '../common/ids.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Currency } from '../ledger/currencies.ts'
import { routeRequestsMax } from '../platform/limits.ts'
import type { AddressBook } from './address-book.ts'

/** Addresses whose balances one request can sum: half of its requests to nodes, the other half is for fail-over. */
export const balanceAddressesMax = (balancesMax * routeRequestsMax) / 2

/** What reading a balance needs. */
export interface ReadBalanceParts {
  readonly addresses: Pick<AddressBook, 'all'>
  readonly chain: Pick<Chain, 'balances'>
}

/** One currency, at one address of the caller or (null) at all of them. */
export interface BalanceQuery {
  readonly currency: Currency
  readonly address: Address | null
}

/**
 * The sum of the caller's balances on the chain now, in chain units. 0 where the caller has no address. One HTTP request
 * to a node for up to `balancesMax` addresses. More than `balanceAddressesMax` are a bad query, which must name one.
 */
export async function readChainBalance(
  { addresses, chain }: ReadBalanceParts,
  uid: Uid,
  { currency, address }: BalanceQuery,
): Promise<Result<bigint, QueryFailure>> {
  const own = (await addresses.all(uid)).map((issued) => issued.address)
  const wanted = address === null ? own : own.filter((one) => one === address)
  if (address !== null && wanted.length === 0) return err({ kind: 'not-found', what: 'address' })
  if (wanted.length > balanceAddressesMax) {
    return err({
      kind: 'bad-input',
      field: 'address',
      why: `required where you have more than ${balanceAddressesMax} addresses`,
    })
  }
  let sum = 0n
  for (let i = 0; i < wanted.length; i += balancesMax) {
    const balances = await chain.balances(wanted.slice(i, i + balancesMax), currency.asset)
    if (!balances.ok) return err({ kind: 'chain-unavailable' })
    for (const units of balances.value) sum += units
  }
  return ok(sum)
}
