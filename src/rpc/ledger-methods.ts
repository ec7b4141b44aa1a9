import type { Reason } from '../common/reasons.ts'
import type { QueryFailure } from '../common/result.ts'
import type { EventItem } from '../events/events.ts'
import type { PostedItem, PostedType } from '../ledger/entry.ts'
import type { PostFailure } from '../ledger/post-entries.ts'

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

/** Which entries: the parameters of `GET /ledger/entries`. `from` and `to` are ISO 8601 instants. */
export interface EntriesQuery {
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

/** What happened, as `GET /ledger/events` shows it; amounts are decimals as text. */
export type LedgerEvent = EventItem<string>

/**
 * Why there is no result. `why` is one sentence for people, and `reason` the same word as `x-reason`, if that has one. Nothing was
 * changed, except perhaps with `internal`.
 */
export type LedgerError =
  | PostFailure
  | { readonly kind: 'not-found'; readonly why: string }
  | {
      readonly kind: Exclude<QueryFailure['kind'], PostFailure['kind'] | 'not-found'>
      readonly reason: Reason
      readonly why: string
    }
  /** The configuration is wrong, or differs from what is stored. */
  | {
      readonly kind: 'not-configured'
      readonly reason: 'not-configured' | 'configuration-differs'
      readonly why: string
    }
  /** A bug, or the database is unavailable. A post can be sent again: it is never stored twice. */
  | { readonly kind: 'internal'; readonly why: string }

/** A result, or why there is none. No method throws. */
export type LedgerAnswer<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly error: LedgerError }

/** What other Workers of the account can call. */
export interface LedgerMethods {
  /** Posts 1 to 20 entries, all or none; `by` is the name of the calling backend. The entries come in the order sent. */
  post(
    entries: readonly EntryToPost[],
    by: string,
  ): Promise<LedgerAnswer<{ readonly replayed: boolean; readonly entries: readonly LedgerEntry[] }>>
  /** A page of a user's entries, newest first, and how many match. */
  entries(query: EntriesQuery): Promise<LedgerAnswer<{ readonly list: readonly LedgerEntry[]; readonly count: number }>>
  /** Up to `limit` events (100 by default and at most) after the one with the id `after`, in order; an empty list is the end for now. */
  events(
    after: number,
    limit?: number,
  ): Promise<LedgerAnswer<{ readonly list: readonly LedgerEvent[]; readonly count: number }>>
  /** A user's balance in each configured currency. */
  wallets(
    uid: number,
  ): Promise<
    LedgerAnswer<{ readonly list: readonly { readonly amt: string; readonly cuy: number }[]; readonly count: number }>
  >
  /** A user's current deposit address in Base58Check, or with `fresh` a further one. */
  address(
    uid: number,
    options?: { readonly fresh?: boolean },
  ): Promise<LedgerAnswer<{ readonly id: number; readonly address: string }>>
}
