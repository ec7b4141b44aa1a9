import type { UnixMs } from '../common/time.ts'

/** Time and chance, passed in so that a test or a simulation can own them. */
export interface Clock {
  now(): UnixMs
  /** Resolves after `ms`; never rejects. */
  sleep(ms: number): Promise<void>
  /** Evenly spread in [0, 1): for jitter and lease names, never for secrets. */
  random(): number
}

/** The machine's own time and chance. Under Workers time stands still between two I/O operations. */
export const systemClock: Clock = {
  now: () => Date.now() as UnixMs, // safe: milliseconds since 1970 is what the type means
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
}
