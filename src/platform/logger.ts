/** Values that may stand in a log line. Never a token, key, node URL, address list or body. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>

/** What a person must see. One fixed form, so that one alert rule finds them all. */
export type AlarmKind =
  | 'nodes-disagree'
  | 'chain-forked'
  | 'finality-stalled'
  | 'node-lies'
  | 'deposit-too-large'
  | 'decimals-differ'
  | 'reconciliation-shortfall'
  | 'reconciliation-surplus'
  | 'misconfigured'

/** One structured line for each call. */
export interface Logger {
  info(event: string, fields: LogFields): void
  warn(event: string, fields: LogFields): void
  error(event: string, fields: LogFields): void
  alarm(kind: AlarmKind, fields: LogFields): void
}

/**
 * A log that hands one line of JSON for each call to `write`. A line is `{"level", "event" or "alarm", ...fields}`,
 * those two always first, so that one rule finds every alarm: `"level":"error","alarm":`.
 */
export function createLogger(write: (line: string) => void): Logger {
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
