import type { Address } from '../chain/address.ts'
import type { Chain } from '../chain/chain.ts'
import { balancesMax } from '../chain/limits.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { Alarms } from '../platform/alarms.ts'
import type { AddressBook } from './address-book.ts'

/** What the calls of an isolate share about the key. */
export interface KeyUse {
  /** True once an address of it was found in use. */
  wasUsed: boolean
  /** How many of its first addresses have no account: where nodes limit the rate, the next call continues from there. */
  withoutAccount: number
}

/** What checking the key needs. */
export interface KeyUseParts {
  readonly addresses: Pick<AddressBook, 'isEmpty'>
  readonly chain: Pick<Chain, 'holder'>
  /** Has requests of its own: many are needed, and none is left to be proven by who asks for an address. */
  readonly proofChain: Pick<Chain, 'activated'>
  readonly currencies: Currencies
  /** `TRON_FIRST_INDEX`, or null. */
  readonly firstIndex: number | null
  /** The address at an index of the deployment's extended public key. */
  readonly addressAt: (index: number) => Address
  readonly keyUse: KeyUse
  readonly alarms: Alarms
}

/**
 * Whether the next address may be the first one of the key. On an empty database without `TRON_FIRST_INDEX`, the key's
 * first addresses must never have held anything, as far as nodes can show it: otherwise it served another database, and its
 * addresses would be issued again.
 */
export async function checkKeyUse(parts: KeyUseParts): Promise<'unused' | 'used' | 'unknown'> {
  const { addresses, chain, proofChain, currencies, firstIndex, addressAt, keyUse, alarms } = parts
  if (firstIndex !== null || !(await addresses.isEmpty())) return 'unused'
  if (keyUse.wasUsed) return 'used'
  const first = Array.from({ length: balancesMax }, (_, index) => addressAt(index))
  const found = async (index: number, cuy: CurrencyId | null) => {
    keyUse.wasUsed = true
    await alarms.raise('key-was-used', '', { index, cuy })
    return 'used' as const
  }
  for (const { asset, cuy } of currencies.list) {
    const holder = await chain.holder(first, asset)
    if (!holder.ok) return 'unknown'
    if (holder.value !== null) return await found(holder.value, cuy)
  }
  for (let index = keyUse.withoutAccount; index < first.length; index += 1) {
    const activated = await proofChain.activated(first.slice(index, index + 1))
    if (!activated.ok) return 'unknown'
    if (activated.value !== null) return await found(index, null)
    keyUse.withoutAccount = Math.max(keyUse.withoutAccount, index + 1)
  }
  return 'unused'
}
