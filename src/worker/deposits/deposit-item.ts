import { formatBase58 } from '../chain/address.ts'
import { formatPosition, type ShownPosition } from '../chain/block.ts'
import type { HeldReason, RefusedReason } from '../common/reasons.ts'
import { formatInstant } from '../common/time.ts'
import { type Currencies, configured } from '../ledger/currencies.ts'
import type { WriteAmount } from '../ledger/entry.ts'
import type { Deposit, DepositState } from './deposit.ts'
import { explainHeld, explainRefused } from './explain.ts'

/**
 * A transfer as its user sees it. `A` is the type that `WriteAmount` makes of an amount. `seconds`: estimate until it is final. `reason` and `why` (a
 * sentence): why it is held or refused. `entry`: id of the ledger entry that credits it.
 */
export type DepositItem<A> = {
  readonly id: number
  readonly txid: string
  readonly position: ShownPosition
  readonly cuy: number
  readonly amt: A
  readonly address: string
  readonly state: DepositState
  readonly created_at: string
  readonly seconds?: number
  readonly reason?: string
  readonly why?: string
  readonly entry?: number
}

/** A transfer as backends see it: also with its user and, once a review has ended, the decision. */
export type OwnedDepositItem<A> = DepositItem<A> & {
  readonly uid: number
  readonly decided?: { readonly decision: 'credit' | 'refuse'; readonly why: string; readonly by: string }
}

/** Shows a transfer in an answer to its user. A credited transfer has the amount of its ledger entry; any other has the amount on the chain. */
export function depositItem<A>(deposit: Deposit, currencies: Currencies, write: WriteAmount<A>): DepositItem<A> {
  const { id, txid, cuy, to, state, raw, amount, reason, finalIn, entry, createdAt } = deposit
  const currency = configured(cuy, currencies)
  const amt = state === 'credited' ? write(amount, currency.scale) : write(raw, currency.decimals)
  const identity = { id, txid, position: formatPosition(deposit.position), cuy, amt, address: formatBase58(to) }
  const members = { ...identity, state, created_at: formatInstant(createdAt) }
  if (reason !== null) return { ...members, reason, why: explain(deposit, reason, currencies) }
  return { ...members, ...(finalIn === null ? {} : { seconds: finalIn }), ...(entry === null ? {} : { entry }) }
}

/** Shows a transfer in an answer to a backend; see `depositItem`. */
export function ownedDepositItem<A>(
  deposit: Deposit,
  currencies: Currencies,
  write: WriteAmount<A>,
): OwnedDepositItem<A> {
  const { uid, decided } = deposit
  return { ...depositItem(deposit, currencies, write), uid, ...(decided === null ? {} : { decided }) }
}

function explain({ cuy, raw, state }: Deposit, reason: HeldReason | RefusedReason, currencies: Currencies): string {
  if (state === 'held') return explainHeld(reason as HeldReason) // safe: a CHECK allows only these reasons in this state
  return explainRefused({ cuy, raw, reason: reason as RefusedReason }, currencies) // safe: the state is `refused`, in which a CHECK allows only these reasons
}
