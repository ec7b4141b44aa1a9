import { describe, expect, it } from 'vitest'
import { blocksKeptMs, headKeptMs, sharedMs, sharedRangeMax, shareReads } from '../../src/worker/cells/share-reads.ts'
import { createSharedBlocks } from '../../src/worker/cells/shared-blocks.ts'
import type { BlockHeight, BlockRef, Header } from '../../src/worker/chain/block.ts'
import type { Chain, SharedBlocks } from '../../src/worker/chain/chain.ts'
import { err, ok } from '../../src/worker/common/result.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

const at = (height: number) => height as BlockHeight // safe: tests use whole numbers
const headerAt = (height: number) => ({ height: at(height), timestamp: height * 3_000, hash: `${height}` }) as Header

/**
 * Two cells that share reads of one chain; `asked` lists the reads that reach the nodes.
 * `known.head` is the height of the newest final block; null: the nodes do not answer.
 */
function setUp(known: { head: number | null } = { head: 100 }, memory?: SharedBlocks) {
  const clock = createVirtualClock(1_000_000)
  const shared = memory ?? createSharedBlocks(clock)
  const asked: string[] = []
  const chain = {
    async finalizedHead() {
      asked.push('head')
      return known.head === null
        ? err({ kind: 'no-answer', why: '' })
        : ok({ header: headerAt(known.head), behind: [] })
    },
    async finalBlocks(from: number, to: number) {
      asked.push(`blocks ${from} ${to}`)
      return ok([])
    },
    async tail({ height }: BlockRef) {
      asked.push(`tail ${height}`)
      return ok({ node: 1, latest: height, follows: true, blocks: [] })
    },
    noteFalse: () => undefined,
  } as unknown as Chain // safe: the tests call only the three shared methods and `noteFalse`
  const work: Promise<unknown>[] = []
  const cell = () => shareReads(chain, { shared, clock, inBackground: (one) => void work.push(one) })
  return { clock, asked, cells: [cell(), cell()] as const, settled: () => Promise.all(work) }
}

describe('the ticks of two cells', () => {
  it('ask for head, blocks and tail once, at the same time or one after the other', async () => {
    const { asked, cells, settled } = setUp()
    const all = (chain: Chain) =>
      Promise.all([chain.finalizedHead(null), chain.finalBlocks(at(1), at(3)), chain.tail(headerAt(3), headerAt(3))])
    const [first, second] = await Promise.all(cells.map(all))
    await settled()
    expect(second).toEqual(first)
    expect(await all(cells[1])).toEqual(first)
    expect(new Set(asked)).toEqual(new Set(['blocks 1 3', 'head', 'tail 3']))
    expect(asked).toHaveLength(3)
  })

  it('ask again for a head that is old, and for blocks only after a minute', async () => {
    const { clock, asked, cells, settled } = setUp()
    await cells[0].finalizedHead(null)
    await cells[0].finalBlocks(at(1), at(3))
    await settled()
    clock.jump(headKeptMs)
    await cells[1].finalizedHead(null)
    await cells[1].finalBlocks(at(1), at(3))
    expect(asked).toEqual(['head', 'blocks 1 3', 'head'])
    clock.jump(blocksKeptMs)
    await cells[1].finalBlocks(at(1), at(3))
    expect(asked.at(-1)).toBe('blocks 1 3')
    expect(asked).toHaveLength(4)
  })

  it('take no head that is below what one of them has stored', async () => {
    const known = { head: 100 }
    const { asked, cells, settled } = setUp(known)
    await cells[0].finalizedHead(null)
    await settled()
    known.head = 102
    const own = await cells[1].finalizedHead({ height: at(101), time: 303_000 })
    expect(own).toMatchObject({ ok: true, value: { header: { height: 102 } } })
    expect(asked).toEqual(['head', 'head'])
  })

  it(`share no range of more than ${sharedRangeMax} blocks: a cell that catches up reads alone`, async () => {
    const { asked, cells } = setUp()
    const range = [at(1), at(sharedRangeMax + 1)] as const
    await cells[0].finalBlocks(...range)
    await cells[1].finalBlocks(...range)
    expect(asked).toHaveLength(2)
  })

  it('share no failure: the other one asks for itself', async () => {
    const known: { head: number | null } = { head: null }
    const { asked, cells, settled } = setUp(known)
    expect(await cells[0].finalizedHead(null)).toMatchObject({ ok: false })
    await settled()
    known.head = 100
    expect(await cells[1].finalizedHead(null)).toMatchObject({ ok: true })
    expect(asked).toEqual(['head', 'head'])
  })

  it.each([
    ['fails', async () => Promise.reject(new Error('it is being replaced'))],
    ['never answers', () => new Promise<null>(() => undefined)],
  ])('read for themselves while the memory %s', async (_, fail) => {
    const { clock, asked, cells } = setUp({ head: 100 }, { take: fail, give: async () => Promise.reject(new Error()) })
    const read = cells[0].finalizedHead(null)
    clock.jump(sharedMs)
    expect(await read).toMatchObject({ ok: true })
    expect(asked).toEqual(['head'])
  })
})
