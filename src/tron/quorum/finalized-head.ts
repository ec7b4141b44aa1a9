import type { Header } from '../../chain/block.ts'
import type { ChainResult } from '../../chain/chain.ts'
import { err, ok } from '../../common/result.ts'
import { blockCall } from '../calls.ts'
import { aheadMsMax, headSpreadMax, lagMs } from '../limits.ts'
import { createNodeSelector, failureOf } from '../nodes/failover.ts'
import { demote } from '../nodes/health.ts'
import type { NodePool, TronNode } from '../nodes/node.ts'
import { type NodeResult, nodeError } from '../nodes/node-error.ts'
import { parseHeader } from '../parse/block.ts'
import { queryFinal } from '../transport/batch.ts'
import { parseResult } from '../transport/json-rpc.ts'
import { agreeByQuorum, collectAnswers } from './agreement.ts'

/**
 * The newest block that is final for `quorum` nodes with the same hash: the `quorum`-th highest of their heads. So a single
 * node can neither move it ahead nor, where further nodes can be queried, keep it behind.
 */
export async function readFinalizedHead(pool: NodePool): ChainResult<Header> {
  const selector = createNodeSelector(pool, 'credit', pool.quorum)
  const heads = await collectAnswers(selector, readHead, (all) => {
    const heights = all.map(({ value }) => value.height)
    const isClose = Math.max(...heights) - Math.min(...heights) <= headSpreadMax
    return isClose && all.length >= pool.quorum ? 0 : Math.max(pool.quorum - all.length, 1)
  })
  const sorted = [...heads].sort((a, b) => b.value.height - a.value.height)
  const lowest = sorted[pool.quorum - 1]
  if (lowest === undefined) return err(failureOf(selector))
  const { height } = lowest.value
  for (const { node, value } of heads) {
    if (height - value.height > headSpreadMax) demote(node.health.rpc, lagMs, pool.budget.clock)
  }
  const headByNode = new Map(heads.map(({ node, value }) => [node.number, value]))
  // Nodes with a head of this height or above come first. The others are queried only where these disagree.
  const first = sorted.filter(({ value }) => value.height >= height).map(({ node }) => node)
  return agreeByQuorum(
    pool,
    `finalized block ${height}`,
    async (node) => {
      const head = headByNode.get(node.number)
      return head?.height === height ? ok(head) : readHeader(node, height)
    },
    ({ hash, parentHash }) => `hash ${hash}\nparent ${parentHash}`,
    [...first, ...pool.nodes.filter((node) => !headByNode.has(node.number))],
  )
}

async function readHead(node: TronNode): NodeResult<Header> {
  const result = await queryFinal(node, 0, [])
  if (!result.ok) return result
  const { finalized } = result.value
  const aheadMs = finalized.timestamp - node.pool.budget.clock.now()
  if (aheadMs > aheadMsMax) return nodeError('bad-answer', `finalized block ${finalized.height} is from the future`)
  return ok(finalized)
}

async function readHeader(node: TronNode, height: number): NodeResult<Header> {
  const result = await queryFinal(node, height, [blockCall(height, false)])
  if (!result.ok) return result
  const header = parseResult(result.value.replies[0], `block ${height}`, parseHeader)
  if (!header.ok || header.value.height === height) return header
  return nodeError('bad-answer', `block ${header.value.height} in place of ${height}`)
}
