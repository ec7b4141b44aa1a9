import type { Block, BlockHeight } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { readBlocksMax } from '../chain/limits.ts'
import type { Alarms } from '../platform/alarms.ts'
import { stepBlocksMax, stepEntriesMax } from './limits.ts'
import { isChildOf, planScan } from './plan.ts'
import type { ScanPosition } from './scan-store.ts'

/** The blocks that a step has read. */
export interface ReadStep {
  readonly blocks: readonly Block[]
  /** Requests of the newest read. 0 where it put blocks aside, which took most of them: the next read takes fewer. */
  readonly cost: number
  /** Why reading stopped early, or null. */
  readonly failure: ChainFailure | null
}

/**
 * Reads the next blocks above `position`, as many as one step may contain. No read starts with fewer requests left than the
 * newest one (`newestCost`, 0 before the first) took: the next invocation would have to repeat it. The first read has
 * at most `blocksMax` blocks, and each next one twice as many.
 */
export async function readStep(
  { chain, alarms }: { readonly chain: Pick<Chain, 'finalizedBlocks' | 'requestsLeft'>; readonly alarms: Alarms },
  position: ScanPosition,
  finalized: BlockHeight,
  newestCost: number,
  blocksMax = readBlocksMax,
): Promise<ReadStep> {
  const blocks: Block[] = []
  let last = position
  let most = blocksMax
  let cost = newestCost
  let entries = 0
  const ended = (failure: ChainFailure | null): ReadStep => ({ blocks, cost, failure })
  while (blocks.length < stepBlocksMax && entries < stepEntriesMax) {
    const plan = planScan(last.height, finalized, most)
    if (plan.kind === 'caught-up') break
    const left = chain.requestsLeft()
    if (left < cost) return ended(blocks.length === 0 ? { kind: 'out-of-budget' } : null)
    const read = await chain.finalizedBlocks(plan.from, plan.to)
    if (!read.ok) return ended(read.error)
    cost = read.value.some(({ logs }) => logs === null) ? 0 : left - chain.requestsLeft()
    const [first] = read.value
    const newest = read.value.at(-1)
    if (first === undefined || newest === undefined) break
    if (!isChildOf(last.hash, first)) {
      const fields = { height: first.height, parent: first.parentHash, stored: last.hash }
      await alarms.raise('chain-forked', '', fields)
      return ended({ kind: 'forked', at: first.height })
    }
    blocks.push(...read.value)
    for (const { transactions, logs } of read.value) entries += transactions.length + (logs?.length ?? 0)
    last = newest
    most = Math.min(2 * most, readBlocksMax)
  }
  return ended(null)
}
