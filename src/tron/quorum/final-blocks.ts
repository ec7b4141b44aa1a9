import type { Block, BlockHeight } from '../../chain/block.ts'
import type { ChainResult } from '../../chain/chain.ts'
import { readBlocksMax } from '../../chain/limits.ts'
import { err, ok } from '../../common/result.ts'
import { rangeSourcesMin } from '../limits.ts'
import { createNodeSelector, failureOf, type NodeAnswer, nextAnswer } from '../nodes/failover.ts'
import type { NodePool, TronNode } from '../nodes/node.ts'
import { collectAnswers, reportDisagreement, type Vote } from './agreement.ts'
import { type Confirmation, confirmBlocks, type Mismatch } from './confirm-blocks.ts'
import { createEarlyReplies, type EarlyReplies, queryRange } from './early-replies.ts'
import { type FinalBlocks, readBlocks } from './read-blocks.ts'

/**
 * The final blocks `from`..`to` from one node, confirmed by `quorum` − 1 others. Where nodes contradict it, the blocks are
 * read from one of these instead. So with one dishonest node among `quorum` + 1 the honest ones still agree.
 */
export async function readFinalBlocks(
  pool: NodePool,
  from: BlockHeight,
  to: BlockHeight,
): ChainResult<readonly Block[]> {
  if (to < from || to - from >= readBlocksMax) return err({ kind: 'no-answer', why: aboutRange(from, to) })
  const early = createEarlyReplies(pool, from, to)
  const blocks = await agreeOnBlocks(pool, from, to, early)
  await early.ended()
  pool.budget.replies.forget()
  return blocks
}

const aboutRange = (from: BlockHeight, to: BlockHeight) => `blocks ${from} to ${to}`

async function agreeOnBlocks(
  pool: NodePool,
  from: BlockHeight,
  to: BlockHeight,
  early: EarlyReplies,
): ChainResult<readonly Block[]> {
  const mismatches: ReportedMismatch[] = []
  const contradicted = new Set<TronNode>()
  let sources = pool.nodes
  for (;;) {
    const read = await readFromSource(pool, sources, early, from, to)
    if (!read.ok && contradicted.size === 0) return read
    if (!read.ok) break
    const { node: source, value: blocks } = read.value
    const others = pool.nodes.filter((node) => node !== source && !contradicted.has(node))
    const selector = createNodeSelector(pool, 'credit', pool.quorum - 1, others)
    const answers = await collectAnswers(
      selector,
      (node) => confirmBlocks(node, source, blocks, early.take(node) ?? queryRange(node, from, to)),
      (all) => pool.quorum - 1 - all.filter(isComplete).length,
    )
    const confirming = answers.filter(({ value }) => value.mismatch === null)
    // Those that confirm all logs come first: of the others, some logs are unconfirmed.
    const chosen = confirming.sort((a, b) => a.value.unread.length - b.value.unread.length).slice(0, pool.quorum - 1)
    const unread = new Set(chosen.flatMap(({ value }) => value.unread))
    const agreeing = [source, ...chosen.map(({ node }) => node)]
    const opposing = answers.flatMap(({ node, value: { mismatch } }) =>
      mismatch === null ? [] : [{ ...mismatch, source, other: node }],
    )
    mismatches.push(...opposing)
    if (agreeing.length >= pool.quorum) {
      report(mismatches, agreeing)
      return ok(
        blocks.map(({ indexes: _, logs, ...block }) => ({ ...block, logs: unread.has(block.height) ? null : logs })),
      )
    }
    if (opposing.length === 0 && contradicted.size === 0) return err(failureOf(selector))
    contradicted.add(source)
    sources = opposing.map(({ other }) => other)
    if (sources.length === 0 || pool.nodes.length - contradicted.size < pool.quorum) break
  }
  report(mismatches, [])
  return err({ kind: 'disagreement', about: aboutRange(from, to) })
}

const isComplete = ({ value: { mismatch, unread } }: NodeAnswer<Confirmation>) =>
  mismatch === null && unread.length === 0

/**
 * The blocks from the first node that can read all of their logs, or from the one that leaves the fewest unread. All nodes are
 * tried for a single block. For several ones there are at most `rangeSourcesMin` or a quorum of them, one of which is honest, and
 * no more than `rangeSourcesMin` once half of the requests are used: the blocks must be confirmed too, a busy range must leave
 * requests for the next ranges, and what is unread is read again block by block.
 */
async function readFromSource(
  pool: NodePool,
  sources: readonly TronNode[],
  early: EarlyReplies,
  from: BlockHeight,
  to: BlockHeight,
): ChainResult<NodeAnswer<FinalBlocks>> {
  const selector = createNodeSelector(pool, 'credit', 1, sources)
  const unread = (blocks: FinalBlocks) => blocks.filter(({ logs }) => logs === null).length
  const { budget, quorum } = pool
  const isEnough = (tried: number) => {
    if (from === to || tried < rangeSourcesMin) return false
    return tried >= quorum || budget.requests > budget.requestsMax / 2
  }
  let best: NodeAnswer<FinalBlocks> | null = null
  for (let tried = 1; ; tried += 1) {
    const read: Awaited<ChainResult<NodeAnswer<FinalBlocks>>> = await nextAnswer(selector, (node) => {
      const firstId = early.request(node)
      return readBlocks(node, from, to, firstId)
    })
    if (!read.ok) return best === null ? read : ok(best)
    if (best === null || unread(read.value.value) < unread(best.value)) best = read.value
    if (unread(best.value) === 0 || isEnough(tried)) return ok(best)
  }
}

/** A mismatch and its nodes: the one that the blocks are from, and the other one. */
interface ReportedMismatch extends Mismatch {
  readonly source: TronNode
  readonly other: TronNode
}

/** Reports each mismatch. Where a quorum agrees, the node outside of it is outvoted. */
function report(mismatches: readonly ReportedMismatch[], quorum: readonly TronNode[]): void {
  for (const { about, source, text, other, otherText } of mismatches) {
    const votes: readonly [Vote, Vote] = [
      { node: source, text },
      { node: other, text: otherText },
    ]
    const [vote, opposite] = quorum.includes(other) ? [votes[1], votes[0]] : votes
    const agreeing = quorum.map((node) => ({ node, text: vote.text }))
    reportDisagreement(about, quorum.length > 0 ? agreeing : [vote], opposite, quorum.length > 0)
  }
}
