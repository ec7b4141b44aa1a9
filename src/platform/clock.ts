import type { UnixMs } from '../common/time.ts'

/** Time and chance, passed in so that a test or a simulation can own them. */
export interface Clock {
  now(): UnixMs
  /** Resolves after `ms`; never rejects. */
  sleep(ms: number): Promise<void>
  /** Evenly spread in [0, 1): for jitter and lease names, never for secrets. */
  random(): number
}
