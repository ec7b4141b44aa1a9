import type { IssueReason, UndecidedReason, WorthlessReason } from './reasons.ts'

/** A value, or an expected failure. Bugs throw instead. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E }

/** A success. */
export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value })

/** An expected failure. */
export const err = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error })

/** Why a query fails. `http/errors.ts` turns each kind into a status and a message. */
export type QueryFailure =
  | { readonly kind: 'bad-input'; readonly field: string; readonly why: string }
  | { readonly kind: 'not-found'; readonly what: 'address' | 'transaction' }
  /** `limit` addresses of the user have no deposit. */
  | { readonly kind: 'gap-limit'; readonly limit: number }
  /** `seconds`: estimated time until it is final; null if nobody knows, because finality is late. */
  | { readonly kind: 'not-final'; readonly seconds: number | null }
  /** The deposit cannot be decided now; `why` is one sentence for the user. */
  | { readonly kind: 'undecided'; readonly reason: UndecidedReason; readonly why: string }
  /** The transaction is final and credits nothing to this user; `why` is one sentence for the user. */
  | { readonly kind: 'worthless'; readonly reason: WorthlessReason; readonly why: string }
  /** An allowance of requests to nodes is used up: that of the nodes, of all users together, or of this user. */
  | { readonly kind: 'limited'; readonly whose: 'nodes' | 'callers' | 'caller'; readonly seconds: number }
  /** No node answered in time, or none may be used. */
  | { readonly kind: 'chain-unavailable' }
  /** No address can be issued until an operator has corrected the configuration, or a deployment has ended. */
  | { readonly kind: 'cannot-issue'; readonly reason: IssueReason }
  /** `ISSUE_ADDRESSES` is off. */
  | { readonly kind: 'issuing-off' }

/** Parses JSON. Returns undefined, which JSON does not have, if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
