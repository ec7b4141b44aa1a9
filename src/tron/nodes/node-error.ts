import type { Result } from '../../common/result.ts'

/** Why a node gave no usable reply. `detail` is for the log and never a node's text, which could contain a URL or key. */
export interface NodeError {
  readonly kind: NodeErrorKind
  readonly detail: string
}

/** The result of a query to one node. An error never means "nothing there". */
export type NodeResult<T> = Promise<Result<T, NodeError>>

/** `health.ts` decides what a kind means for the node, `failover.ts` what it means for the query. */
export type NodeErrorKind =
  /** The time or the requests of the invocation are used up, which is not the node's fault. */
  | 'out-of-budget'
  | 'timed-out'
  | 'unreachable'
  | 'rate-limited'
  /** The whole batch was refused. A smaller one can pass. */
  | 'batch-refused'
  /** The reply is too large for the node or for this service. A smaller query can pass. */
  | 'too-large'
  /** The question takes more requests than it may at one node. */
  | 'too-costly'
  /** A malformed or unexpected reply. */
  | 'bad-answer'
  /** The node does not have the block yet, or it is not final there yet. */
  | 'behind'
  /** The node does not support the query. */
  | 'unfit'
  | 'wrong-chain'

/** A node error as a failed result. */
export function nodeError(kind: NodeErrorKind, detail: string): { readonly ok: false; readonly error: NodeError } {
  return { ok: false, error: { kind, detail } }
}
