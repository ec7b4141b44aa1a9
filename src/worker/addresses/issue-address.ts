import type { Alarms } from '../alarms/alarms.ts'
import type { Address } from '../chain/address.ts'
import { balancesMax, type Chain, type ChainFailure, type ScannerCalls } from '../chain/chain.ts'
import { type CurrencyId, reservedUid, type Uid } from '../common/ids.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import type { WriteDatabase } from '../d1/database.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { type AddressAt, issueNext, selectCurrent } from './store/address-book.ts'

/** A user may have this many addresses without a deposit (BIP-44's gap limit). */
export const gapLimit = 20

export interface IssueAddressParts {
  readonly db: WriteDatabase
  readonly scanner: Pick<ScannerCalls, 'prepareIssue'>
  readonly addressAt: AddressAt
  /**
   * `TRON_FIRST_INDEX`: the index of the first address in an empty database; null if it is not set.
   */
  readonly firstIndex: number | null
  readonly issuesAddresses: boolean
  /** The payout address, or null. It is never issued, even if the key derives it. */
  readonly payouts: { readonly address: Address } | null
}

/**
 * Returns the user's current deposit address. The first call issues it; `fresh` issues another one,
 * unless `gapLimit` of the user's addresses have no deposit. Before it issues an address, the block
 * from which the scan reads is stored, so that no deposit to it is missed. `reservedUid` gets no
 * new address.
 */
export async function issueAddress(
  { db, scanner, addressAt, firstIndex, issuesAddresses, payouts }: IssueAddressParts,
  uid: Uid,
  { fresh }: { readonly fresh: boolean },
): Promise<Result<{ readonly id: number; readonly address: Address }, QueryFailure>> {
  if (!fresh) {
    const current = await selectCurrent(db, uid)
    if (current !== null) return ok(current)
  }
  if (uid === reservedUid) return err(fresh ? freshReserved : { kind: 'not-found', what: 'address' })
  if (!issuesAddresses) return err({ kind: 'issuing-off' })
  const prepared = await scanner.prepareIssue(uid, firstIndex)
  if (!prepared.ok) return prepared
  const next = { addressAt, firstIndex: firstIndex ?? 0, payoutAddress: payouts?.address ?? null }
  const issued = await issueNext(db, uid, next, fresh ? gapLimit : null)
  if (issued === 'payout-address') return err({ kind: 'cannot-issue', reason: 'configuration-differs' })
  return issued === null ? err({ kind: 'gap-limit', limit: gapLimit }) : ok(issued)
}

const freshReserved: QueryFailure = {
  kind: 'bad-input',
  field: 'fresh',
  why: `not allowed for ${reservedUid}, which is reserved`,
}

/**
 * What `checkKeyUse` has found so far. Its caller keeps it between calls; if it is lost, the next
 * call only sends the same requests again.
 */
export interface KeyUse {
  /** True once an address of the key was found in use: then no node is asked again. */
  wasUsed: boolean
  /**
   * How many of the first addresses have no account. If an allowance ends the check, the next call
   * continues from here.
   */
  withoutAccount: number
}

export interface KeyUseParts {
  readonly chain: Pick<Chain, 'holder' | 'activated'>
  readonly currencies: Currencies
  readonly addressAt: AddressAt
  readonly keyUse: KeyUse
  readonly alarms: Pick<Alarms, 'raise'>
}

/**
 * Asks nodes whether any of the key's first `balancesMax` addresses holds a configured currency or
 * has an account, and raises an alarm if one does. Such a key has served another database, so its
 * addresses must not be issued again.
 */
export async function checkKeyUse(parts: KeyUseParts): Promise<Result<'unused' | 'used', ChainFailure>> {
  const { chain, currencies, addressAt, keyUse, alarms } = parts
  if (keyUse.wasUsed) return ok('used')
  const first = Array.from({ length: balancesMax }, (_, index) => addressAt(index))
  const found = async (index: number, cuy: CurrencyId | null) => {
    keyUse.wasUsed = true
    await alarms.raise('key-was-used', {}, { index, cuy })
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
