import type { UnixMs } from '../../src/worker/common/time.ts'
import type { Clock } from '../../src/worker/platform/clock.ts'

/**
 * A clock that stands still while code runs, and jumps from one event to the next in the order of
 * their times. Each `sleep` ends with such an event.
 */
export interface VirtualClock extends Clock {
  /**
   * Runs `event` in `ms` milliseconds, rounded up as a real clock does. Returns a function that
   * cancels it.
   */
  after(ms: number, event: () => void): () => void
  /** How many events are still to come; each running `sleep` is one. */
  pending(): number
  /**
   * Moves the time forward at once and runs the events that became due, in order. It does not wait
   * for what follows from them.
   */
  jump(ms: number): void
  /**
   * Moves the time back. Events keep their distance from now: they come earlier on the clock than
   * planned.
   */
  stepBack(ms: number): void
  /**
   * Lets `ms` milliseconds pass. Everything that follows from an event is done before the next
   * event.
   */
  advance(ms: number): Promise<void>
  /**
   * Runs events until `done()` returns true, or no event is left. Everything that follows from an
   * event is done before the next event.
   */
  runUntil(done: () => boolean): Promise<void>
}

export interface ClockOptions {
  /** The source of random numbers; without it they are always 0.5. */
  readonly random?: () => number
  /**
   * Resolves when no work can continue until the clock moves, or when `done()` returns true. By
   * default it waits for one turn of the event loop.
   */
  readonly settled?: (done: () => boolean) => Promise<void>
}

const oneTurn = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

/**
 * A clock that begins at `start`, in milliseconds since 1970. Events of the same time run in the
 * order in which they were added.
 */
export function createVirtualClock(start: number, options: ClockOptions = {}): VirtualClock {
  const { random = () => 0.5, settled = oneTurn } = options
  const entries: { time: number; readonly event: () => void }[] = []
  let now = start
  const after = (ms: number, event: () => void) => {
    const entry = { time: now + Math.max(0, Math.ceil(ms)), event }
    entries.splice(entries.findLastIndex(({ time }) => time <= entry.time) + 1, 0, entry)
    return () => {
      const at = entries.indexOf(entry)
      if (at >= 0) entries.splice(at, 1)
    }
  }
  const runNext = (until: number): boolean => {
    const [next] = entries
    if (next === undefined || next.time > until) return false
    entries.shift()
    now = Math.max(now, next.time)
    next.event()
    return true
  }
  return {
    now: () => now as UnixMs, // safe: milliseconds since 1970
    random,
    sleep: (ms, until) =>
      new Promise((resolve) => {
        const cancel = after(ms, resolve)
        until?.addEventListener('abort', () => {
          cancel()
          resolve()
        })
      }),
    after,
    pending: () => entries.length,
    jump(ms) {
      now += ms
      while (runNext(now)) {} // runs each due event, also events whose time `jump` has passed
    },
    stepBack(ms) {
      now -= ms
      for (const entry of entries) entry.time -= ms
    },
    async advance(ms) {
      const end = now + ms
      while (runNext(end)) await settled(() => false)
      now = end
      await settled(() => false)
    },
    async runUntil(done) {
      await settled(done)
      while (!done() && runNext(Number.POSITIVE_INFINITY)) await settled(done)
    },
  }
}
