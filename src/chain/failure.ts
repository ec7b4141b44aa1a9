import type { BlockHeight } from './block.ts'

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
