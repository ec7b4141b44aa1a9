import type { UnixMs } from '../common/time.ts'
import type { Clock } from './clock.ts'

/** The machine's own time and chance. Under Workers time stands still between two I/O operations. */
export const systemClock: Clock = {
  now: () => Date.now() as UnixMs, // safe: milliseconds since 1970 is what the type means
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
}
