import { beforeEach, describe, expect, it } from 'vitest'
import { isDatabaseAway } from '../../src/worker/d1/away.ts'
import { createSharedRuns, knownMax, sharedReadMs, sharedReads } from '../../src/worker/platform/shared-runs.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

let begun = 0
let clock = createVirtualClock(1_000)
const lostMs = 500
beforeEach(() => {
  begun = 0
  clock = createVirtualClock(1_000)
})
/** Work that ends when the test says so: with a result, or with an error. */
function work() {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const start = () => {
    begun += 1
    return promise
  }
  return { start, resolve, reject }
}
const done = (text: string) => async () => {
  begun += 1
  return text
}

describe('a run for all who wait', () => {
  it('is one while it runs, and another one after it, whether it went well or not', async () => {
    const runs = createSharedRuns<string>({ clock }, { lostMs })
    const [first, second] = [work(), work()]
    const both = [runs.join(first.start).result, runs.join(second.start).result]
    expect(begun).toBe(1)
    first.resolve('first')
    expect(await Promise.all(both)).toEqual(['first', 'first'])
    expect(runs.known()).toBeNull()
    const third = runs.join(second.start).result
    second.reject(new Error('no'))
    await expect(third).rejects.toThrow('no')
    expect(runs.known()).toBeNull()
    expect(begun).toBe(2)
  })

  it('is one for each key', async () => {
    const runs = createSharedRuns<string>({ clock }, { lostMs })
    const results = ['a', 'b', 'a'].map((key) => runs.join(done(key), key).result)
    expect(await Promise.all(results)).toEqual(['a', 'b', 'a'])
    expect(begun).toBe(2)
  })

  it('counts as lost after its time, and its late end does not end the newer one', async () => {
    const runs = createSharedRuns<string>({ clock }, { lostMs: 100 })
    const [lost, newer] = [work(), work()]
    const old = runs.join(lost.start)
    clock.jump(99)
    expect(runs.known()).toBe(old)
    clock.jump(1)
    expect(runs.known()).toBeNull()
    const run = runs.join(newer.start)
    lost.resolve('late')
    await old.result
    expect(runs.known()).toBe(run)
  })

  it('answers for its time from its start where its result is kept, and no longer', async () => {
    const runs = createSharedRuns<string>(
      { clock },
      { lostMs, keptMs: (end) => (end.ok && end.value !== 'bad' ? 100 : 0) },
    )
    await runs.join(done('good'), 'a').result
    await runs.join(done('bad'), 'b').result
    clock.jump(99)
    expect(await Promise.all(['a', 'b'].map((key) => runs.join(done('new'), key).result))).toEqual(['good', 'new'])
    clock.jump(1)
    expect(await runs.join(done('new'), 'a').result).toBe('new')
  })

  it('is shared until it ends, also past the time for which its result is kept', async () => {
    const runs = createSharedRuns<string>({ clock }, { lostMs, keptMs: () => 100 })
    const slow = work()
    const first = runs.join(slow.start)
    clock.jump(499)
    expect(runs.join(work().start)).toBe(first)
    slow.resolve('late')
    await first.result
    expect(runs.known()).toBeNull()
  })

  it('is shared after its failure, too, where its limits are those of a read, and continues after its request', async () => {
    const continued: Promise<unknown>[] = []
    const runs = createSharedRuns<string>({ clock, waitUntil: (one) => void continued.push(one) }, sharedReads)
    const failing = async (): Promise<string> => {
      begun += 1
      throw new Error('no')
    }
    await expect(runs.wait(failing)).rejects.toThrow('no')
    clock.jump(sharedReadMs - 1)
    await expect(runs.wait(done('new'))).rejects.toThrow('no')
    clock.jump(1)
    expect(await runs.wait(done('new'))).toBe('new')
    expect([begun, continued.length]).toEqual([2, 2])
    await Promise.all(continued) // none of them rejects
  })

  it('is forgotten where too many are known', async () => {
    const runs = createSharedRuns<string>({ clock }, { lostMs, keptMs: () => 100 })
    for (let i = 0; i < knownMax; i += 1) await runs.join(done('old'), `${i}`).result
    expect(runs.known('0')).not.toBeNull()
    await runs.join(done('new'), 'another').result
    expect(runs.known('0')).toBeNull()
    expect(runs.known('another')).not.toBeNull()
  })
})

describe('whoever waits for a run', () => {
  const never = () => {
    begun += 1
    return new Promise<never>(() => undefined)
  }

  it('gets its result, and leaves no timer', async () => {
    const runs = createSharedRuns<string>({ clock }, { lostMs })
    expect(await Promise.all([runs.wait(done('one')), runs.wait(done('two'))])).toEqual(['one', 'one'])
    const failing = () => Promise.reject(new Error('no'))
    await expect(runs.wait(failing)).rejects.toThrow('no')
    expect([begun, clock.pending()]).toEqual([1, 0])
  })

  it('gets that of one new run once it is lost, whenever they came', async () => {
    const runs = createSharedRuns<string>({ clock }, { lostMs })
    const second = work()
    const hangsOnce = () => (begun === 0 ? never() : second.start())
    const first = runs.wait(hangsOnce)
    await clock.advance(400)
    const all = [first, ...Array.from({ length: 20 }, () => runs.wait(hangsOnce))]
    await clock.advance(99)
    expect(begun).toBe(1)
    await clock.advance(1)
    second.resolve('new')
    expect(await Promise.all(all)).toEqual(all.map(() => 'new'))
    expect([begun, clock.pending()]).toEqual([2, 0])
  })

  it('fails as the database being away if the second run is lost, too, and nobody waits for longer', async () => {
    const runs = createSharedRuns<string>({ clock }, { lostMs })
    const first = runs.wait(never).catch(isDatabaseAway)
    await clock.advance(300)
    const second = runs.wait(never).catch(isDatabaseAway)
    await clock.advance(700)
    expect([await first, await second, begun, clock.pending()]).toEqual([true, true, 2, 0])
  })

  it('waits for an end also if the clock does not move', async () => {
    const still = { now: () => clock.now(), sleep: () => Promise.resolve() }
    const runs = createSharedRuns<string>({ clock: still }, { lostMs })
    expect(await runs.wait(never).catch(isDatabaseAway)).toBe(true)
    expect(begun).toBe(2)
  })
})
