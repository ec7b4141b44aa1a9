import type { BlockHeight } from './block.ts'

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

/** What reading the chain can meet. None of these is ever read as "no deposits". */
export type ChainFailure =
  /** No usable node answered; `why` names nodes by number, for the log only. */
  | { readonly kind: 'no-answer'; readonly why: string }
  /** Nodes answered, and differ about `about`; both answers are in the alarm that the pool wrote. */
  | { readonly kind: 'disagreement'; readonly about: string }
  /** A finalized block does not follow the one before it: a person decides. */
  | { readonly kind: 'forked'; readonly at: BlockHeight }
  /** This invocation's time or requests are used up; the next one goes on. */
  | { readonly kind: 'out-of-budget' }
