import type { Block, BlockHeight } from '../../chain/block.ts'
import type { ChainResult } from '../../chain/chain.ts'
import { readBlocksMax } from '../../chain/limits.ts'
import { err, ok } from '../../common/result.ts'
import { createNodeSelector, failureOf, nextAnswer } from '../nodes/failover.ts'
import type { NodePool, TronNode } from '../nodes/node.ts'
import { collectAnswers, reportDisagreement } from './agreement.ts'
import { confirmBlocks, type Mismatch } from './confirm-blocks.ts'
import { readBlocks } from './read-blocks.ts'

/**
 * The final blocks `from`..`to` from one node, confirmed by `quorum` − 1 others. Where nodes contradict it, the blocks are
 * read from one of these instead. So with one dishonest node among `quorum` + 1 the honest ones still agree.
 */
export async function readFinalBlocks(
  pool: NodePool,
  from: BlockHeight,
  to: BlockHeight,
): ChainResult<readonly Block[]> {
  const about = `blocks ${from} to ${to}`
  if (to < from || to - from >= readBlocksMax) return err({ kind: 'no-answer', why: about })
  const mismatches: Mismatch[] = []
  const contradicted = new Set<TronNode>()
  let sources = pool.nodes
  for (;;) {
    const read = await nextAnswer(createNodeSelector(pool, 'credit', sources), (node) => readBlocks(node, from, to))
    if (!read.ok && contradicted.size === 0) return read
    if (!read.ok) break
    const { node: source, value: blocks } = read.value
    const others = pool.nodes.filter((node) => node !== source && !contradicted.has(node))
    const selector = createNodeSelector(pool, 'credit', others)
    const answers = await collectAnswers(
      selector,
      (node) => confirmBlocks(node, source, blocks),
      (all) => pool.quorum - 1 - all.filter(({ value }) => value === null).length,
    )
    const agreeing = [source, ...answers.filter(({ value }) => value === null).map(({ node }) => node)]
    const opposing = answers.flatMap(({ value }) => value ?? [])
    mismatches.push(...opposing)
    if (agreeing.length >= pool.quorum) {
      report(mismatches, agreeing)
      return ok(blocks.map(({ indexes: _, ...block }) => block))
    }
    if (opposing.length === 0 && contradicted.size === 0) return err(failureOf(selector))
    contradicted.add(source)
    sources = opposing.map(({ other }) => other.node)
    if (sources.length === 0 || pool.nodes.length - contradicted.size < pool.quorum) break
  }
  report(mismatches, [])
  return err({ kind: 'disagreement', about })
}

/** Reports each mismatch. Where a quorum agrees, the node outside of it is outvoted. */
function report(mismatches: readonly Mismatch[], quorum: readonly TronNode[]): void {
  for (const { about, source, other } of mismatches) {
    const [vote, opposite] = quorum.includes(other.node) ? [other, source] : [source, other]
    const votes = quorum.map((node) => ({ node, text: vote.text }))
    reportDisagreement(about, quorum.length > 0 ? votes : [vote], opposite, quorum.length > 0)
  }
}
