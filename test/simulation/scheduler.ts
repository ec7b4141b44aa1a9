import { settled } from './event-loop.ts'

/** Virtual time: events run in the order of their times, and time passes only from one event to the next. */
export interface Scheduler {
  /** Milliseconds since 1970. */
  now(): number
  /** Runs `event` after `ms` milliseconds, rounded up to a whole number as a real clock does. */
  after(ms: number, event: () => void): void
  /** Resolves after `ms` milliseconds. */
  wait(ms: number): Promise<void>
  /** Runs events until `done`, or until none is left. All effects of an event are complete before the next one. */
  runUntil(done: () => boolean): Promise<void>
}

/** A scheduler whose time begins at `start`. Of two events at one time, the one that was added first runs first. */
export function createScheduler(start: number): Scheduler {
  const entries: { readonly time: number; readonly event: () => void }[] = []
  let now = start
  const after = (ms: number, event: () => void) => {
    const time = now + Math.max(0, Math.ceil(ms))
    entries.splice(entries.findLastIndex((entry) => entry.time <= time) + 1, 0, { time, event })
  }
  return {
    now: () => now,
    after,
    wait: (ms) => new Promise((resolve) => after(ms, resolve)),
    async runUntil(done) {
      await settled()
      while (!done()) {
        const entry = entries.shift()
        if (entry === undefined) return
        now = entry.time
        entry.event()
        await settled()
      }
    },
  }
}
