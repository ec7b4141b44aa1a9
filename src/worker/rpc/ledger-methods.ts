import type { ShownPosition } from '../chain/block.ts'
import type { Reason } from '../common/reasons.ts'
import type { QueryFailure } from '../common/result.ts'
import type { DecideFailure } from '../deposits/decide.ts'
import type { OwnedDepositItem } from '../deposits/deposit-item.ts'
import type { EventItem } from '../events/events.ts'
import type { PostedItem, PostedType } from '../ledger/entry.ts'
import type { PostFailure } from '../ledger/post-entries.ts'
import type { PayoutFailure } from '../payouts/failure.ts'
import type { PayoutItem } from '../payouts/payout.ts'

/** An entry to be posted. `amt` is a decimal of whole units with its sign, as text: `"-2.5"`. */
export interface EntryToPost {
  readonly uid: number
  readonly cuy: number
  readonly type: PostedType
  /** The order serial reference: 1 to 200 printable ASCII characters, unique per type and wallet. */
  readonly osn: string
  readonly amt: string
  /** A remark for people, at most 200 characters. */
  readonly mark?: string
}

/** Selects entries: the parameters of `GET /ledger/entries`. `from` and `to` are ISO 8601 instants. */
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

/** A ledger entry, as `GET /ledger/entries` shows it; amounts are decimals of whole units, as text. */
export type LedgerEntry = PostedItem<string>

/** A payout to ask for. Amounts are decimals of whole units, as text. */
export interface PayoutToAsk {
  readonly uid: number
  readonly cuy: number
  readonly amt: string
  /** `T…`, 34 characters. */
  readonly to: string
  /** The order serial reference: 1 to 200 printable ASCII characters. Together with `uid` and `cuy` it identifies the payout. */
  readonly osn: string
  readonly fee?: string
  readonly mark?: string
  /** A compact JWS of the backend, for a signer that requires one. */
  readonly proof?: string
}

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

/** A page of payouts, and the number on all pages. */
export interface LedgerPayouts {
  readonly list: readonly LedgerPayout[]
  readonly count: number
}

/** Options of a call that names no user. */
export interface CellOptions {
  /** The number of the cell (a database with its scanner, for a range of users). Needed only if the deployment has several cells. */
  readonly cell?: number
}

/** Options of an approval or a cancellation. */
export interface StepOptions extends CellOptions {
  /** Confirms that the caller knows money has left for a payout. Without it such a payout is refused. */
  readonly moved?: true
}

export interface ApproveOptions extends StepOptions {
  /** The number of attempts that each stuck payout shows. With it, a repeated approval does not approve one that got stuck again. */
  readonly attempts?: number
}

/** An event, as `GET /ledger/events` shows it; amounts are decimals as text. */
export type LedgerEvent = EventItem<string>

/** A decision about a deposit that is held for review. */
export interface DecisionToMake {
  readonly txid: string
  readonly position: ShownPosition
  readonly decision: 'credit' | 'refuse'
  /** The reason: 1 to 200 characters. */
  readonly why: string
}

/** A transfer to a user, as `GET /ledger/deposits` shows it; amounts are decimals of whole units, as text. */
export type LedgerDeposit = OwnedDepositItem<string>

/**
 * Why a call failed. `why` is one sentence for people, and `reason` is the same code as in `x-reason`, if there is one. Nothing was changed, except perhaps
 * with `internal`.
 */
export type LedgerError =
  | PostFailure
  | PayoutFailure
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
  /** The users of the call are in several cells, or not in the one that it names. */
  | { readonly kind: 'other-cell'; readonly reason: 'other-cell'; readonly why: string }
  /** A bug, or the database is unavailable. A post can be sent again: it is never stored twice. */
  | { readonly kind: 'internal'; readonly why: string }

/** A result, or a failure. No method throws. */
export type LedgerAnswer<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly error: LedgerError }

/** The methods that other Workers of the account can call. */
export interface LedgerMethods {
  /** Posts 1 to 20 entries, all or none; `by` is the name of the calling backend. The answer has the entries in the same order. */
  post(
    entries: readonly EntryToPost[],
    by: string,
  ): Promise<LedgerAnswer<{ readonly replayed: boolean; readonly entries: readonly LedgerEntry[] }>>
  /** Credits or refuses 1 to 20 deposits that are held for review, all or none; `by` is the name of the calling backend. */
  decideDeposits(
    deposits: readonly DecisionToMake[],
    by: string,
    options?: CellOptions,
  ): Promise<LedgerAnswer<{ readonly replayed: boolean; readonly deposits: readonly LedgerDeposit[] }>>
  /** Reads a page of a user's entries, newest first, and how many match. */
  entries(query: EntriesQuery): Promise<LedgerAnswer<{ readonly list: readonly LedgerEntry[]; readonly count: number }>>
  /**
   * Reads up to `limit` events (100 by default and at most) after the one with the id `after`, in order. An empty list means that there are no more for now.
   */
  events(
    after: number,
    limit?: number,
    options?: CellOptions,
  ): Promise<LedgerAnswer<{ readonly list: readonly LedgerEvent[]; readonly count: number }>>
  /** Reads a user's balance in each configured currency. */
  wallets(
    uid: number,
    options?: CellOptions,
  ): Promise<
    LedgerAnswer<{ readonly list: readonly { readonly amt: string; readonly cuy: number }[]; readonly count: number }>
  >
  /** Returns a user's current deposit address in Base58Check, or with `fresh` another one. */
  address(
    uid: number,
    options?: { readonly fresh?: boolean },
  ): Promise<LedgerAnswer<{ readonly id: number; readonly address: string }>>
  /** Reads a page of payouts, newest first, and how many match. */
  payouts(query: PayoutsQuery): Promise<LedgerAnswer<LedgerPayouts>>
  /** Asks for 1 to 20 payouts, all or none; `by` is the name of the calling backend. */
  askPayouts(
    payouts: readonly PayoutToAsk[],
    by: string,
  ): Promise<LedgerAnswer<LedgerPayouts & { readonly replayed: boolean }>>
  /** Approves payouts, all or none; `by` must not be the name that asked for them. */
  approvePayouts(ids: readonly number[], by: string, options?: ApproveOptions): Promise<LedgerAnswer<LedgerPayouts>>
  /** Cancels payouts, all or none; their money returns to the wallets. If money has left for one, `by` must not be the name that asked for it. */
  cancelPayouts(
    ids: readonly number[],
    why: string,
    by: string,
    options?: StepOptions,
  ): Promise<LedgerAnswer<LedgerPayouts>>
}
