/**
 * Why one node gave no answer to one question. `detail` is in our own words, for the log: never a node's text, which
 * could repeat its URL or key. None of these is ever read as "nothing there".
 */
export interface NodeError {
  readonly kind: NodeErrorKind
  readonly detail: string
}

/** What the pool does about it is decided in `memory.ts` (the node) and `turns.ts` (the question). */
export type NodeErrorKind =
  /** The invocation's time or requests are used up: not the node's fault. */
  | 'out-of-budget'
  | 'timed-out'
  | 'unreachable'
  /** 403, 429, 503, or a body with `Error` that is no JSON-RPC. */
  | 'rate-limited'
  /** The whole batch was turned down; a smaller one may pass. */
  | 'batch-refused'
  /** Too large to answer or to read; a smaller question may pass. */
  | 'too-large'
  /** An answer that is not what was asked for, in any way. */
  | 'bad-answer'
  /** It does not have the block yet, or it is not final for it. */
  | 'behind'
  /** It can't do this at all. */
  | 'unfit'
  /** It answers for another chain. */
  | 'wrong-chain'

/** A trouble, shortly. */
export const nodeError = (kind: NodeErrorKind, detail: string): NodeError => ({ kind, detail })
