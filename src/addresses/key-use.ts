import type { Alarms } from '../alarms/alarms.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { balancesMax } from '../chain/limits.ts'
import type { CurrencyId } from '../common/ids.ts'
import { ok, type Result } from '../common/result.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { AddressAt } from './address-book.ts'

/** What is remembered about the key. It can be lost at any time. */
export interface KeyUse {
  /** True once an address of it was found in use. */
  wasUsed: boolean
  /** How many of its first addresses have no account: where requests are limited, the next call goes on from there. */
  withoutAccount: number
}

/** What checking the key needs. */
export interface KeyUseParts {
  readonly chain: Pick<Chain, 'holder' | 'activated'>
  readonly currencies: Currencies
  /** The address at an index of the deployment's extended public key. */
  readonly addressAt: AddressAt
  readonly keyUse: KeyUse
  readonly alarms: Pick<Alarms, 'raise'>
}

/**
 * Whether the key's first addresses hold or ever held anything, as far as nodes can show it. Then it served another database,
 * and its addresses must not be issued again.
 */
export async function checkKeyUse(parts: KeyUseParts): Promise<Result<'unused' | 'used', ChainFailure>> {
  const { chain, currencies, addressAt, keyUse, alarms } = parts
  if (keyUse.wasUsed) return ok('used')
  const first = Array.from({ length: balancesMax }, (_, index) => addressAt(index))
  const found = async (index: number, cuy: CurrencyId | null) => {
    keyUse.wasUsed = true
    await alarms.raise('key-was-used', '', { index, cuy })
    return ok('used' as const)
  }
  for (const { asset, cuy } of currencies.list) {
    const holder = await chain.holder(first, asset)
    if (!holder.ok) return holder
    if (holder.value !== null) return found(holder.value, cuy)
  }
  for (const [index, address] of first.entries()) {
    if (index < keyUse.withoutAccount) continue
    const activated = await chain.activated(address)
    if (!activated.ok) return activated
    if (activated.value) return found(index, null)
    keyUse.withoutAccount = index + 1
  }
  return ok('unused')
}
