import type { BlockHeight, Header } from '../../chain/block.ts'
import type { ChainResult } from '../../chain/chain.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { blockCall, parseResult, queryFinal } from '../calls.ts'
import { headSpreadMax, lagMs } from '../limits.ts'
import { createNodeSelector } from '../nodes/failover.ts'
import { type NodeError, nodeError } from '../nodes/node-error.ts'
import { parseHeader } from '../parse/block.ts'
import { type NodePool, queryNode, type TronNode } from '../transport/batch.ts'
import { agreeByQuorum, collectVotes, type Vote } from './agreement.ts'

/**
 * The newest block that is final for `quorum` nodes, which agree on its hash. Of the heads that nodes name, the
 * `quorum`-th highest counts: one node can neither run ahead alone, nor, where there are others, hold all back.
 */
export async function readFinalizedHead(pool: NodePool): ChainResult<Header> {
  const turns = createNodeSelector(pool, 'money')
  const heads = await collectVotes(
    turns,
    (node) => headOf(pool, node),
    (heard) => {
      const enough = heard.length >= pool.quorum && spread(heard) <= headSpreadMax
      return enough ? 0 : Math.max(pool.quorum - heard.length, 1)
    },
  )
  const sorted = [...heads].sort((a, b) => b.value.height - a.value.height)
  const lowest = sorted[pool.quorum - 1]
  if (lowest === undefined) return err(turns.failure())
  const { height } = lowest.value
  const known = new Map(heads.map(({ node, value }) => [node, value]))
  // Those that named a head can answer at once; the others are asked only where these disagree.
  const rest = pool.nodes.filter((node) => !known.has(node))
  const order = [...sorted.filter(({ value }) => value.height >= height).map(({ node }) => node), ...rest]
  for (const { node, value } of heads) {
    if (height - value.height > headSpreadMax) node.health.lagUntil = pool.budget.clock.now() + lagMs
  }
  return agreeByQuorum(
    pool,
    createNodeSelector(pool, 'money', order),
    `finalized block ${height}`,
    async (node) => {
      const own = known.get(node)
      return own?.height === height ? ok(own) : headerAt(pool, node, height)
    },
    ({ hash, parentHash }) => `hash ${hash}\nparent ${parentHash}`,
  )
}

function spread(heads: readonly Vote<Header>[]): number {
  const heights = heads.map(({ value }) => value.height)
  return Math.max(...heights) - Math.min(...heights)
}

async function headOf(pool: NodePool, node: TronNode): Promise<Result<Header, NodeError>> {
  const heard = await queryNode(pool, node, 'finalized', [])
  if (!heard.ok) return heard
  return heard.value.finalized === null ? err(nodeError('bad-answer', 'no finalized head')) : ok(heard.value.finalized)
}

async function headerAt(pool: NodePool, node: TronNode, height: BlockHeight): Promise<Result<Header, NodeError>> {
  const heard = await queryFinal(pool, node, height, [blockCall(height, false)])
  if (!heard.ok) return heard
  const head = parseResult(heard.value.replies[0], `block ${height}`, parseHeader)
  if (!head.ok) return head
  const { rawTransactions: _, ...header } = head.value
  return header.height === height ? ok(header) : err(nodeError('bad-answer', `block ${header.height} for ${height}`))
}
