import type { IssueReason, UndecidedReason, WorthlessReason } from './reasons.ts'

/** A value, or a failure that the caller must handle. A bug throws instead. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E }

/** Wraps a value as a successful `Result`. The caller checks `ok` before it reads `value`. */
export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value })

/**
 * Wraps a failure as a `Result`: mostly a member of a union that the caller handles by its `kind`.
 */
export const err = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error })

/**
 * Why a caller's request fails. `http/errors.ts` gives each kind its HTTP status and its message.
 */
export type QueryFailure =
  | { readonly kind: 'bad-input'; readonly field: string; readonly why: string }
  | { readonly kind: 'not-found'; readonly what: 'address' | 'transaction' | 'checkpoint' }
  /** The user has `limit` addresses without a deposit, and gets no further one. */
  | { readonly kind: 'gap-limit'; readonly limit: number }
  /**
   * The transaction is in a block that is not final. `seconds`: estimated time until it is; null if
   * finality is late, so that nobody knows.
   */
  | { readonly kind: 'not-final'; readonly seconds: number | null }
  /**
   * Whether the transaction is a deposit of this user cannot be decided now. `why` is one sentence
   * for the user.
   */
  | { readonly kind: 'undecided'; readonly reason: UndecidedReason; readonly why: string }
  /**
   * The transaction is final and credits nothing to this user. `why` is one sentence for the user.
   */
  | { readonly kind: 'worthless'; readonly reason: WorthlessReason; readonly why: string }
  /**
   * An allowance of requests to nodes is used up: that of the nodes, of all users together, or of
   * this user. Requests are possible again in `seconds`.
   */
  | { readonly kind: 'limited'; readonly whose: 'nodes' | 'callers' | 'caller'; readonly seconds: number }
  /** No node answered in time, or none may be used. */
  | { readonly kind: 'chain-unavailable' }
  /**
   * No address can be issued until an operator has corrected the configuration or, for the reason
   * `deploying`, until the deployment of a new version has ended.
   */
  | { readonly kind: 'cannot-issue'; readonly reason: IssueReason }
  /** The setting `ISSUE_ADDRESSES` is off, so no address is issued. */
  | { readonly kind: 'issuing-off' }

/** Parses JSON; undefined if the text is not JSON. No JSON text has the value undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
