import { describe, expect, it, vi } from 'vitest'
import { endsWithin, systemClock } from '../../src/worker/platform/clock.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

it('a pause ends at once where it is no longer needed, and leaves no timer', async () => {
  vi.useFakeTimers()
  try {
    const end = new AbortController()
    const pause = systemClock.sleep(10_000, end.signal)
    expect(vi.getTimerCount()).toBe(1)
    end.abort()
    await pause
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

const never = new Promise(() => undefined)

describe('work with a limit of time', () => {
  it.each([
    ['ends well', () => Promise.resolve(1)],
    ['fails', () => Promise.reject(new Error('no'))],
  ])('that %s has ended, and no timer is left', async (_, work) => {
    const clock = createVirtualClock(0)
    expect(await endsWithin(work(), 100, clock)).toBe(true)
    expect(clock.pending()).toBe(0)
  })

  it('that never ends has not ended when the time is over', async () => {
    const clock = createVirtualClock(0)
    const ended = endsWithin(never, 100, clock)
    await clock.advance(99)
    expect(clock.pending()).toBe(1)
    await clock.advance(1)
    expect(await ended).toBe(false)
  })
})
