import type { BlockHeight, Txid } from '../chain/block.ts'
import { type DeciderName, isSameName } from '../common/ids.ts'
import type { PayoutState, WaitReason } from '../common/payout-states.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { payouts, payoutTransactions, StuckReason, TransactionEnd } from '../d1/payout-tables.ts'
import type { PayoutLimit } from '../ledger/context.ts'
import type { PayoutFailure } from './failure.ts'
import type { Outflow } from './outflow.ts'
import { type ConfirmedFee, endOf, receivedBy } from './payment.ts'

// The state machines of a payout and of its transactions. `npm run db:generate` writes both tables
// into the triggers `payout_takes_its_steps` and `payout_transaction_takes_its_steps`, which refuse
// every other step.

/** A payout is stuck after this many of its transactions have expired. */
export const transactionsMax = 3

/**
 * The causes of a change of a payout's state. The events that backends receive are others: triggers
 * write them when the state changes.
 */
export type PayoutEvent =
  /** A person who may approve, and did not ask for the payout, approves it. */
  | 'approve'
  /** A person who may pay or approve cancels the payout: the money goes back to the wallet. */
  | 'cancel'
  /** The signer hands in bytes that pay exactly this payout. */
  | 'hand-in'
  /** A final block contains the payout's transaction, which pays exactly this payout. */
  | 'pays'
  /** A final block contains the payout's transaction, which failed or paid something else. */
  | 'misses'
  /**
   * No block can contain the payout's transaction any more, and the payout may have another
   * transaction.
   */
  | 'expires'
  /**
   * No block can contain the payout's transaction any more, and the payout may have no other
   * transaction.
   */
  | 'expires-for-good'
  /**
   * An operator lowers the finalized height below the block that ended the payout's transaction, or
   * a block shows that it has ended otherwise.
   */
  | 'reopens'

/**
 * The allowed transitions, from state to state, with their events. A transition that is absent is
 * refused.
 */
export const payoutSteps: Readonly<
  Record<PayoutState, Partial<Readonly<Record<PayoutState, readonly PayoutEvent[]>>>>
> = {
  waiting: { approved: ['approve'], cancelled: ['cancel'] },
  approved: { signed: ['hand-in', 'reopens'], cancelled: ['cancel'] },
  signed: { paid: ['pays'], approved: ['expires'], stuck: ['misses', 'expires-for-good'] },
  stuck: { approved: ['approve'], cancelled: ['cancel'], signed: ['reopens'] },
  paid: { signed: ['reopens'] },
  cancelled: {},
}

/** `open` while the transaction can be mined, else how it ended. */
export type TransactionState = 'open' | TransactionEnd

export type TransactionEvent =
  /** A final block contains the transaction. */
  | 'found'
  /** Every block that could contain the transaction was read, and none does. */
  | 'passed'
  /** The signer hands in the bytes of a transaction that no payout named. */
  | 'hand-in'
  /**
   * An operator lowers the finalized height below the block that ended the transaction. It is open
   * again or, if its payout has another one by now, `expired` with no block past its expiration.
   */
  | 'corrected'

/**
 * The allowed transitions of a transaction. A transaction that has paid leaves that state only if
 * an operator lowers the finalized height.
 */
export const transactionSteps: Readonly<
  Record<TransactionState, Partial<Readonly<Record<TransactionState, readonly TransactionEvent[]>>>>
> = {
  open: { paid: ['found'], failed: ['found'], other: ['found'], expired: ['passed'] },
  unknown: { open: ['hand-in'] },
  paid: { open: ['corrected'] },
  failed: { open: ['found', 'corrected'], expired: ['corrected'], late: ['found'] },
  other: { open: ['found', 'corrected'], expired: ['corrected'], late: ['found'] },
  expired: { open: ['found', 'corrected'], late: ['found'] },
  late: {},
}

/** A row of the table `payout`: `amount` in ledger units, `raw` in chain units. */
export type PayoutRow = typeof payouts.$inferSelect
/**
 * A row of the table `payout_transaction`. `ended` is null while a block can still contain the
 * transaction.
 */
export type TransactionRow = typeof payoutTransactions.$inferSelect

/** Whether `payoutSteps` allows the transition between these states by this event. */
const canBecome = (from: PayoutState, to: PayoutState, event: PayoutEvent) =>
  payoutSteps[from][to]?.includes(event) === true

/** Another transaction that may already have paid this payout. */
export interface OtherOutflow {
  readonly txid: Txid
  readonly moved: readonly Outflow[]
}

/** The sums that already count towards the limits of a day, in ledger units. */
export interface Used {
  readonly amount: bigint
  readonly count: number
}

/** For a user or currency without payouts in the last 24 hours. */
export const nothingUsed: Used = { amount: 0n, count: 0 }

/** Why a payout that waits was not approved by the limits of its currency. */
export function findWaitReason({
  limit_each: each,
  limit_least: least,
  amount,
}: Pick<PayoutRow, 'limit_each' | 'limit_least' | 'amount'>): WaitReason {
  if (each === null) return 'no-limits'
  if (amount > each) return 'above-limit'
  return amount < (least ?? 0) ? 'below-limit' : 'day'
}

/**
 * Whether the limits approve a payout of this amount: it must fit into every limit of its currency,
 * together with what counts for the last 24 hours in total (`ofAll`) and for its user (`ofUser`).
 * Without limits nothing is approved by rule.
 */
export function isWithinLimits(limit: PayoutLimit | null, amount: bigint, ofAll: Used, ofUser: Used): boolean {
  if (limit === null) return false
  const { each, least, perDay, countPerDay, perUserPerDay } = limit
  if (amount < least || amount > each) return false
  if (ofAll.amount + amount > perDay || ofAll.count + 1 > countPerDay) return false
  return perUserPerDay === null || ofUser.amount + amount <= perUserPerDay
}

/** The outflows that a person must see before deciding about a payout. */
export interface Outflows {
  /** The outflows of the payout's newest transaction, which did not pay it. */
  readonly newest: readonly Outflow[]
  readonly other: OtherOutflow | null
  /** Whether a transaction of the payout can be in a block that is not read yet. */
  readonly isUnread: boolean
}

/** Whether money has left for this payout, or may have left for it. */
const hasLeft = ({ newest, other }: Outflows) => newest.length > 0 || other !== null

/** A person's request to approve or cancel. */
interface PersonStep {
  readonly by: DeciderName
  readonly at: UnixMs
  /** The request says `moved: true`: the person knows that money has left. */
  readonly isOutflowKnown: boolean
}

/** Writes transfers out of the payout address as a part of a sentence, such as `5 USDT to T…`. */
export type SayOutflows = (moved: readonly Outflow[]) => string

/**
 * Approves a payout; one that was approved before is returned unchanged. `attempts` is the number
 * that the person saw on a stuck payout: if it has grown since, the approval is refused, so that a
 * repeated request approves nothing new. An approved stuck payout may have `transactionsMax` more
 * transactions.
 */
export function approve(
  payout: PayoutRow,
  outflows: Outflows,
  { by, at, isOutflowKnown, attempts }: PersonStep & { readonly attempts: number | undefined },
  say: SayOutflows,
): Result<PayoutRow, PayoutFailure> {
  const { id, state } = payout
  if (isSameName(payout.posted_by, by)) {
    return err({ kind: 'forbidden', why: `payout ${id}: another name must approve it than has asked for it` })
  }
  if (state === 'cancelled') return notNow(payout, 'it is cancelled')
  if (!canBecome(state, 'approved', 'approve')) return ok(payout) // it is approved already, or further on
  const left = isOutflowKnown ? null : refuseOutflow(payout, outflows, say)
  if (left !== null) return err(left)
  if (state === 'stuck' && attempts !== undefined && attempts !== payout.attempts) {
    const why = `payout ${id}: it is stuck since it had ${attempts} attempts: to approve it once more, send attempts: ${payout.attempts}`
    return err({ kind: 'conflict', reason: 'stuck-since', why })
  }
  return ok({
    ...payout,
    state: 'approved',
    approved_by: by,
    approved_at: payout.approved_at ?? at,
    counted: true,
    attempts_max: state === 'stuck' ? payout.attempts + transactionsMax : payout.attempts_max,
    reason: null,
    moved: null,
    changed_at: at,
  })
}

/**
 * Cancels a payout; one that was cancelled before is returned unchanged. It is not cancelled while
 * a transaction may still be found that has paid it. If money has left for it, the refund is a
 * loss. Then only a person who may approve and did not ask for the payout can cancel it.
 */
export function cancel(
  payout: PayoutRow,
  outflows: Outflows,
  { by, at, isOutflowKnown, why, mayApprove }: PersonStep & { readonly why: string; readonly mayApprove: boolean },
  say: SayOutflows,
): Result<PayoutRow, PayoutFailure> {
  const { id, state } = payout
  if (state === 'cancelled') return ok(payout)
  if (state === 'signed') return notNow(payout, 'it is signed: its transaction can be mined')
  if (!canBecome(state, 'cancelled', 'cancel')) return notNow(payout, `it is ${state}`)
  if (outflows.isUnread) return notNow(payout, 'an earlier transaction of it may be in a block that is not read yet')
  const left = isOutflowKnown ? null : refuseOutflow(payout, outflows, say)
  if (left !== null) return err(left)
  if (hasLeft(outflows) && (!mayApprove || isSameName(payout.posted_by, by))) {
    const takes = 'cancelling it takes the scope ledger:approve, and another name than has asked for it'
    return err({ kind: 'forbidden', why: `payout ${id}: money has left for it: ${takes}` })
  }
  const counted = payout.approved_at !== null && hasLeft(outflows)
  const cancelled = { state: 'cancelled', cancelled_by: by, why, counted, reason: null, moved: null } as const
  return ok({ ...payout, ...cancelled, changed_at: at })
}

/** Says what another transaction took that may have paid a payout, as part of a sentence. */
export const sayOther = ({ txid, moved }: OtherOutflow, say: SayOutflows) =>
  `another transaction of the payout address has moved ${say(moved)} in ${txid}: find out whether that was this payout`

function refuseOutflow({ id }: PayoutRow, { newest, other }: Outflows, say: SayOutflows): PayoutFailure | null {
  const why =
    newest.length > 0
      ? `its transaction has moved ${say(newest)}: decide who pays for it`
      : other === null
        ? null
        : sayOther(other, say)
  if (why === null) return null
  return { kind: 'conflict', reason: 'money-moved', why: `payout ${id}: ${why}, and send moved: true` }
}

function notNow({ id }: PayoutRow, why: string): Result<never, PayoutFailure> {
  return err({ kind: 'conflict', reason: 'not-in-this-state', why: `payout ${id}: ${why}` })
}

/** The columns that a payout copies from its new transaction. */
export type NewTransaction = Pick<TransactionRow, 'txid' | 'expires_at'>

/**
 * The payout in state `signed` with this transaction; null if its present state allows no
 * transaction.
 */
export function sign(payout: PayoutRow, { txid, expires_at }: NewTransaction, at: UnixMs): PayoutRow | null {
  if (!canBecome(payout.state, 'signed', 'hand-in')) return null
  return { ...payout, state: 'signed', txid, expires_at, changed_at: at }
}

/**
 * A transaction with the payout that it is to pay. `payout` is null if no payout names the
 * transaction.
 */
export interface Pair {
  readonly transaction: TransactionRow
  readonly payout: PayoutRow | null
}

/**
 * A transaction of the payout address as a final block shows it. `moved` is null until its receipt
 * is read.
 */
export interface Shown {
  readonly height: BlockHeight
  readonly succeeded: boolean
  /** The chain's word for how it ended, such as `SUCCESS` or `OUT_OF_ENERGY`. */
  readonly result: string
  readonly moved: readonly Outflow[] | null
}

/**
 * The changes of a transaction that a final block contains, and of its payout: none, one, or two in
 * order (it opens again, and ends in another way). `fees` are the confirmed fees of the payout's
 * token. Only the receipt of a contract call shows what the call moved. Until the receipt is read
 * the payout waits, and the open transaction keeps the payout from being signed again.
 */
export function conclude(pair: Pair, shown: Shown, fees: readonly ConfirmedFee[], at: UnixMs): readonly Pair[] {
  const { transaction, payout } = pair
  const { height, succeeded, result, moved } = shown
  const text = JSON.stringify(moved ?? [])
  const hasMovedOtherwise = moved !== null && transaction.moved !== text
  const isNews = transaction.height !== height || transaction.succeeded !== succeeded || hasMovedOtherwise
  const failure = succeeded ? null : result
  // What it cost is read again, because another block shows it.
  const cost = { burnt: null, energy: null }
  const found = { ...transaction, height, succeeded, result: failure, ...cost, moved: text, changed_at: at }
  switch (transaction.ended) {
    case null: {
      if (payout === null || moved === null) return []
      const ended = endOf(payout, shown, fees)
      const received = ended === 'paid' ? receivedBy(payout, moved) : null
      return [
        { transaction: { ...found, ended }, payout: concluded(payout, ended, { height, moved: text, received }, at) },
      ]
    }
    case 'unknown':
      // An operator has excused what was known of it, and not what it has moved besides.
      return moved !== null && (transaction.height !== height || hasMovedOtherwise)
        ? [{ transaction: hasMovedOtherwise ? { ...found, excused: null } : found, payout: null }]
        : []
    case 'failed':
    case 'other':
    case 'expired': {
      if (payout === null) return []
      const isNewest = payout.txid === transaction.txid && canBecome(payout.state, 'signed', 'reopens')
      // An operator may have confirmed since the fee by which it has paid.
      const hasPaid = isNewest && transaction.ended === 'other' && endOf(payout, shown, fees) === 'paid'
      if (!isNews && !hasPaid) return []
      if (isNewest && payout.state !== 'paid') {
        const open = reopen({ transaction, payout }, at)
        return [open, ...conclude(nextVersions(open), shown, fees, at)]
      }
      // The payout moved on without this transaction. If the transaction succeeded all the same,
      // somebody was paid twice, or is about to be. A trigger counts what it moved for the limits,
      // also of a payout that is cancelled, and holds the payout's other transactions back.
      return succeeded ? [{ transaction: { ...found, ended: 'late' }, payout: null }] : []
    }
    case 'late':
      // Its receipt may be read later than its block. Since when it is known stays. An operator has
      // not excused what the receipt shows.
      return transaction.moved === '[]' && text !== '[]' && succeeded
        ? [{ transaction: { ...found, excused: null, changed_at: transaction.changed_at }, payout: null }]
        : []
    case 'paid':
      return []
  }
}

/**
 * The rows with the versions that they have once the first step is stored, so that a second step
 * can follow in the same batch.
 */
function nextVersions({ transaction, payout }: Pair): Pair {
  return {
    transaction: { ...transaction, version: transaction.version + 1 },
    payout: payout === null ? null : { ...payout, version: payout.version + 1 },
  }
}

/** What no block has shown of a transaction yet. */
export const neverFound = {
  ended: null,
  height: null,
  succeeded: null,
  result: null,
  moved: null,
  burnt: null,
  energy: null,
} as const

/**
 * Opens a transaction again, because blocks contradict how it ended. Its payout is `signed` again,
 * with this transaction.
 */
function reopen({ transaction, payout }: { transaction: TransactionRow; payout: PayoutRow }, at: UnixMs) {
  const { attempts } = payout
  const signed = {
    state: 'signed',
    attempts: attempts - 1,
    height: null,
    reason: null,
    moved: null,
    changed_at: at,
  } as const
  return {
    transaction: { ...transaction, ...neverFound, changed_at: at },
    payout: { ...payout, ...signed },
  }
}

/**
 * Ends a transaction that no block can contain any more. Its payout becomes `approved` again, or
 * `stuck` if it may have no other transaction.
 */
export function expire({ transaction, payout }: { transaction: TransactionRow; payout: PayoutRow }, at: UnixMs): Pair {
  const nothing = { height: null, moved: '[]', received: null }
  return {
    transaction: { ...transaction, ended: 'expired', changed_at: at },
    payout: concluded(payout, 'expired', nothing, at),
  }
}

/**
 * Returns the payout after its transaction has ended as `ended`. Throws if `payoutSteps` does not
 * allow that, which would be a bug.
 */
function concluded(
  payout: PayoutRow,
  ended: 'paid' | StuckReason,
  { height, moved, received }: Pick<PayoutRow, 'height' | 'received'> & { readonly moved: string },
  at: UnixMs,
): PayoutRow {
  const attempts = payout.attempts + (ended === 'paid' ? 0 : 1)
  const isOver = ended !== 'expired' || attempts >= payout.attempts_max
  const event: PayoutEvent =
    ended === 'paid' ? 'pays' : ended !== 'expired' ? 'misses' : isOver ? 'expires-for-good' : 'expires'
  const state = ended === 'paid' ? 'paid' : isOver ? 'stuck' : 'approved'
  if (!canBecome(payout.state, state, event)) throw new Error(`payout ${payout.id} is ${payout.state}, and ${event}`)
  return {
    ...payout,
    state,
    attempts,
    height,
    reason: ended !== 'paid' && isOver ? ended : null,
    moved: ended === 'other' ? moved : null,
    received,
    changed_at: at,
  }
}
