import type { Clock } from './clock.ts'
import type { LogFields } from './logger.ts'

/**
 * Counts the calls to one external service, and the time during which at least one of them was
 * running.
 */
export interface Meter {
  calls: number
  /**
   * Milliseconds in which at least one call was running. Calls that are still running are not
   * included.
   */
  ms: number
  /** How many operations are running now. */
  open: number
  /** When the first of the running operations began. */
  openedAt: number
}

/**
 * The cost of one request, call or tick so far, for its log line and the header `Server-Timing`.
 */
export interface Usage {
  /** HTTP requests to nodes. */
  readonly node: Meter
  /** Statements of the database. */
  readonly database: Meter
  rowsRead: number
  /**
   * The size of the database in bytes, as its newest reply has told it; 0 before the first reply.
   */
  databaseBytes: number
}

/** Makes the usage of a request, call or tick that begins now: all zeros. */
export function createUsage(): Usage {
  const newMeter = (): Meter => ({ calls: 0, ms: 0, open: 0, openedAt: 0 })
  return { node: newMeter(), database: newMeter(), rowsRead: 0, databaseBytes: 0 }
}

/**
 * Runs an operation, and adds it to the meter as `calls` calls (a batch has several), even if it
 * fails.
 */
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

/**
 * Returns the usage as fields of a log line: calls and milliseconds of nodes and of the database,
 * and the rows read.
 */
export function usageFields({ node, database, rowsRead }: Usage): LogFields {
  return { nodeCalls: node.calls, nodeMs: node.ms, databaseQueries: database.calls, databaseMs: database.ms, rowsRead }
}
