import type { Uid } from '../../src/common/ids.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import type { Environment, MinedTransfer } from './environment.ts'
import { fineToken } from './scenario.ts'
import type { StoredTransfer } from './stored.ts'

/** What a transfer is worth to a caller. */
export interface ExpectedDeposit {
  readonly uid: Uid
  readonly cuy: number
  readonly state: 'credited' | 'held' | 'refused'
  readonly reason: 'below-minimum' | 'dust' | 'too-large' | 'decimals-differ' | null
  readonly amount: bigint
}

/**
 * What a transfer is worth, or null where it is no deposit: its recipient is no deposit address, its sender is one or the operator's,
 * or its token is not configured. The rules are written a second time here: none of the service's code is used.
 */
export function expectedDeposit(env: Environment, transfer: MinedTransfer): ExpectedDeposit | null {
  const { owners, issuedHeights, scenario } = env
  const uid = owners.get(transfer.to)
  if (uid === undefined || owners.has(transfer.from)) return null
  if (transfer.height <= (issuedHeights.get(transfer.to) ?? 0)) return null // paid to whoever had the address then
  const expect = (cuy: number, minimum: bigint, unit: bigint): ExpectedDeposit => {
    const units = transfer.raw / unit
    if (transfer.raw < minimum) return { uid, cuy, state: 'refused', reason: 'below-minimum', amount: 0n }
    if (units === 0n) return { uid, cuy, state: 'refused', reason: 'dust', amount: 0n }
    if (units >= 2n ** 53n) return { uid, cuy, state: 'held', reason: 'too-large', amount: 0n }
    return { uid, cuy, state: 'credited', reason: null, amount: units }
  }
  switch (transfer.contract) {
    case null:
      return expect(1, 0n, 1n)
    case usdtAddress:
      return expect(2, 0n, 10_000n)
    case fineToken:
      if (scenario.decimalsDiffer) return { uid, cuy: 3, state: 'held', reason: 'decimals-differ', amount: 0n }
      return expect(3, 5n * 10n ** 17n, 10n ** 12n)
    default:
      return null
  }
}

/** Whether a wallet can be full: all that the chain, blocks that were replaced, and posts have for it is more than fits. */
function mayBeFull(env: Environment, expected: ExpectedDeposit): boolean {
  let sum = 0n
  for (const { uid, cuy, amount } of env.creditedElsewhere.values()) {
    if (uid === expected.uid && cuy === expected.cuy) sum += amount
  }
  for (const transfer of env.transfers.values()) {
    const other = expectedDeposit(env, transfer)
    if (other?.uid === expected.uid && other.cuy === expected.cuy) sum += other.amount
  }
  for (const { uid, cuy, amount } of env.posts.flatMap(({ entries }) => entries)) {
    if (uid === expected.uid && cuy === expected.cuy && amount > 0n) sum += amount
  }
  return sum >= 2n ** 53n
}

/** Whether what is worth something can wait for a reason of the moment. */
export function mayWait(env: Environment, expected: ExpectedDeposit, reason: string | null): boolean {
  if (reason === 'wallet-full') return mayBeFull(env, expected)
  if (reason === 'retired') return env.retiredAt > 0
  return reason === 'decimals-unknown' && expected.cuy !== 1
}

/** Whether a stored transfer is what it is expected to be, or waits for a reason of the moment. */
export function isExpected(env: Environment, stored: StoredTransfer, expected: ExpectedDeposit): boolean {
  if (stored.uid !== expected.uid || stored.cuy !== expected.cuy) return false
  const { state, reason, amount } = expected
  if (stored.state === state && stored.reason === reason && stored.amount === amount) return true
  return stored.state === 'held' && stored.amount === 0n && mayWait(env, expected, stored.reason)
}

/** All deposits of the final chain, by credit key. */
export function expectedDeposits(
  env: Environment,
): ReadonlyMap<string, { readonly transfer: MinedTransfer; readonly expected: ExpectedDeposit }> {
  const all = new Map<string, { transfer: MinedTransfer; expected: ExpectedDeposit }>()
  for (const [key, transfer] of env.transfers) {
    const expected = transfer.height <= env.finalized() ? expectedDeposit(env, transfer) : null
    if (expected !== null) all.set(key, { transfer, expected })
  }
  return all
}
