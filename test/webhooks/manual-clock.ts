import type { UnixMs } from '../../src/common/time.ts'
import type { Clock } from '../../src/platform/clock.ts'

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Moves the time forward; pauses end in their order. */
  advance(ms: number): Promise<void>
}

/** A clock at a time of milliseconds since 1970. Its random number is always 0.5. */
export function createManualClock(start: number): ManualClock {
  let now = start
  const sleepers: { readonly at: number; readonly wake: () => void }[] = []
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    now: () => now as UnixMs, // safe: milliseconds since 1970
    random: () => 0.5,
    sleep: (ms) => new Promise((wake) => sleepers.push({ at: now + ms, wake })),
    async advance(ms) {
      const until = now + ms
      for (;;) {
        sleepers.sort((a, b) => a.at - b.at)
        const [next] = sleepers
        if (next === undefined || next.at > until) break
        sleepers.shift()
        now = Math.max(now, next.at)
        next.wake()
        await settle()
      }
      now = until
      await settle()
    },
  }
}
