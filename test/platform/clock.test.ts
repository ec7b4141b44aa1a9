import { expect, it, vi } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'

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
