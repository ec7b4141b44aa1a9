import type { Clock } from './clock.ts'
import type { Meter, Usage } from './usage.ts'

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
