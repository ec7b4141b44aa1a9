import { blockSeconds } from '../chain/block.ts'
import { nodeName } from '../chain/node-name.ts'
import type { NodeStatus, NodeUse } from '../chain/node-status.ts'
import type { NodeState } from '../common/node-states.ts'
import { isAhead } from '../common/time.ts'
import { headLagBlocksMax, unfitMs } from './limits.ts'
import { type Pool, standingOf, type TronNode } from './node.ts'
import { failingState, scanQuestions } from './node-health.ts'

/** The statuses of the nodes for operators, in the order of `TRON_NODES`. */
export async function nodeStatuses(pool: Pool): Promise<readonly NodeStatus[]> {
  await pool.ready
  return pool.nodes.map((node): NodeStatus => {
    const { number, endpoint, telemetry, lastError } = node
    return {
      name: nodeName(number, endpoint),
      use: useOf(node, pool.clock.now()),
      state: stateOf(node, pool),
      answer: telemetry.answer,
      behind: behindOf(node, pool),
      error: lastError,
      used: pool.allowance.used(number),
      perDay: endpoint.perDay,
    }
  })
}

/**
 * The state of a node, as far as deposits depend on it: a node that only fails at sending payouts
 * answers. What keeps it from being used at all comes before what it is late with.
 */
function stateOf(node: TronNode, pool: Pool): NodeState {
  const { health, unfit, endpoint, number, lacksPeers, behindSince } = node
  const ofScan = scanQuestions.map((question) => health[question])
  if (unfit !== null) return 'refuses'
  if (pool.allowance.used(number) >= endpoint.perDay) return 'limited'
  const failing = ofScan.flatMap((question) => failingState(question) ?? [])
  const isBehind = behindSince !== null || (behindOf(node, pool) ?? 0) > headLagBlocksMax || failing.includes('behind')
  if (isBehind && lacksPeers) return 'no-peers'
  if (!isBehind && ofScan.every(({ results }) => results === '')) return 'not-asked'
  return failing.find((state) => state !== 'behind') ?? (isBehind ? 'behind' : 'answers')
}

/**
 * How the node is used now. Its worse service counts, because the scan needs both services of a
 * node.
 */
function useOf(node: TronNode, now: number): NodeUse {
  if (node.unfit !== null && isAhead(node.unfit.until, unfitMs, now)) return 'unfit'
  const uses = [standingOf(node.rpc, now), standingOf(node.api, now)]
  return (['blocked', 'resting', 'demoted', 'behind'] as const).find((use) => uses.includes(use)) ?? 'first'
}

/**
 * By how many blocks the node's newest final block is below the highest that another node has
 * shown; null if the node's head was never read. Heads are read at different times, so blocks made
 * between two readings are not counted.
 */
function behindOf({ telemetry: { head } }: TronNode, { nodes }: Pool): number | null {
  if (head === null) return null
  const grown = (at: number) => Math.max(0, Math.floor((at - head.at) / (blockSeconds * 1000)))
  const others = nodes.flatMap(({ telemetry }) =>
    telemetry.head === null ? [] : [telemetry.head.height - grown(telemetry.head.at)],
  )
  return Math.max(0, ...others.map((height) => height - head.height))
}
