import type { Clock } from './clock.ts'

/** Trips to one outside party: how many, and for how long at least one was under way. */
export interface Meter {
  calls: number
  /** Milliseconds; trips at the same time count once. */
  ms: number
  /** Trips under way now, and when the first of them began. */
  open: number
  openedAt: number
}

/** What one invocation has cost so far. Whoever makes a trip adds to it; the log line and `Server-Timing` tell it. */
export interface Usage {
  /** HTTP requests to nodes. */
  readonly node: Meter
  /** Statements. */
  readonly database: Meter
  rowsRead: number
}

/** The usage of an invocation that has done nothing yet. */
export function createUsage(): Usage {
  return { node: createMeter(), database: createMeter(), rowsRead: 0 }
}

/** Makes a trip of so many calls and adds it to the meter, whether it succeeds or not. */
export async function metered<T>(
  meter: Meter,
  clock: Pick<Clock, 'now'>,
  calls: number,
  trip: () => Promise<T>,
): Promise<T> {
  meter.calls += calls
  if (meter.open === 0) meter.openedAt = clock.now()
  meter.open += 1
  try {
    return await trip()
  } finally {
    meter.open -= 1
    if (meter.open === 0) meter.ms += clock.now() - meter.openedAt
  }
}

function createMeter(): Meter {
  return { calls: 0, ms: 0, open: 0, openedAt: 0 }
}
