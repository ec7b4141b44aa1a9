import { blockCall } from '../calls.ts'
import { forQuestion, type NodePool, type TronNode } from '../nodes/node.ts'
import type { NodeResult } from '../nodes/node-error.ts'
import { isFit } from '../nodes/probe.ts'
import type { FinalReplies } from '../transport/batch.ts'
import { queryFinal, takeIds } from '../transport/batch.ts'
import { rangeTokenLogsCalls } from './token-logs.ts'

/** The replies that confirm blocks `from`..`to`: each block in full, then the logs of accepted tokens. One request. */
export function queryRange(node: TronNode, from: number, to: number, firstId?: number): NodeResult<FinalReplies> {
  const blocks = Array.from({ length: to - from + 1 }, (_, i) => blockCall(from + i, true))
  return queryFinal(node, to, [...blocks, ...rangeTokenLogsCalls(node.pool.tokens, from, to)], firstId)
}

/** Replies that are requested while the blocks that they confirm are still being read. */
export interface EarlyReplies {
  /**
   * Requests them, the first time: from the nodes that will confirm the blocks of `source`, as far as that can be known. Returns the
   * ids of their calls, for the same calls to `source`: what the replies have in common is then parsed once (`reply-parser.ts`).
   */
  request(source: TronNode): number | undefined
  /** The reply of a node, once; null where none was requested. */
  take(node: TronNode): NodeResult<FinalReplies> | null
  /** Resolves when no request is open. */
  ended(): Promise<unknown>
}

/**
 * Early replies about the blocks `from`..`to`: a range then takes two replies one after the other, not three. Those of nodes
 * that are not chosen in the end are not used.
 */
export function createEarlyReplies(pool: NodePool, from: number, to: number): EarlyReplies {
  const replies = new Map<number, NodeResult<FinalReplies>>()
  const unused = new Map<number, NodeResult<FinalReplies>>()
  let isRequested = false
  return {
    request(source) {
      if (isRequested) return undefined
      isRequested = true
      const firstId = takeIds(pool)
      const likely = pool.nodes.filter((node) => node.number !== source.number && isReady(node))
      for (const node of likely.slice(0, pool.quorum - 1)) {
        const reply = queryRange(forQuestion(node), from, to, firstId)
        replies.set(node.number, reply)
        unused.set(node.number, reply)
      }
      return firstId
    },
    take({ number }) {
      const reply = unused.get(number) ?? null
      unused.delete(number)
      return reply
    },
    ended: () => Promise.all(replies.values()),
  }
}

/** Whether a node would be chosen before others that are like it. */
function isReady({ health: { rpc, facts, callsMax }, pool }: TronNode): boolean {
  const now = pool.budget.clock.now()
  return rpc.restUntil <= now && rpc.demotedUntil <= now && facts !== null && isFit(facts) && callsMax > 1
}
