import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'
import { settled } from './event-loop.ts'

/** The virtual clock of a run. */
export interface Scheduler extends VirtualClock {
  /** Resolves after `ms` milliseconds of virtual time. */
  wait(ms: number): Promise<void>
}

/** A scheduler whose time begins at `start`, in milliseconds since 1970. */
export function createScheduler(start: number): Scheduler {
  const clock = createVirtualClock(start, { settled })
  return { ...clock, wait: (ms) => clock.sleep(ms) }
}
