import { formatBase58 } from '../chain/address.ts'
import { trxDecimals } from '../common/amount.ts'
import type { PayoutState, WaitReason } from '../common/payout-states.ts'
import { formatInstant } from '../common/time.ts'
import type { StuckReason } from '../d1/payout-tables.ts'
import { type Currencies, configured } from '../ledger/currencies.ts'
import type { WriteAmount } from '../ledger/entry.ts'
import type { PayoutItem } from '../schemas/payout.ts'
import type { NodeAnswer } from './answers.ts'
import { type LeavingStop, stopRules } from './leaving.ts'
import { type OtherOutflow, type PayoutRow, sayOther } from './lifecycle.ts'
import { outflowItem, readOutflows, sayOutflows } from './outflow.ts'
import { sayFailed, type TransferFailure } from './transfer-failure.ts'

/** The columns of a payout that may be shown, in ledger units. Events contain a copy of them. */
export type Payout = Pick<PayoutRow, (typeof shownNames)[number]> & {
  /**
   * Why an approved payout may not be signed yet; null if it may. Absent if the reason was not
   * looked up.
   */
  readonly waitsFor?: WhyItWaits | null
  /**
   * Why a payout that waits needs a person; null in other states. Absent if it was not looked up.
   */
  readonly waitReason?: WaitReason | null
  /**
   * Another transaction that may already have paid the payout; null if there is none. Absent if it
   * was not looked up.
   */
  readonly other?: OtherOutflow | null
  /**
   * Why the transaction of a stuck payout failed; null if it has not failed. Absent if it was not
   * looked up.
   */
  readonly failure?: TransferFailure | null
  /**
   * The answers of nodes to the broadcast of the payout's newest transaction, if they were looked
   * up.
   */
  readonly answers?: readonly NodeAnswer[]
}

/**
 * A reason that stops payouts, or `to-user`: since the payout was requested, its recipient's
 * address has been issued to a user here, or `beyond`: the payout address plainly cannot pay for
 * it.
 */
export type WhyItWaits = LeavingStop | keyof typeof ownReasons

const shownNames = [
  ...(['id', 'uid', 'cuy', 'amount', 'fee', 'to_address', 'osn', 'mark', 'state', 'created_at', 'posted_by'] as const),
  ...(['approved_by', 'txid', 'expires_at', 'height', 'attempts', 'reason', 'moved', 'received', 'why'] as const),
] as const

/** `approved_by` of a payout that the limits have approved. */
export const byLimits = 'limits'

function failureItem<A>({ result, burnt = null, energy = null }: TransferFailure, write: WriteAmount<A>) {
  return {
    ...(result === null ? {} : { result }),
    ...(burnt === null || energy === null ? {} : { burnt: write(BigInt(burnt), trxDecimals), energy }),
  }
}

const answerItem = ({ name, answer, at }: NodeAnswer) => ({ node: name, answer, at: formatInstant(at) })

const explained: Readonly<Record<Exclude<StuckReason, 'failed'>, string>> = {
  other: 'its transaction is final and has succeeded without paying exactly this',
  expired: 'its transactions have expired, and none of them can be mined any more',
}
const ownReasons = {
  'to-user': 'to is the address of a user here now: cancel it, and post a transfer (type 3) between the two',
  beyond:
    'the payout address holds less than this, or neither TRX nor energy for a transfer: it goes on once more has come',
} as const
const isOwnReason = (stop: WhyItWaits): stop is keyof typeof ownReasons => Object.hasOwn(ownReasons, stop)
const sayWaiting = (stop: WhyItWaits) => `it waits: ${isOwnReason(stop) ? ownReasons[stop] : stopRules[stop].why}`
const withTransaction: readonly PayoutState[] = ['signed', 'paid', 'stuck']

/**
 * Turns a payout into the answer for backends. `write` formats an amount of smallest units with a
 * number of decimals.
 */
export function payoutItem<A>(payout: Payout, currencies: Currencies, write: WriteAmount<A>): PayoutItem<A> {
  const { id, uid, cuy, osn, mark, state, attempts, reason, why, txid, expires_at, height, moved, received } = payout
  const { waitsFor = null, waitReason = null, other = null, failure = null, answers = [] } = payout
  const currency = configured(cuy, currencies)
  const hasTransaction = withTransaction.includes(state)
  const sentences = [
    reason === null
      ? waitsFor === null
        ? why
        : sayWaiting(waitsFor)
      : reason === 'failed'
        ? sayFailed(failure ?? { result: null })
        : explained[reason],
    other === null ? null : sayOther(other, (parts) => sayOutflows(parts, currencies)),
  ].filter((one) => one !== null)
  const outflows = moved !== null ? readOutflows(moved) : (other?.moved ?? null)
  return {
    id,
    uid,
    cuy,
    amt: write(BigInt(payout.amount), currency.scale),
    fee: write(BigInt(payout.fee), currency.scale),
    to: formatBase58(payout.to_address),
    osn,
    mark,
    state,
    created_at: formatInstant(payout.created_at),
    by: payout.posted_by,
    ...(payout.approved_by === null ? {} : { approved_by: payout.approved_by === '' ? byLimits : payout.approved_by }),
    ...(txid === null || !hasTransaction ? {} : { txid }),
    ...(expires_at === null || !hasTransaction ? {} : { expires_at: formatInstant(expires_at) }),
    ...(height === null || !hasTransaction ? {} : { height }),
    attempts,
    ...(waitReason === null ? {} : { waits_for: waitReason }),
    ...(reason === null ? {} : { reason }),
    ...(failure === null ? {} : { failure: failureItem(failure, write) }),
    ...(sentences.length === 0 ? {} : { why: sentences.join('; ') }),
    ...(outflows === null ? {} : { moved: outflows.map((part) => outflowItem(part, currencies, write)) }),
    ...(received === null || received === undefined ? {} : { received: write(BigInt(received), currency.decimals) }),
    ...(answers.length === 0 ? {} : { answers: answers.map(answerItem) }),
  }
}
