import type { UnixMs } from '../common/time.ts'

/** How the services of a node are used: `unfit` and `blocked` not at all, the others before or after those of other nodes. */
export const nodeUses = ['first', 'behind', 'demoted', 'resting', 'blocked', 'unfit'] as const
/** One of `nodeUses`. */
export type NodeUse = (typeof nodeUses)[number]

/** What an operator is shown of a node: no part of it is a URL or a key. What the object does not know yet is null. */
export interface NodeReport {
  /** As people read it (`nodeName`). */
  readonly name: string
  readonly use: NodeUse
  /** The newest answer that was good, and how long it took. */
  readonly answer: { readonly at: UnixMs; readonly ms: number } | null
  /** Blocks by which its newest final block is below the newest one of all nodes. */
  readonly behind: number | null
  /** Why it was last without a good answer. */
  readonly error: { readonly at: UnixMs; readonly why: string } | null
  /** Requests that were sent to it within the hours of a day, and how many it allows. */
  readonly used: number
  readonly perDay: number
}
