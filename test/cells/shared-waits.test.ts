import { describe, expect, it } from 'vitest'
import { sharedMs, shareReads } from '../../src/worker/cells/share-reads.ts'
import { createSharedBlocks } from '../../src/worker/cells/shared-blocks.ts'
import type { BlockHeight, Header } from '../../src/worker/chain/block.ts'
import type { Chain, SharedBlocks } from '../../src/worker/chain/chain.ts'
import { ok } from '../../src/worker/common/result.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

// only height and time matter here
const header = { height: 7, timestamp: 1_000_000, hash: 'a', parentHash: 'b' } as unknown as Header

/**
 * Cells that share one memory of what nodes have answered. A node takes `readMs` to answer. `reads`
 * lists the questions that reached a node. `shareOf` returns the memory that the cells get: the
 * shared one, or another in its place.
 */
function cellsWith(shareOf: (own: SharedBlocks) => SharedBlocks, readMs: number) {
  const clock = createVirtualClock(1_000_000)
  const shared = shareOf(createSharedBlocks(clock))
  const reads: string[] = []
  const read = async <T>(what: string, value: T) => {
    reads.push(what)
    await clock.sleep(readMs)
    return ok(value)
  }
  const ofNodes = {
    finalizedHead: () => read('head', { header }),
    finalBlocks: (from: number, to: number) => {
      const heights = Array.from({ length: to - from + 1 }, (_, i) => from + i)
      return read(
        `blocks ${from}-${to}`,
        heights.map((height) => ({ kind: 'not-agreed' as const, height })),
      )
    },
    tail: () => read('tail', { node: 1, latest: header.height, follows: true, blocks: [] }),
  } as unknown as Chain // safe: the tests call only these methods
  const open = () => shareReads(ofNodes, { shared, clock, inBackground: (work) => void work })
  const tick = async () => {
    const chain = open()
    await chain.finalizedHead(null)
    await chain.finalBlocks(1 as BlockHeight, 7 as BlockHeight)
    await chain.tail(header, header)
    return clock.now() - 1_000_000
  }
  /** Starts the ticks of `count` cells at once; returns how many milliseconds each took. */
  const ticks = async (count: number) => {
    const ended: number[] = []
    for (let i = 0; i < count; i += 1) void tick().then((ms) => ended.push(ms))
    await clock.runUntil(() => ended.length === count)
    return ended
  }
  return { reads, ticks, open, clock }
}

describe('cells that read together', () => {
  it('read once, also where nodes need three seconds for a read', async () => {
    const { reads, ticks } = cellsWith((own) => own, 3_000)
    expect(await ticks(3)).toEqual([9_000, 9_000, 9_000])
    expect(reads).toEqual(['head', 'blocks 1-7', 'tail'])
  })

  it('wait once in a tick for a memory that never answers, and then read alone', async () => {
    const never = new Promise<never>(() => undefined)
    const { reads, ticks } = cellsWith(() => ({ take: () => never, give: () => never }), 100)
    expect(await ticks(1)).toEqual([sharedMs + 300])
    expect(reads).toEqual(['head', 'blocks 1-7', 'tail'])
  })

  it('read at once where the memory fails', async () => {
    const fail = () => Promise.reject(new Error('the object was reset'))
    const { reads, ticks } = cellsWith(() => ({ take: fail, give: fail }), 100)
    expect(await ticks(1)).toEqual([300])
    expect(reads).toEqual(['head', 'blocks 1-7', 'tail'])
  })

  it('read each block once where one of them is ahead of another, and none above its own head', async () => {
    const { reads, open, clock } = cellsWith((own) => own, 0)
    const scan = async (from: number, to: number) => {
      const heights: number[] = []
      while (heights.length < to - from + 1) {
        const chain = open()
        const blocks = await chain.finalBlocks((from + heights.length) as BlockHeight, to as BlockHeight)
        if (!blocks.ok) throw new Error(blocks.error.kind)
        for (const block of blocks.value) heights.push(block.kind === 'read' ? block.header.height : block.height)
      }
      return heights
    }
    const all = Promise.all([scan(1, 5), scan(1, 7), scan(6, 7), scan(1, 3)])
    let isOver = false
    void all.then(() => {
      isOver = true
    })
    await clock.runUntil(() => isOver)
    expect(await all).toEqual([
      [1, 2, 3, 4, 5],
      [1, 2, 3, 4, 5, 6, 7],
      [6, 7],
      [1, 2, 3],
    ])
    expect(reads).toEqual(['blocks 1-5', 'blocks 6-7'])
  })

  it('read alone after one wait where the first reader is lost', async () => {
    const { reads, ticks } = cellsWith((own) => {
      void own.take('head', 1_500) // this cell claims the read of the head, and never delivers the head
      return own
    }, 100)
    expect(await ticks(2)).toEqual([sharedMs + 300, sharedMs + 300])
    expect(reads.filter((what) => what === 'head')).toHaveLength(2)
  })
})
