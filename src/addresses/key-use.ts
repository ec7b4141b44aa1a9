import type { Chain } from '../chain/chain.ts'
import { balancesMax } from '../chain/limits.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { Alarms } from '../platform/alarms.ts'
import type { Address } from './address.ts'
import type { AddressBook } from './address-book.ts'

/** What the calls of an isolate share about the key: true once an address of it was found in use. */
export interface KeyUse {
  wasUsed: boolean
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
  const questions = [
    ...currencies.list.map(({ cuy, asset }) => ({ cuy, ask: () => chain.holder(first, asset) })),
    { cuy: null, ask: () => proofChain.activated(first) },
  ]
  for (const { cuy, ask } of questions) {
    const answer = await ask()
    if (!answer.ok) return 'unknown'
    if (answer.value === null) continue
    keyUse.wasUsed = true
    await alarms.raise('key-was-used', '', { index: answer.value, cuy })
    return 'used'
  }
  return 'unused'
}
