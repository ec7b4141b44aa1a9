import type { UnixMs } from '../../src/worker/common/time.ts'
import type { Clock } from '../../src/worker/platform/clock.ts'

/** Time that passes only from one event to the next, in the order of their times. A pause ends with such an event. */
export interface VirtualClock extends Clock {
  /** Runs `event` after `ms` milliseconds, rounded up to a whole number as a real clock does. The result takes it back. */
  after(ms: number, event: () => void): () => void
  /** How many events are to come, pauses among them. */
  pending(): number
  /** Moves the time forward at once; what became due runs in its order, and its effects come later. */
  jump(ms: number): void
  /** The clock steps back. What is to come comes after the time that it has left. */
  stepBack(ms: number): void
  /** Lets `ms` milliseconds pass. All effects of an event are complete before the next one. */
  advance(ms: number): Promise<void>
  /** Runs events until `done`, or until none is left. All effects of an event are complete before the next one. */
  runUntil(done: () => boolean): Promise<void>
}

/** What a clock does beside keeping the time. */
export interface ClockOptions {
  /** Always 0.5 where it is not given. */
  readonly random?: () => number
  /** Resolves when nothing is left that can go on without the passing of time, or `done`. A turn of the event loop if it is not given. */
  readonly settled?: (done: () => boolean) => Promise<void>
}

const oneTurn = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

/** A clock whose time begins at `start`, in milliseconds since 1970. Of two events at one time, the one that was added first runs first. */
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
    now: () => now as UnixMs, // milliseconds since 1970
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
      while (runNext(now)) {} // each event is at its time or late
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
