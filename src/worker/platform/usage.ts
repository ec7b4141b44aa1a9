import type { Clock } from './clock.ts'
import type { LogFields } from './logger.ts'

/** Calls to an external service: their number, and the time during which at least one was running. */
export interface Meter {
  calls: number
  /** In milliseconds. Overlapping calls count once. */
  ms: number
  /** The number of operations that are running, and when the first of them began. */
  open: number
  openedAt: number
}

/** The cost of one invocation so far, for its log line and `Server-Timing`. */
export interface Usage {
  /** HTTP requests to nodes. */
  readonly node: Meter
  /** Statements. */
  readonly database: Meter
  rowsRead: number
  /** Size of the database in bytes by its newest reply; 0 before the first one. */
  databaseBytes: number
}

/** The usage of a new invocation. */
export function createUsage(): Usage {
  const newMeter = (): Meter => ({ calls: 0, ms: 0, open: 0, openedAt: 0 })
  return { node: newMeter(), database: newMeter(), rowsRead: 0, databaseBytes: 0 }
}

/** Runs an operation of `calls` calls, and adds it to the meter even if it fails. */
export async function metered<T>(
  meter: Meter,
  clock: Pick<Clock, 'now'>,
  calls: number,
  operation: () => Promise<T>,
): Promise<T> {
  meter.calls += calls
  if (meter.open === 0) meter.openedAt = clock.now()
  meter.open += 1
  try {
    return await operation()
  } finally {
    meter.open -= 1
    if (meter.open === 0) meter.ms += clock.now() - meter.openedAt
  }
}

/** The usage in the log line of a request or tick. */
export function usageFields({ node, database, rowsRead }: Usage): LogFields {
  return { nodeCalls: node.calls, nodeMs: node.ms, databaseQueries: database.calls, databaseMs: database.ms, rowsRead }
}
