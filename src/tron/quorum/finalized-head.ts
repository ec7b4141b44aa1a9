import type { BlockHeight, Header } from '../../chain/block.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { Answer } from '../../chain/chain.ts'
import { agree, collect, type Voice } from './agreement.ts'
import { askFinal, blockCall, parsed } from '../calls.ts'
import { headSpreadMax, lagMs } from '../limits.ts'
import { ask, type Pool, type PoolNode } from '../transport/batch.ts'
import { readHead } from '../parse/block.ts'
import { type Trouble, trouble } from '../nodes/node-error.ts'
import { createTurns } from '../nodes/failover.ts'

/**
 * The newest block that is final for `quorum` nodes, which agree on its hash. Of the heads that nodes name, the
 * `quorum`-th highest counts: one node can neither run ahead alone, nor, where there are others, hold all back.
 */
export async function finalizedHead(pool: Pool): Answer<Header> {
  const turns = createTurns(pool, 'money')
  const heads = await collect(
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
    if (height - value.height > headSpreadMax) node.state.lagUntil = pool.line.clock.now() + lagMs
  }
  return agree(
    pool,
    createTurns(pool, 'money', order),
    `finalized block ${height}`,
    async (node) => {
      const own = known.get(node)
      return own?.height === height ? ok(own) : headerAt(pool, node, height)
    },
    ({ hash, parentHash }) => `hash ${hash}\nparent ${parentHash}`,
  )
}

function spread(heads: readonly Voice<Header>[]): number {
  const heights = heads.map(({ value }) => value.height)
  return Math.max(...heights) - Math.min(...heights)
}

async function headOf(pool: Pool, node: PoolNode): Promise<Result<Header, Trouble>> {
  const heard = await ask(pool, node, 'finalized', [])
  if (!heard.ok) return heard
  return heard.value.finalized === null ? err(trouble('bad-answer', 'no finalized head')) : ok(heard.value.finalized)
}

async function headerAt(pool: Pool, node: PoolNode, height: BlockHeight): Promise<Result<Header, Trouble>> {
  const heard = await askFinal(pool, node, height, [blockCall(height, false)])
  if (!heard.ok) return heard
  const head = parsed(heard.value.replies[0], `block ${height}`, readHead)
  if (!head.ok) return head
  const { wire: _, ...header } = head.value
  return header.height === height ? ok(header) : err(trouble('bad-answer', `block ${header.height} for ${height}`))
}
