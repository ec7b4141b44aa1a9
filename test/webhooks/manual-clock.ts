import type { UnixMs } from '../../src/common/time.ts'
import type { Clock } from '../../src/platform/clock.ts'

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Moves the time forward; pauses end in their order. */
  advance(ms: number): Promise<void>
  /** How many pauses are under way. */
  pauses(): number
  /** Ends all pauses of more than a millisecond that are under way a millisecond too early, as a rounded timer does. */
  wakeEarly(): void
}

/** A clock at a time of milliseconds since 1970. Its random number is always 0.5. */
export function createManualClock(start: number): ManualClock {
  let now = start
  const sleepers: { at: number; readonly wake: () => void }[] = []
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    now: () => now as UnixMs, // safe: milliseconds since 1970
    random: () => 0.5,
    sleep: (ms, until) =>
      new Promise((wake) => {
        const sleeper = { at: now + ms, wake }
        sleepers.push(sleeper)
        until?.addEventListener('abort', () => {
          sleepers.splice(0, sleepers.length, ...sleepers.filter((one) => one !== sleeper))
          wake()
        })
      }),
    pauses: () => sleepers.length,
    wakeEarly() {
      for (const sleeper of sleepers) if (sleeper.at > now + 1) sleeper.at -= 1
    },
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
