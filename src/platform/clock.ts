import type { UnixMs } from '../common/time.ts'

/** Time and randomness, passed in so that tests and the simulation can control them. */
export interface Clock {
  now(): UnixMs
  /** Resolves after `ms`; never rejects. */
  sleep(ms: number): Promise<void>
  /** Uniform in [0, 1): for jitter, never for secrets. */
  random(): number
}

/** The clock of the machine. In a Worker the time advances only with I/O. */
export const systemClock: Clock = {
  now: () => Date.now() as UnixMs, // safe: milliseconds since 1970 is what the type means
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
}

/** A unique, unguessable name: a random UUID. */
export const uniqueName = (): string => crypto.randomUUID()
