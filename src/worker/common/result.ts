import type { IssueReason, UndecidedReason, WorthlessReason } from './reasons.ts'

/** An expected failure is a value: either the result, or why there is none. Bugs throw. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E }

/** A success. */
export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value })

/** An expected failure. */
export const err = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error })

/** Why a caller gets no answer. `http/errors.ts` turns each kind into a status and a message. */
export type QueryFailure =
  | { readonly kind: 'bad-input'; readonly field: string; readonly why: string }
  | { readonly kind: 'not-found'; readonly what: 'address' | 'transaction' }
  /** `limit` addresses of the caller are without a deposit. */
  | { readonly kind: 'gap-limit'; readonly limit: number }
  /** `seconds`: about how long until it is final; null if nobody knows, since finality is late. */
  | { readonly kind: 'not-final'; readonly seconds: number | null }
  /** A deposit that cannot be decided now; `why` is one sentence for the caller. */
  | { readonly kind: 'undecided'; readonly reason: UndecidedReason; readonly why: string }
  /** A final transaction that is worth nothing to this caller; `why` is one sentence for the caller. */
  | { readonly kind: 'worthless'; readonly reason: WorthlessReason; readonly why: string }
  /** An allowance of requests to nodes is used up: the nodes' own, that of all callers, or this caller's. */
  | { readonly kind: 'limited'; readonly whose: 'nodes' | 'callers' | 'caller'; readonly seconds: number }
  /** No node answered in time, or none may be used. */
  | { readonly kind: 'chain-unavailable' }
  /** No address can be issued until an operator has corrected the configuration, or a deployment has ended. */
  | { readonly kind: 'cannot-issue'; readonly reason: IssueReason }
  /** `ISSUE_ADDRESSES` is off. */
  | { readonly kind: 'issuing-off' }

/** The value of a JSON text; undefined, which JSON does not have, for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
