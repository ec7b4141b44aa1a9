import type { UnixMs } from '../common/time.ts'

/** How the services of a node are used. `unfit` and `blocked`: not at all. The others: in this order, before or after other nodes. */
export const nodeUses = ['first', 'behind', 'demoted', 'resting', 'blocked', 'unfit'] as const
/** One of `nodeUses`. */
export type NodeUse = (typeof nodeUses)[number]

/** The status of a node for operators. It contains no URL and no key. A value that the object does not know yet is null. */
export interface NodeStatus {
  /** Its label (`nodeName`). */
  readonly name: string
  readonly use: NodeUse
  /** The newest good answer, and how long it took. */
  readonly answer: { readonly at: UnixMs; readonly ms: number } | null
  /** Blocks by which its newest final block is below the newest one of all nodes. */
  readonly behind: number | null
  /** The newest error. */
  readonly error: { readonly at: UnixMs; readonly why: string } | null
  /** Requests that were sent to it within the counted hours of a day, and the number that it allows. */
  readonly used: number
  readonly perDay: number
}
