import { blockSeconds } from '../chain/block.ts'
import { nodeName } from '../chain/node-name.ts'
import type { NodeStatus, NodeUse } from '../chain/node-status.ts'
import { isAhead } from '../common/time.ts'
import { unfitMs } from './limits.ts'
import { type Pool, standingOf, type TronNode } from './node.ts'

/** The statuses of the nodes for operators, in the order of `TRON_NODES`. */
export async function nodeStatuses(pool: Pool): Promise<readonly NodeStatus[]> {
  await pool.ready
  return pool.nodes.map((node): NodeStatus => {
    const { number, endpoint, telemetry, lastError } = node
    return {
      name: nodeName(number, endpoint),
      use: useOf(node, pool.clock.now()),
      answer: telemetry.answer,
      behind: behindOf(node, pool),
      error: lastError,
      used: pool.allowance.used(number),
      perDay: endpoint.perDay,
    }
  })
}

/** How the node is used now. Its worse service counts, because the scan needs both services of a node. */
function useOf(node: TronNode, now: number): NodeUse {
  if (node.unfit !== null && isAhead(node.unfit.until, unfitMs, now)) return 'unfit'
  const uses = [standingOf(node.rpc, now), standingOf(node.api, now)]
  return (['blocked', 'resting', 'demoted', 'behind'] as const).find((use) => uses.includes(use)) ?? 'first'
}

/**
 * By how many blocks the node's newest final block is below the highest that another node has shown; null if the node's head was never read. Heads are read at
 * different times, so blocks made between two readings are not counted.
 */
function behindOf({ telemetry: { head } }: TronNode, { nodes }: Pool): number | null {
  if (head === null) return null
  const grown = (at: number) => Math.max(0, Math.floor((at - head.at) / (blockSeconds * 1000)))
  const others = nodes.flatMap(({ telemetry }) =>
    telemetry.head === null ? [] : [telemetry.head.height - grown(telemetry.head.at)],
  )
  return Math.max(0, ...others.map((height) => height - head.height))
}
