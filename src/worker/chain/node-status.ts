import type { NodeState } from '../common/node-states.ts'
import type { UnixMs } from '../common/time.ts'

/**
 * How a node is used now, the best first. Nodes that are `behind`, `demoted` (outvoted or slow) or
 * `resting` (a request failed) are asked only after all better ones. Nodes that are `blocked` (of
 * another chain, or limiting the rate) or `unfit` (without what the scan needs, or with a refused
 * key) are not asked.
 */
export const nodeUses = ['first', 'behind', 'demoted', 'resting', 'blocked', 'unfit'] as const
export type NodeUse = (typeof nodeUses)[number]

/**
 * The status of a node for operators, without its URL and key. A null member is not known to the
 * scanner's object, which may have just started.
 */
export interface NodeStatus {
  /** The node's label as `nodeName` makes it. */
  readonly name: string
  readonly use: NodeUse
  readonly state: NodeState
  /** When the node's newest good answer came, and how long it took. */
  readonly answer: { readonly at: UnixMs; readonly ms: number } | null
  /**
   * By how many blocks the node's newest final block is below the newest final block of all nodes.
   */
  readonly behind: number | null
  readonly error: { readonly at: UnixMs; readonly why: string } | null
  /**
   * The requests that were sent to the node in the last day, counted by the hour. The node allows
   * `perDay`.
   */
  readonly used: number
  readonly perDay: number
}
