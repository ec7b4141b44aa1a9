import type { Uid } from '../../src/worker/common/ids.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import type { Environment, MinedTransfer, SentDecision } from './environment.ts'
import { fineToken } from './scenario.ts'
import type { StoredTransfer } from './stored.ts'

/** The deposit that the service must make of a transfer. */
export interface ExpectedDeposit {
  readonly uid: Uid
  readonly cuy: number
  readonly state: 'credited' | 'held' | 'refused'
  readonly reason: 'below-minimum' | 'dust' | 'too-large' | 'decimals-differ' | null
  readonly amount: bigint
  /**
   * Whether the deposit is held until a backend has decided about it; then it is credited, or
   * refused.
   */
  readonly isReviewed: boolean
}

/**
 * The deposit that the service must make of a transfer; null if it must make none. None is made if
 * the recipient is no deposit address, or was issued later, if the sender is a deposit address, or
 * if the token is not configured. This repeats the service's rules without any of its code.
 */
export function expectedDeposit(env: Environment, transfer: MinedTransfer): ExpectedDeposit | null {
  const { owners, issuedHeights, scenario } = env
  const uid = owners.get(transfer.to)
  if (uid === undefined || owners.has(transfer.from)) return null
  // the transfer was final before the address was issued
  if (transfer.height <= (issuedHeights.get(transfer.to) ?? 0)) return null
  const none = { amount: 0n, isReviewed: false }
  const expect = (cuy: number, minimum: bigint, unit: bigint, reviewFrom: bigint | null): ExpectedDeposit => {
    const units = transfer.raw / unit
    if (transfer.raw < minimum) return { uid, cuy, state: 'refused', reason: 'below-minimum', ...none }
    if (units === 0n) return { uid, cuy, state: 'refused', reason: 'dust', ...none }
    if (units >= 2n ** 53n) return { uid, cuy, state: 'held', reason: 'too-large', ...none }
    const isReviewed = scenario.reviews && reviewFrom !== null && transfer.raw >= reviewFrom
    return { uid, cuy, state: 'credited', reason: null, amount: units, isReviewed }
  }
  switch (transfer.contract) {
    case null:
      return expect(1, 0n, 1n, null)
    case usdtAddress:
      return expect(2, 0n, 10_000n, 300_000_000n)
    case fineToken:
      if (scenario.decimalsDiffer) return { uid, cuy: 3, state: 'held', reason: 'decimals-differ', ...none }
      return expect(3, 5n * 10n ** 17n, 10n ** 12n, 0n)
    default:
      return null
  }
}

/**
 * Whether the wallet of a deposit can be full: more than fits was ever paid in by transfers, in
 * replaced blocks too, and by posts.
 */
function mayBeFull(env: Environment, expected: ExpectedDeposit): boolean {
  let sum = 0n
  for (const { uid, cuy, amount } of env.creditedElsewhere.values()) {
    if (uid === expected.uid && cuy === expected.cuy) sum += amount
  }
  for (const transfer of [...env.transfers.values(), ...env.sent.values()]) {
    const other = expectedDeposit(env, transfer)
    if (other?.uid === expected.uid && other.cuy === expected.cuy) sum += other.amount
  }
  for (const { uid, cuy, amount } of env.posts.flatMap(({ entries }) => entries)) {
    if (uid === expected.uid && cuy === expected.cuy && amount > 0n) sum += amount
  }
  return sum >= 2n ** 53n
}

/**
 * Whether an expected deposit may be held for this reason. All these reasons can pass: a full
 * wallet, a retired currency, unknown decimals.
 */
export function mayWait(env: Environment, expected: ExpectedDeposit, reason: string | null): boolean {
  if (reason === 'wallet-full') return mayBeFull(env, expected)
  if (reason === 'retired') return env.retiredAt > 0
  return reason === 'decimals-unknown' && expected.cuy !== 1
}

const inReview = { state: 'held', reason: 'review', amount: 0n } as const
const refusedAfterReview = { state: 'refused', reason: 'review', amount: 0n } as const

/**
 * The decisions about a transfer that backends have sent. `isAccepted` is set if an answer said
 * that the decision is stored.
 */
export function decisionsOf(
  { decisions }: Environment,
  { txid, position }: Pick<StoredTransfer, 'txid' | 'position'>,
): readonly SentDecision[] {
  return decisions.filter((one) => one.txid === txid && one.position === position)
}

/** The state that an expected deposit must have after the accepted decisions about it. */
export function decidedState(env: Environment, transfer: MinedTransfer, expected: ExpectedDeposit) {
  if (!expected.isReviewed) return expected.state
  const accepted = decisionsOf(env, transfer).filter(({ isAccepted }) => isAccepted)
  if (accepted.some(({ decision }) => decision === 'credit')) return 'credited'
  return accepted.length > 0 ? 'refused' : 'held'
}

/**
 * Whether a stored transfer has an expected outcome: that of the rules, that of a decision sent, or
 * held for a reason that can pass.
 */
export function isExpected(env: Environment, stored: StoredTransfer, expected: ExpectedDeposit): boolean {
  if (stored.uid !== expected.uid || stored.cuy !== expected.cuy) return false
  const decided = expected.isReviewed ? decisionsOf(env, stored) : null
  const outcomes =
    decided === null
      ? [expected]
      : [inReview, ...decided.map(({ decision }) => (decision === 'credit' ? expected : refusedAfterReview))]
  const isOne = outcomes.some(
    ({ state, reason, amount }) => stored.state === state && stored.reason === reason && stored.amount === amount,
  )
  if (isOne) return true
  return stored.state === 'held' && stored.amount === 0n && mayWait(env, expected, stored.reason)
}

/** All deposits in final blocks of the canonical chain, by credit key. */
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
