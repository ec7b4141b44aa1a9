import { formatBase58 } from '../chain/address.ts'
import { formatPosition } from '../chain/block.ts'
import type { HeldReason, RefusedReason } from '../common/reasons.ts'
import { formatInstant } from '../common/time.ts'
import { type Currencies, configured } from '../ledger/currencies.ts'
import type { WriteAmount } from '../ledger/entry.ts'
import type { DepositItem, OwnedDepositItem } from '../schemas/deposit.ts'
import type { Deposit } from './deposit.ts'
import { explainHeld, explainRefused } from './explain.ts'

/**
 * Shows a transfer in an answer to its user. A credited transfer has the amount of its ledger
 * entry; any other has the amount on the chain.
 */
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
  // safe: a CHECK allows only these reasons in this state
  if (state === 'held') return explainHeld(reason as HeldReason)
  // safe: the state is `refused`, in which a CHECK allows only these reasons
  return explainRefused({ cuy, raw, reason: reason as RefusedReason }, currencies)
}
