import { blockSeconds } from '../chain/block.ts'
import { nodeName } from '../chain/node-name.ts'
import type { NodeReport, NodeUse } from '../chain/node-report.ts'
import { isAhead } from '../common/time.ts'
import { unfitMs } from './limits.ts'
import { type Pool, standingOf, type TronNode } from './node.ts'

/** Reports the nodes for operators, in their order. */
export async function reportNodes(pool: Pool): Promise<readonly NodeReport[]> {
  await pool.ready
  return pool.nodes.map((node): NodeReport => {
    const { number, endpoint, news, lastError } = node
    return {
      name: nodeName(number, endpoint),
      use: useOf(node, pool.clock.now()),
      answer: news.answer,
      behind: behindOf(node, pool),
      error: lastError,
      used: pool.allowance.used(number),
      perDay: endpoint.perDay,
    }
  })
}

/** The worse of its two services, because both are needed. */
function useOf(node: TronNode, now: number): NodeUse {
  if (node.unfit !== null && isAhead(node.unfit.until, unfitMs, now)) return 'unfit'
  const uses = [standingOf(node.rpc, now), standingOf(node.api, now)]
  return (['blocked', 'resting', 'demoted', 'behind'] as const).find((use) => uses.includes(use)) ?? 'first'
}

/** An older reading of a head is raised by the blocks that were made since. */
function behindOf({ news: { head } }: TronNode, { nodes }: Pool): number | null {
  if (head === null) return null
  const grown = (at: number) => Math.max(0, Math.floor((at - head.at) / (blockSeconds * 1000)))
  const others = nodes.flatMap(({ news }) => (news.head === null ? [] : [news.head.height - grown(news.head.at)]))
  return Math.max(0, ...others.map((height) => height - head.height))
}
