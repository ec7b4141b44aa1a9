import type { BlockHeight } from './block.ts'

/** Why the chain could not be read. None of these means "no deposits". */
export type ChainFailure =
  /** Too few usable nodes replied. `why` names nodes by number and is for the log only. */
  | { readonly kind: 'no-answer'; readonly why: string }
  /** The nodes' replies about `about` differ. An alarm has both replies. */
  | { readonly kind: 'disagreement'; readonly about: string }
  /** A finalized block does not follow the one before it. An operator has to decide. */
  | { readonly kind: 'forked'; readonly at: BlockHeight }
  /** The time or the requests of this invocation are used up. The next invocation continues. */
  | { readonly kind: 'out-of-budget' }
