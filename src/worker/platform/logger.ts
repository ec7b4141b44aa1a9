import { type AlarmKind, alarmTable } from './alarm-table.ts'

/**
 * The fields of a log line. They never contain a token, a key, the URL of a node, a list of
 * addresses or a body.
 */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>

/** Longest text that `stackOf` returns, in characters. */
export const stackCharsMax = 2000

/**
 * Returns the stack of a thrown value, or the value as text, for a log line. It is for operators: a
 * caller must never see it.
 */
export function stackOf(thrown: unknown): string {
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  return text.slice(0, stackCharsMax)
}

/**
 * The log of the service. Each call writes one line of JSON; `event` and `kind` name what happened.
 */
export interface Logger {
  info(event: string, fields: LogFields): void
  warn(event: string, fields: LogFields): void
  error(event: string, fields: LogFields): void
  alarm(kind: AlarmKind, fields: LogFields): void
}

/**
 * Makes a logger that passes each line, one JSON object, to `write`. The line of an alarm begins
 * with `{"level":"error","alarm":` and the kind, so that a filter of lines can match every alarm;
 * any other line begins with `level` and `event`. Then come the fields, and last an alarm's
 * `urgency`.
 */
export function createLogger(write: (line: string) => void): Logger {
  const line = (
    level: 'info' | 'warn' | 'error',
    key: 'event' | 'alarm',
    name: string,
    fields: LogFields,
    last = {},
  ) => {
    // The head is spread twice: first so that its members come first, and again so that no field
    // with the same name replaces them.
    const head = { level, [key]: name }
    write(JSON.stringify({ ...head, ...fields, ...head, ...last }))
  }
  return {
    info: (event, fields) => line('info', 'event', event, fields),
    warn: (event, fields) => line('warn', 'event', event, fields),
    error: (event, fields) => line('error', 'event', event, fields),
    alarm: (kind, fields) => line('error', 'alarm', kind, fields, { urgency: alarmTable[kind].urgency }),
  }
}
