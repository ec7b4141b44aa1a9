import { describe, expect, it } from 'vitest'
import type { Uid } from '../../src/worker/common/ids.ts'
import { createHolds, heldMax, heldOfUserMax, holdMsMax } from '../../src/worker/scan/holds.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

const [seven, eight] = [7 as Uid, 8 as Uid] // safe: whole numbers above 0

function start() {
  const clock = createVirtualClock(1_800_000_000_000)
  const state = { isWell: true }
  const holds = createHolds(clock, () => state.isWell)
  /** Waits, and returns whether something may have changed and after how many milliseconds. */
  const wait = async (mark: string | null, ms = holdMsMax, uid = seven) => {
    const begunAt = clock.now()
    const answer = await holds.wait(uid, mark, ms)
    return { ...answer, ms: clock.now() - begunAt }
  }
  const marked = async () => (await holds.wait(seven, null, 0)).mark
  return { clock, state, holds, wait, marked }
}

describe('a held request', () => {
  it('is answered at once without a mark, or with one of another instance', async () => {
    const { wait } = start()
    expect(await wait(null)).toMatchObject({ isChanged: true, ms: 0 })
    expect(await wait('another-0')).toMatchObject({ isChanged: true, ms: 0 })
    expect(await wait('nonsense')).toMatchObject({ isChanged: true, ms: 0 })
  })

  it('ends after its time where nothing has changed, at most after 25 s', async () => {
    const { clock, wait, marked } = start()
    const mark = await marked()
    const [short, long] = [wait(mark, 2_000), wait(mark, 90_000)]
    await clock.advance(30_000)
    expect(await short).toMatchObject({ isChanged: false, ms: 2_000 })
    expect(await long).toMatchObject({ isChanged: false, ms: holdMsMax })
  })

  it('ends with a change of its user, and with no other', async () => {
    const { clock, holds, wait, marked } = start()
    const mark = await marked()
    const [own, other] = [wait(mark), wait(mark, holdMsMax, eight)]
    await clock.advance(3_000)
    holds.changed([seven])
    const { isChanged, ms, mark: next } = await own
    await clock.advance(holdMsMax)
    expect({ isChanged, ms }).toEqual({ isChanged: true, ms: 3_000 })
    expect(await other).toMatchObject({ isChanged: false, ms: holdMsMax })
    const again = wait(next, 1_000)
    await clock.advance(1_000)
    expect(await again).toMatchObject({ isChanged: false })
  })

  it('misses no change between two of them', async () => {
    const { holds, wait, marked } = start()
    const mark = await marked()
    holds.changed([eight, seven])
    expect(await wait(mark)).toMatchObject({ isChanged: true, ms: 0 })
  })

  it('ends for all where anything may have changed, and while what is stored is late', async () => {
    const { clock, state, holds, wait, marked } = start()
    const mark = await marked()
    const both = [wait(mark), wait(mark, holdMsMax, eight)]
    await clock.advance(1_000)
    holds.changedForAll()
    for (const one of both) expect(await one).toMatchObject({ isChanged: true, ms: 1_000 })
    const next = await marked()
    state.isWell = false
    expect(await wait(next)).toMatchObject({ isChanged: true, ms: 0 })
  })

  it('is not held where one user or all have as many as is allowed', async () => {
    const { clock, holds, wait, marked } = start()
    const mark = await marked()
    const own = Array.from({ length: heldOfUserMax }, () => wait(mark))
    expect(await wait(mark)).toMatchObject({ isChanged: true, ms: 0 })
    const others = Array.from({ length: heldMax - heldOfUserMax }, (_, i) => holds.wait((100 + i) as Uid, mark, 1_000))
    expect(await wait(mark, holdMsMax, eight)).toMatchObject({ isChanged: true, ms: 0 })
    await clock.advance(holdMsMax)
    await Promise.all([...own, ...others])
    const free = wait(mark, 1_000, eight)
    await clock.advance(1_000)
    expect(await free).toMatchObject({ isChanged: false, ms: 1_000 })
  })

  it('remembers so many users at most: then everybody reads again', async () => {
    const { holds, wait, marked } = start()
    const mark = await marked()
    holds.changed(Array.from({ length: 10_001 }, (_, i) => (1_000 + i) as Uid))
    expect(await wait(mark)).toMatchObject({ isChanged: true, ms: 0 })
  })
})
