import { formatBase58 } from '../chain/address.ts'
import type { CurrencyId, PayoutId } from '../common/ids.ts'
import { formatInstant } from '../common/time.ts'
import type { PayoutState, StuckReason } from '../d1/payout-tables.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { WriteAmount } from '../ledger/entry.ts'
import type { NodeAnswer } from './answers.ts'
import { type LeavingStop, stopRules } from './leaving.ts'
import type { PayoutRow } from './lifecycle.ts'
import { type MovedItem, movedItem, readMoved } from './moved.ts'

/** What everybody may know of a payout: its columns, in ledger units. An event has a copy of them. */
export type Payout = Pick<PayoutRow, (typeof shownNames)[number]> & {
  /** Why an approved payout is not signed now, where it was looked up. */
  readonly waitsFor?: WhyItWaits | null
  /** What nodes have said about the sending of its newest transaction, where it was looked up. */
  readonly answers?: readonly NodeAnswer[]
}

/** What keeps its money from leaving, or that its recipient was issued here since it was asked for. */
export type WhyItWaits = LeavingStop | 'to-user'

const shownNames = [
  ...(['id', 'uid', 'cuy', 'amount', 'fee', 'to_address', 'osn', 'mark', 'state', 'created_at', 'posted_by'] as const),
  ...(['approved_by', 'txid', 'expires_at', 'height', 'attempts', 'reason', 'moved', 'received', 'why'] as const),
] as const

/** Who approved a payout that is within the limits. */
export const byLimits = 'limits'

/** A payout as backends see it. `A` is the form of an amount. */
export type PayoutItem<A> = {
  readonly id: PayoutId
  readonly uid: number
  readonly cuy: CurrencyId
  readonly amt: A
  readonly fee: A
  readonly to: string
  readonly osn: string
  readonly mark: string
  readonly state: PayoutState
  readonly created_at: string
  /** The backend that has asked for it. */
  readonly by: string
  /** A backend, or `limits`. */
  readonly approved_by?: string
  /** Of its newest transaction, where that is signed or has been found; and when it expires. */
  readonly txid?: string
  readonly expires_at?: string
  /** The block in which it was found. */
  readonly height?: number
  /** Transactions that have ended without paying. */
  readonly attempts: number
  /** Why it is stuck. */
  readonly reason?: StuckReason
  /** The same for people, why it was cancelled, or why an approved one waits. */
  readonly why?: string
  /** What has left the payout address in a transaction that has paid something else. */
  readonly moved?: readonly MovedItem<A>[]
  /** What has arrived of a paid one, where its token took a fee. */
  readonly received?: A
  /** What nodes last said about its sending: their words, which decide nothing. */
  readonly answers?: readonly { readonly node: string; readonly answer: string; readonly at: string }[]
}

const answerItem = ({ name, answer, at }: NodeAnswer) => ({ node: name, answer, at: formatInstant(at) })

const explained: Readonly<Record<StuckReason, string>> = {
  failed: 'its transaction is final and has failed: nothing was paid',
  other: 'its transaction is final and has succeeded without paying exactly this',
  expired: 'its transactions have expired, and none of them can be mined any more',
}
const toUser = 'to is the address of a user here now: cancel it, and post a transfer (type 3) between the two'
const sayWaiting = (stop: WhyItWaits) => `it waits: ${stop === 'to-user' ? toUser : stopRules[stop].why}`
const withTransaction: readonly PayoutState[] = ['signed', 'paid', 'stuck']

/** The item of a payout. */
export function payoutItem<A>(payout: Payout, currencies: Currencies, write: WriteAmount<A>): PayoutItem<A> {
  const { id, uid, cuy, osn, mark, state, attempts, reason, why, txid, expires_at, height, moved, received } = payout
  const { waitsFor = null, answers = [] } = payout
  const currency = currencies.byId.get(cuy)
  // A payout has entries, so its currency stays configured: without it nothing is served.
  if (currency === undefined) throw new Error(`payout ${id} is in currency ${cuy}, which is not configured`)
  const hasTransaction = withTransaction.includes(state)
  const sentence = reason === null ? (waitsFor === null ? why : sayWaiting(waitsFor)) : explained[reason]
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
    ...(reason === null ? {} : { reason }),
    ...(sentence === null ? {} : { why: sentence }),
    ...(moved === null ? {} : { moved: readMoved(moved).map((part) => movedItem(part, currencies, write)) }),
    ...(received === null || received === undefined ? {} : { received: write(BigInt(received), currency.decimals) }),
    ...(answers.length === 0 ? {} : { answers: answers.map(answerItem) }),
  }
}

const ownNames = ['id', 'cuy', 'amt', 'fee', 'to', 'osn', 'mark', 'state', 'created_at', 'txid', 'height'] as const
type OwnName = (typeof ownNames)[number]

/** Of what has the members of a payout, those that its user sees: nothing of who approved it, and of why it waits. */
export function pickOwn<T extends Partial<Readonly<Record<OwnName, unknown>>>>(item: T): Pick<T, OwnName & keyof T> {
  const own = ownNames.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]] as const]))
  return Object.fromEntries(own) as Pick<T, OwnName & keyof T> // the members with these names
}
