import { describe, expect, it } from 'vitest'
import { createSharedBlocks, keptMax, leaseMs } from '../../src/worker/cells/shared-blocks.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

describe('the memory that cells share', () => {
  const open = () => {
    const clock = createVirtualClock(1_000_000)
    return { clock, shared: createSharedBlocks(clock) }
  }

  it('has a value as long as its reader takes it, and not longer', async () => {
    const { clock, shared } = open()
    expect(await shared.take('head', 1_500)).toBeNull()
    await shared.give('head', 5)
    clock.jump(1_499)
    expect(await shared.take('head', 1_500)).toEqual({ value: 5 })
    clock.jump(1)
    expect(await shared.take('head', 1_500)).toBeNull()
  })

  it('lets others wait for the one who reads, and read themselves if that one fails', async () => {
    const { shared } = open()
    expect(await shared.take('head', 1_500)).toBeNull()
    const second = shared.take('head', 1_500)
    await shared.give('head', 5)
    expect(await second).toEqual({ value: 5 })
    expect(await shared.take('blocks 1 2', 1_500)).toBeNull()
    const third = shared.take('blocks 1 2', 1_500)
    await shared.give('blocks 1 2', null)
    expect(await third).toBeNull()
  })

  it('waits for nobody who never answers', async () => {
    const { clock, shared } = open()
    expect(await shared.take('head', 1_500)).toBeNull()
    const second = shared.take('head', 1_500)
    clock.jump(leaseMs)
    expect(await second).toBeNull()
  })

  it(`keeps ${keptMax} values`, async () => {
    const { shared } = open()
    for (let i = 0; i <= keptMax; i += 1) await shared.give(`blocks ${i} ${i}`, i)
    expect(await shared.take('blocks 0 0', 60_000)).toBeNull()
    expect(await shared.take(`blocks ${keptMax} ${keptMax}`, 60_000)).toEqual({ value: keptMax })
  })
})
