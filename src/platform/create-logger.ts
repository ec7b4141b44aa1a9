import type { Log, LogFields } from './logger.ts'

/**
 * A log that hands one line of JSON for each call to `write`. A line is `{"level", "event" or "alarm", ...fields}`,
 * those two always first, so that one rule finds every alarm: `"level":"error","alarm":`.
 */
export function createLog(write: (line: string) => void): Log {
  const line = (level: 'info' | 'warn' | 'error', name: 'event' | 'alarm', what: string, fields: LogFields) => {
    // The head is spread again so that no field can replace it; a key keeps the place where it first stood.
    const head = { level, [name]: what }
    write(JSON.stringify({ ...head, ...fields, ...head }))
  }
  return {
    info: (event, fields) => line('info', 'event', event, fields),
    warn: (event, fields) => line('warn', 'event', event, fields),
    error: (event, fields) => line('error', 'event', event, fields),
    alarm: (kind, fields) => line('error', 'alarm', kind, fields),
  }
}
