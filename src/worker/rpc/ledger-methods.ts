import type * as z from 'zod/mini'
import type { CheckpointItem } from '../archive/checkpoint.ts'
import type { Reason } from '../common/reasons.ts'
import type { QueryFailure } from '../common/result.ts'
import type { DecideFailure, decisionToMake } from '../deposits/decide.ts'
import type { EventItem } from '../events/events.ts'
import type { postedEntry } from '../ledger/parse-post.ts'
import type { PostFailure } from '../ledger/post-entries.ts'
import type { OrderFailure } from '../orders/failure.ts'
import type { orderToCancel, requestedOrder } from '../orders/parse-order-request.ts'
import type { approval } from '../payouts/decide.ts'
import type { PayoutFailure } from '../payouts/failure.ts'
import type { requestedPayout } from '../payouts/parse-payout-request.ts'
import type { OwnedDepositItem } from '../schemas/deposit.ts'
import type { PostedItem } from '../schemas/entry.ts'
import type { OrderItem } from '../schemas/order.ts'
import type { PayoutItem } from '../schemas/payout.ts'

/** An entry to be posted. `amt` is a decimal of whole units with its sign, as text: `"-2.5"`. */
export type EntryToPost = Readonly<z.input<typeof postedEntry>>

/**
 * Selects entries: the parameters of `GET /ledger/entries`. `from` and `to` are ISO 8601 instants.
 */
export interface EntriesQuery extends CellOptions {
  readonly uid: number
  readonly page?: number
  readonly limit?: number
  readonly before?: number
  readonly cuy?: number
  readonly wid?: number
  readonly type?: number
  readonly osn?: string
  readonly from?: string
  readonly to?: string
}

/**
 * A ledger entry, as `GET /ledger/entries` shows it; amounts are decimals of whole units, as text.
 */
export type LedgerEntry = PostedItem<string>

/** A payout to ask for. Amounts are decimals of whole units, as text. */
export type PayoutToAsk = Readonly<z.input<typeof requestedPayout>>

/** Selects payouts: the parameters of `GET /ledger/payouts`. */
export interface PayoutsQuery extends CellOptions {
  readonly uid?: number
  readonly cuy?: number
  readonly state?: string
  readonly osn?: string
  readonly to?: string
  readonly txid?: string
  readonly limit?: number
  readonly before?: number
}

/** A payout, as `GET /ledger/payouts` shows it; amounts are decimals of whole units, as text. */
export type LedgerPayout = PayoutItem<string>

/** One page of payouts. `count` is the number of payouts on all pages. */
export interface LedgerPayouts {
  readonly list: readonly LedgerPayout[]
  readonly count: number
}

/** Selects orders: the parameters of `GET /ledger/orders`. */
export interface OrdersQuery extends CellOptions {
  readonly uid?: number
  readonly order?: string
  readonly state?: string
  readonly address?: string
  readonly limit?: number
  readonly before?: number
}

/** An order to ask for. Amounts are decimals of whole units, as text. */
export type OrderToAsk = Readonly<z.input<typeof requestedOrder>>
/** The key of an order to cancel. */
export type OrderToCancel = Readonly<z.input<typeof orderToCancel>>

/** An order, as `GET /ledger/orders` shows it; amounts are decimals of whole units, as text. */
export type LedgerOrder = OrderItem<string>

/** One page of orders. `count` is the number of orders on all pages. */
export interface LedgerOrders {
  readonly list: readonly LedgerOrder[]
  readonly count: number
}

/** Options of every call. */
export interface CellOptions {
  /**
   * The number of the cell (one of several databases, each with its users and its scanner). Needed
   * only if the deployment has several cells and the call names no user. A call whose users are in
   * another cell is refused (`other-cell`).
   */
  readonly cell?: number
}

export interface AddressOptions extends CellOptions {
  /** Issues a further address, which becomes the user's current one. */
  readonly fresh?: boolean
}

export interface CancelOrdersOptions extends CellOptions {
  /** Why, for people: 1 to 200 characters, which are kept with the orders. */
  readonly why?: string
}

/** Options of an approval or a cancellation. */
export interface StepOptions extends CellOptions, Readonly<Pick<z.input<typeof approval>, 'moved'>> {}

export interface ApproveOptions extends StepOptions, Readonly<Pick<z.input<typeof approval>, 'attempts'>> {}

/** An event, as `GET /ledger/events` shows it; amounts are decimals as text. */
export type LedgerEvent = EventItem<string>

/** A decision about a deposit that is held for review. */
export type DecisionToMake = Readonly<z.input<typeof decisionToMake>>

/**
 * A transfer to a user, as `GET /ledger/deposits` shows it; amounts are decimals of whole units, as
 * text.
 */
export type LedgerDeposit = OwnedDepositItem<string>

/**
 * Why a call failed. `why` is one sentence for people. `reason`, if there is one, is the code that
 * HTTP callers get as `x-reason`. The call has changed nothing; only after `internal` and
 * `database-unavailable` it may have.
 */
export type LedgerError =
  | PostFailure
  | PayoutFailure
  | Extract<OrderFailure, { kind: 'bad-input' | 'conflict' | 'unknown-order' }>
  | DecideFailure
  | { readonly kind: 'not-found'; readonly why: string }
  | {
      readonly kind: Exclude<QueryFailure['kind'], PostFailure['kind'] | 'not-found'>
      readonly reason: Reason
      readonly why: string
    }
  /** The configuration is wrong, or does not belong to the stored data. */
  | {
      readonly kind: 'not-configured'
      readonly reason: 'not-configured' | 'configuration-differs'
      readonly why: string
    }
  /** The users of the call are in several cells, or not in the cell that the call names. */
  | { readonly kind: 'other-cell'; readonly reason: 'other-cell'; readonly why: string }
  /**
   * The database does not answer for now: call again in about ten seconds, with the same keys. The
   * call may have been carried out; then it is answered as the first time.
   */
  | { readonly kind: 'database-unavailable'; readonly reason: Reason; readonly why: string }
  /**
   * A bug. The call may have been carried out. A post of entries can be sent again: it is never
   * stored twice.
   */
  | { readonly kind: 'internal'; readonly why: string }

/** What each method returns: its result, or why the call failed. No method throws. */
export type LedgerAnswer<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly error: LedgerError }

/** The methods that other Workers of the account can call. */
export interface LedgerMethods {
  /**
   * Posts 1 to 20 entries, all or none. `by` is the name of the calling backend. The answer has the
   * entries in the order of the call.
   */
  post(
    entries: readonly EntryToPost[],
    by: string,
    options?: CellOptions,
  ): Promise<LedgerAnswer<{ readonly replayed: boolean; readonly entries: readonly LedgerEntry[] }>>
  /**
   * Decides to credit or refuse 1 to 20 deposits that are held for review, all or none. `by` is the
   * name of the calling backend.
   */
  decideDeposits(
    deposits: readonly DecisionToMake[],
    by: string,
    options?: CellOptions,
  ): Promise<LedgerAnswer<{ readonly replayed: boolean; readonly deposits: readonly LedgerDeposit[] }>>
  /**
   * Reads a page of a user's entries, newest first. `count` is the number of entries on all pages.
   */
  entries(query: EntriesQuery): Promise<LedgerAnswer<{ readonly list: readonly LedgerEntry[]; readonly count: number }>>
  /**
   * Reads at most `limit` events (by default and at most 100) after the event with the id `after`,
   * in order. An empty list: there are no further events yet.
   */
  events(
    after: number,
    limit?: number,
    options?: CellOptions,
  ): Promise<LedgerAnswer<{ readonly list: readonly LedgerEvent[]; readonly count: number }>>
  /** Reads the newest checkpoint of the archive; `not-found` if there is none. */
  checkpoint(options?: CellOptions): Promise<LedgerAnswer<CheckpointItem>>
  /** Reads a user's balance in each configured currency. */
  wallets(
    uid: number,
    options?: CellOptions,
  ): Promise<
    LedgerAnswer<{ readonly list: readonly { readonly amt: string; readonly cuy: number }[]; readonly count: number }>
  >
  /**
   * Returns a user's current deposit address in Base58Check. Issues a new address if the user has
   * none, or if `fresh` is true.
   */
  address(
    uid: number,
    options?: AddressOptions,
  ): Promise<LedgerAnswer<{ readonly id: number; readonly address: string }>>
  /** Reads a page of orders, newest first. `count` is the number of orders on all pages. */
  orders(query: OrdersQuery): Promise<LedgerAnswer<LedgerOrders>>
  /**
   * Asks for 1 to 20 orders, all or none: each gets an address at which its user pays. `by` is the
   * name of the calling backend.
   */
  askOrders(
    orders: readonly OrderToAsk[],
    by: string,
    options?: CellOptions,
  ): Promise<LedgerAnswer<LedgerOrders & { readonly replayed: boolean }>>
  /** Cancels 1 to 20 orders for which nothing is credited, all or none. */
  cancelOrders(
    orders: readonly OrderToCancel[],
    by: string,
    options?: CancelOrdersOptions,
  ): Promise<LedgerAnswer<LedgerOrders>>
  /** Reads a page of payouts, newest first. `count` is the number of payouts on all pages. */
  payouts(query: PayoutsQuery): Promise<LedgerAnswer<LedgerPayouts>>
  /** Asks for 1 to 20 payouts, all or none. `by` is the name of the calling backend. */
  askPayouts(
    payouts: readonly PayoutToAsk[],
    by: string,
    options?: CellOptions,
  ): Promise<LedgerAnswer<LedgerPayouts & { readonly replayed: boolean }>>
  /**
   * Approves payouts, all or none. `by` must be another name than that of the backend that asked
   * for them.
   */
  approvePayouts(ids: readonly number[], by: string, options?: ApproveOptions): Promise<LedgerAnswer<LedgerPayouts>>
  /**
   * Cancels payouts, all or none. Their money returns to the wallets. If money has left for one,
   * `by` must not be the backend that asked for it.
   */
  cancelPayouts(
    ids: readonly number[],
    why: string,
    by: string,
    options?: StepOptions,
  ): Promise<LedgerAnswer<LedgerPayouts>>
}
