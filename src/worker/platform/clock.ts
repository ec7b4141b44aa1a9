import type { UnixMs } from '../common/time.ts'

/** Time and randomness, passed in so that tests and the simulation can control them. */
export interface Clock {
  now(): UnixMs
  /** Resolves after `ms`, or once `until` is aborted; never rejects. */
  sleep(ms: number, until?: AbortSignal): Promise<void>
  /** Uniform in [0, 1): for jitter, never for secrets. */
  random(): number
}

/** The clock of the machine. In a Worker the time advances only with I/O. */
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

/** A unique, unguessable name: a random UUID. */
export const uniqueName = (): string => crypto.randomUUID()

/** Whether `work` settles in time, successfully or not. The timer is ended. */
export async function endsWithin(work: Promise<unknown>, ms: number, clock: Pick<Clock, 'sleep'>): Promise<boolean> {
  const end = new AbortController()
  const over = () => true
  const late = clock.sleep(Math.max(0, ms), end.signal).then(() => false)
  const isOver = await Promise.race([work.then(over, over), late])
  end.abort(null) // the timer
  return isOver
}
