import type { ChainFailure } from '../chain/failure.ts'
import type { Result } from '../common/result.ts'

/** Why a node gave no usable reply. `detail` is for the log and never a node's text, which could contain a URL or key. */
export interface NodeError {
  readonly kind: NodeErrorKind
  readonly detail: string
  /** Of kind `limited`: what the query fails with. */
  readonly limit?: ChainFailure & { readonly kind: 'limited' }
}

/** The result of a query to one node. An error never means "nothing there". */
export type NodeResult<T> = Promise<Result<T, NodeError>>

/** `node.ts` decides what a kind means for the node. */
export type NodeErrorKind =
  /** The time of this piece of work is used up. */
  | 'out-of-time'
  /** The allowance has no room for the request. */
  | 'limited'
  | 'timed-out'
  | 'unreachable'
  | 'rate-limited'
  /** The whole batch was refused. Single calls can pass. */
  | 'batch-refused'
  /** The reply is too large for the node or for this service. A smaller query can pass. */
  | 'too-large'
  /** A malformed or unexpected reply. */
  | 'bad-answer'
  /** The node does not have the block yet. */
  | 'behind'
  /** The node does not support the query. */
  | 'unfit'
  | 'wrong-chain'

/** A node error as a failed result. */
export function nodeError(kind: NodeErrorKind, detail: string): { readonly ok: false; readonly error: NodeError } {
  return { ok: false, error: { kind, detail } }
}
