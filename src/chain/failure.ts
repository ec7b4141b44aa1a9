import type { BlockHeight } from './block.ts'

/** Why the chain could not be read. None of these means "no deposits". */
export type ChainFailure =
  /** Too few usable nodes replied. `why` names nodes by number and is for the log and alarms only. */
  | { readonly kind: 'no-answer'; readonly why: string }
  /** The nodes' replies about `about` differ. An alarm has both replies. */
  | { readonly kind: 'disagreement'; readonly about: string }
  /** A finalized block does not follow the one before it. An operator has to decide. */
  | { readonly kind: 'forked'; readonly at: BlockHeight }
  /** An allowance has no room: of the nodes, of all callers together, or of this caller. Room again in about `seconds`. */
  | { readonly kind: 'limited'; readonly whose: 'nodes' | 'callers' | 'caller'; readonly seconds: number }
  /** The time of this piece of work is used up. The next one continues. */
  | { readonly kind: 'out-of-time' }
