/** What a caller can meet. Answered by one exhaustive switch in `http/errors.ts`. */
export type QueryFailure =
  | { readonly kind: 'bad-input'; readonly field: string; readonly why: string }
  | { readonly kind: 'not-found'; readonly what: 'address' | 'transaction' }
  /** 20 addresses of the caller are still without a deposit (BIP-44 gap limit). */
  | { readonly kind: 'gap-limit'; readonly limit: number }
  | { readonly kind: 'not-final'; readonly seconds: number }
  /** A deposit that can't be decided now; `why` is one sentence for the caller. */
  | { readonly kind: 'undecided'; readonly why: string }
  /** A final transaction that is worth nothing to this caller; `why` is one sentence for the caller. */
  | { readonly kind: 'worthless'; readonly why: string }
  /** No node answered in time, or none may be used. */
  | { readonly kind: 'chain-unavailable' }
