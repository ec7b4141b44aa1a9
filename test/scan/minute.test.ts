import { describe, expect, it } from 'vitest'
import type { UnixMs } from '../../src/common/time.ts'
import { runMinute, ticksPerMinute } from '../../src/scan/minute.ts'

/** Runs a minute whose n-th tick takes `durations[n]` seconds; returns when ticks began, in seconds, and which was the last. */
async function starts(everySeconds: number, durations: readonly number[] = [], failing: readonly number[] = []) {
  let now = 0
  const began: { readonly at: number; readonly isLast: boolean }[] = []
  let ended = 0
  const clock = {
    now: () => now as UnixMs,
    sleep: async (ms: number) => {
      now += ms
    },
  }
  const tick = async (isLast: boolean) => {
    const n = began.length
    began.push({ at: now / 1000, isLast })
    now += (durations[n] ?? 1) * 1000
    if (failing.includes(n)) throw new Error(`tick ${n} failed`)
  }
  const afterTick = () => {
    ended += 1
  }
  const run = runMinute({ clock, everySeconds, tick, afterTick })
  const error = await run.then(
    () => null,
    (thrown: Error) => thrown.message,
  )
  expect(ended).toBe(began.length)
  expect(began.map(({ isLast }) => isLast)).toEqual(began.map((_, i) => i === began.length - 1))
  return { at: began.map(({ at }) => at), error }
}

describe('the ticks of a minute', () => {
  it.each([
    [10, [0, 10, 20, 30, 40, 50]],
    [20, [0, 20, 40]],
    [45, [0, 45]],
    [60, [0]],
  ])('begin every %i seconds', async (every, at) => {
    expect(await starts(every)).toEqual({ at, error: null })
    expect(ticksPerMinute(every)).toBe(at.length)
  })

  it('do not overlap: one that is late begins at once, and one whose time has passed is left out', async () => {
    expect((await starts(10, [15, 1, 27])).at).toEqual([0, 15, 20, 47, 50])
    expect((await starts(10, [1, 1, 1, 1, 60])).at).toEqual([0, 10, 20, 30, 40, 100])
  })

  it('go on after one that failed, and the first failure is thrown', async () => {
    expect(await starts(20, [], [0, 1])).toEqual({ at: [0, 20, 40], error: 'tick 0 failed' })
  })
})
