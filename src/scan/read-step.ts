import type { Block, BlockHeight } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import type { Logger } from '../platform/logger.ts'
import { stepBlocksMax, stepEntriesMax, stepRequestsMax } from './limits.ts'
import { isChildOf, planScan } from './plan.ts'
import type { ScanPosition } from './scan-store.ts'

/** Requests that the newest read, and the newest proofs of a step, took; 0 before the first ones. */
export interface StepCosts {
  readonly read: number
  readonly proof: number
}

/** The blocks that a step has read. */
export interface ReadStep {
  readonly blocks: readonly Block[]
  /** Requests of the newest read. */
  readonly cost: number
  /** Why reading stopped early, or null. */
  readonly failure: ChainFailure | null
}

/**
 * Reads the next blocks above `position`, as many as one step may contain. No read starts without enough requests left to
 * prove it: the next invocation would have to read its blocks again.
 */
export async function readStep(
  { chain, logger }: { readonly chain: Pick<Chain, 'finalizedBlocks' | 'requestsLeft'>; readonly logger: Logger },
  position: ScanPosition,
  finalized: BlockHeight,
  costs: StepCosts,
): Promise<ReadStep> {
  const blocks: Block[] = []
  let last = position
  let cost = costs.read
  let entries = 0
  const leftBefore = chain.requestsLeft()
  const ended = (failure: ChainFailure | null): ReadStep => ({ blocks, cost, failure })
  const hasRoom = () => blocks.length < stepBlocksMax && entries < stepEntriesMax
  while (hasRoom() && leftBefore - chain.requestsLeft() < stepRequestsMax) {
    const plan = planScan(last.height, finalized)
    if (plan.kind === 'caught-up') break
    const left = chain.requestsLeft()
    if (left < cost + costs.proof) return ended(blocks.length === 0 ? { kind: 'out-of-budget' } : null)
    const read = await chain.finalizedBlocks(plan.from, plan.to)
    if (!read.ok) return ended(read.error)
    cost = left - chain.requestsLeft()
    const [first] = read.value
    const newest = read.value.at(-1)
    if (first === undefined || newest === undefined) break
    if (!isChildOf(last.hash, first)) {
      logger.alarm('chain-forked', { height: first.height, parent: first.parentHash, stored: last.hash })
      return ended({ kind: 'forked', at: first.height })
    }
    const unread = read.value.findIndex(({ logs }) => logs === null)
    blocks.push(...(unread < 0 ? read.value : read.value.slice(0, unread)))
    if (unread >= 0) return ended({ kind: 'no-answer', why: `logs of block ${read.value[unread]?.height}` })
    for (const { transactions, logs } of read.value) entries += transactions.length + (logs?.length ?? 0)
    last = newest
  }
  return ended(null)
}
