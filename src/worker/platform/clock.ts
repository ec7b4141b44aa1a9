import type { UnixMs } from '../common/time.ts'

/** Time and randomness. They are passed in, so that tests and the simulation can control them. */
export interface Clock {
  now(): UnixMs
  /** Resolves after `ms` milliseconds, or once `until` is aborted. Never rejects. */
  sleep(ms: number, until?: AbortSignal): Promise<void>
  /**
   * A random number from 0 up to but not including 1. It is for spreading retries in time, never
   * for secrets.
   */
  random(): number
}

/**
 * The clock of the platform. In a Worker, `now` advances only when I/O has happened, so it cannot
 * measure computation.
 */
export const systemClock: Clock = {
  now: () => Date.now() as UnixMs, // safe: milliseconds since 1970 is what the type means
  sleep: (ms, until) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      until?.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    }),
  random: () => Math.random(),
}

/** Returns a random UUID, which is unique and cannot be guessed. */
export const uniqueName = (): string => crypto.randomUUID()

/**
 * Waits for `work` for at most `ms`. True if it has settled by then, whether it resolved or
 * rejected; the caller awaits `work` for its result.
 */
export async function endsWithin(work: Promise<unknown>, ms: number, clock: Pick<Clock, 'sleep'>): Promise<boolean> {
  const end = new AbortController()
  const over = () => true
  const late = clock.sleep(Math.max(0, ms), end.signal).then(() => false)
  const isOver = await Promise.race([work.then(over, over), late])
  end.abort(null) // ends the timer of `sleep`
  return isOver
}
