import type { Uid } from '../../src/common/ids.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import type { ChainTransfer, Environment } from './environment.ts'
import { fineToken } from './scenario.ts'

/** What a transfer is worth to a caller by the contract alone. */
export interface ExpectedDeposit {
  readonly uid: Uid
  readonly cuy: number
  readonly outcome: 'credited' | 'below-minimum' | 'dust' | 'too-large'
  readonly amount: bigint
}

/**
 * What a transfer is worth, or null where it is no deposit: its recipient is no deposit address, its sender is one, or its
 * token is not what the configuration describes. The rules are written a second time here: none of the service's code is
 * used.
 */
export function expectedDeposit(env: Environment, transfer: ChainTransfer): ExpectedDeposit | null {
  const { owners, issuedHeights, scenario } = env
  const uid = owners.get(transfer.to)
  if (uid === undefined || owners.has(transfer.from)) return null
  if (transfer.height <= (issuedHeights.get(transfer.to) ?? 0)) return null // paid to whoever had the address then
  const expect = (cuy: number, minimum: bigint, unit: bigint): ExpectedDeposit => {
    const units = transfer.raw / unit
    if (transfer.raw < minimum) return { uid, cuy, outcome: 'below-minimum', amount: 0n }
    if (units === 0n) return { uid, cuy, outcome: 'dust', amount: 0n }
    if (units >= 2n ** 53n) return { uid, cuy, outcome: 'too-large', amount: 0n }
    return { uid, cuy, outcome: 'credited', amount: units }
  }
  switch (transfer.contract) {
    case null:
      return expect(1, 0n, 1n)
    case usdtAddress:
      return expect(2, 0n, 10_000n)
    case fineToken:
      return scenario.decimalsDiffer ? null : expect(3, 5n * 10n ** 17n, 10n ** 12n)
    default:
      return null
  }
}

/** Whether an expected deposit may find its wallet full: all that the chain and posts have for the wallet is more than fits. */
export function mayBeFull(env: Environment, expected: ExpectedDeposit): boolean {
  let sum = 0n
  for (const transfer of env.transfers.values()) {
    const other = expectedDeposit(env, transfer)
    if (other?.uid === expected.uid && other.cuy === expected.cuy) sum += other.amount
  }
  for (const { uid, cuy, amount } of env.posts.flatMap(({ entries }) => entries)) {
    if (uid === expected.uid && cuy === expected.cuy && amount > 0n) sum += amount
  }
  return sum >= 2n ** 53n
}

/** All deposits of the final chain, by credit key. */
export function expectedDeposits(
  env: Environment,
): ReadonlyMap<string, { readonly transfer: ChainTransfer; readonly expected: ExpectedDeposit }> {
  const all = new Map<string, { transfer: ChainTransfer; expected: ExpectedDeposit }>()
  for (const [key, transfer] of env.transfers) {
    const expected = transfer.height <= env.finalized() ? expectedDeposit(env, transfer) : null
    if (expected !== null) all.set(key, { transfer, expected })
  }
  return all
}
