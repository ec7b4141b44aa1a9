import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/chain/block.ts'
import type { Chain } from '../../src/chain/chain.ts'
import type { ChainFailure } from '../../src/chain/failure.ts'
import { readBlocksMax } from '../../src/chain/limits.ts'
import { err, ok } from '../../src/common/result.ts'
import { stepBlocksMax, stepEntriesMax } from '../../src/scan/limits.ts'
import { readStep } from '../../src/scan/read-step.ts'
import { transaction } from '../deposits/samples.ts'
import { blocksBetween, createScanParts, hashAt, start } from './scan-parts.ts'

const far = 10_000 as BlockHeight
const position = { height: start, hash: hashAt(start) }

/** Nodes whose every read takes `cost` of `budget` requests and returns blocks with `entries` transactions each. */
function createNodes({ budget = 40, cost = 2, entries = 0 } = {}) {
  const transactions = Array.from({ length: entries }, () => transaction())
  const reads: number[] = []
  const chain: Pick<Chain, 'finalizedBlocks' | 'requestsLeft'> = {
    requestsLeft: () => budget - cost * reads.length,
    finalizedBlocks: async (from, to) => {
      reads.push(from)
      return ok(blocksBetween(from, to, transactions))
    },
  }
  return { chain, reads }
}

async function read(chain: Partial<Chain>, { finalized = far, cost = 0, at = position } = {}) {
  const parts = await createScanParts(chain)
  const { blocks, ...rest } = await readStep(parts, at, finalized, cost)
  return { ...rest, alarms: parts.raised, heights: blocks.map(({ height }) => height - start) }
}
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

describe('a step', () => {
  it('reads as many blocks as one step may contain, in order', async () => {
    const { chain, reads } = createNodes()
    expect(await read(chain)).toEqual({ heights: upTo(stepBlocksMax), cost: 2, failure: null, alarms: [] })
    expect(reads).toHaveLength(stepBlocksMax / readBlocksMax)
  })

  it('ends at the finalized head', async () => {
    const { heights, failure } = await read(createNodes().chain, { finalized: (start + 20) as BlockHeight })
    expect(heights).toEqual(upTo(20))
    expect(failure).toBeNull()
  })

  it('starts no further read where its blocks are full enough', async () => {
    const entries = Math.ceil(stepEntriesMax / readBlocksMax)
    expect((await read(createNodes({ entries }).chain)).heights).toEqual(upTo(readBlocksMax))
  })

  it('starts no read with fewer requests left than the newest one took', async () => {
    const { chain, reads } = createNodes({ budget: 3 })
    expect(await read(chain, { cost: 4 })).toMatchObject({ heights: [], failure: { kind: 'out-of-budget' } })
    expect(reads).toEqual([])
  })

  it('goes on with few requests left where the newest read put a block aside, which took most of them', async () => {
    let left = 30
    const { chain, reads } = createNodes()
    const finalizedBlocks: Chain['finalizedBlocks'] = async (from, to) => {
      const blocks = await chain.finalizedBlocks(from, to)
      const isFirst = reads.length === 1
      left -= isFirst ? 20 : 4
      return isFirst && blocks.ok ? ok(blocks.value.map((block) => ({ ...block, logs: null }))) : blocks
    }
    const { heights, cost } = await read({ finalizedBlocks, requestsLeft: () => left })
    expect(heights).toEqual(upTo(stepBlocksMax))
    expect(cost).toBe(4)
  })

  it('has the blocks of the reads before its requests are used up', async () => {
    const { chain } = createNodes({ budget: 5, cost: 3 })
    const { heights, failure } = await read(chain)
    expect(heights).toEqual(upTo(readBlocksMax))
    expect(failure).toBeNull()
  })

  it('has the blocks of the reads before a failure', async () => {
    const { chain, reads } = createNodes()
    const failure: ChainFailure = { kind: 'no-answer', why: 'no node replied' }
    const finalizedBlocks: Chain['finalizedBlocks'] = async (from, to) =>
      reads.length === 1 ? err(failure) : chain.finalizedBlocks(from, to)
    expect(await read({ ...chain, finalizedBlocks })).toMatchObject({ heights: upTo(readBlocksMax), failure })
  })

  it('is forked, with an alarm, where its first block is not the child of the stored one', async () => {
    const at = { height: start, hash: hashAt(7) }
    const { heights, failure, alarms } = await read(createNodes().chain, { at })
    expect(heights).toEqual([])
    expect(failure).toEqual({ kind: 'forked', at: start + 1 })
    expect(alarms).toEqual(['chain-forked'])
  })
})
