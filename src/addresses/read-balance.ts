import type { Chain } from '../chain/chain.ts'
import { balancesMax } from '../chain/limits.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { Currency } from '../ledger/currencies.ts'
import type { Uid } from '../ledger/entry.ts'
import type { Address } from './address.ts'
import type { AddressBook } from './address-book.ts'

/** What reading a balance needs. */
export interface ReadBalanceParts {
  readonly addresses: AddressBook
  readonly chain: Pick<Chain, 'balances'>
}

/** What to sum: one currency, over all of the caller's addresses or one of them. */
export interface BalanceQuery {
  readonly currency: Currency
  readonly address: Address | null
}

/**
 * What the chain says that the caller's addresses hold now, in chain units. 0 where the caller has no address. One
 * HTTP request to a node for up to `balancesMax` addresses.
 */
export async function readChainBalance(
  parts: ReadBalanceParts,
  uid: Uid,
  { currency, address }: BalanceQuery,
): Promise<Result<bigint, QueryFailure>> {
  const own = (await parts.addresses.all(uid)).map((issued) => issued.address)
  const asked = address === null ? own : own.filter((one) => one === address)
  if (address !== null && asked.length === 0) return err({ kind: 'not-found', what: 'address' })
  let sum = 0n
  for (let i = 0; i < asked.length; i += balancesMax) {
    const held = await parts.chain.balances(asked.slice(i, i + balancesMax), currency.asset)
    if (!held.ok) return err({ kind: 'chain-unavailable' })
    for (const units of held.value) sum += units
  }
  return ok(sum)
}
