import { beforeEach, describe, expect, it } from 'vitest'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { createSharedRuns, knownMax } from '../../src/worker/platform/shared-runs.ts'

let [now, begun] = [0, 0]
const clock = { now: () => now as UnixMs }
beforeEach(() => {
  now = 1_000
  begun = 0
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
    const runs = createSharedRuns<string>(clock)
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
    const runs = createSharedRuns<string>(clock)
    const results = ['a', 'b', 'a'].map((key) => runs.join(done(key), key).result)
    expect(await Promise.all(results)).toEqual(['a', 'b', 'a'])
    expect(begun).toBe(2)
  })

  it('counts as lost after its time, and its late end does not end the newer one', async () => {
    const runs = createSharedRuns<string>(clock, { lostMs: 100 })
    const [lost, newer] = [work(), work()]
    const old = runs.join(lost.start)
    now += 99
    expect(runs.known()).toBe(old)
    now += 1
    expect(runs.known()).toBeNull()
    const run = runs.join(newer.start)
    lost.resolve('late')
    await old.result
    expect(runs.known()).toBe(run)
  })

  it('answers for its time from its start where its result is kept, and no longer', async () => {
    const runs = createSharedRuns<string>(clock, { keptMs: 100, isKept: (text) => text !== 'bad' })
    await runs.join(done('good'), 'a').result
    await runs.join(done('bad'), 'b').result
    now += 99
    expect(await Promise.all(['a', 'b'].map((key) => runs.join(done('new'), key).result))).toEqual(['good', 'new'])
    now += 1
    expect(await runs.join(done('new'), 'a').result).toBe('new')
  })

  it('is shared until it ends, also past the time for which its result is kept', async () => {
    const runs = createSharedRuns<string>(clock, { keptMs: 100, lostMs: 500 })
    const slow = work()
    const first = runs.join(slow.start)
    now += 499
    expect(runs.join(work().start)).toBe(first)
    slow.resolve('late')
    await first.result
    expect(runs.known()).toBeNull()
  })

  it('is forgotten where too many are known', async () => {
    const runs = createSharedRuns<string>(clock, { keptMs: 100 })
    for (let i = 0; i < knownMax; i += 1) await runs.join(done('old'), `${i}`).result
    expect(runs.known('0')).not.toBeNull()
    await runs.join(done('new'), 'another').result
    expect(runs.known('0')).toBeNull()
    expect(runs.known('another')).not.toBeNull()
  })
})
