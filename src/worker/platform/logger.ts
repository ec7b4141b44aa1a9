import { type AlarmKind, alarmTable } from './alarm-table.ts'

/** The fields of a log line. They never contain a token, a key, the URL of a node, a list of addresses or a body. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>

/** Longest stack in a log line, in characters. */
export const stackCharsMax = 2000

/** The stack of a thrown value, as text for a log line. */
export function stackOf(thrown: unknown): string {
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  return text.slice(0, stackCharsMax)
}

/** The log of the service: one structured line for each call. */
export interface Logger {
  info(event: string, fields: LogFields): void
  warn(event: string, fields: LogFields): void
  error(event: string, fields: LogFields): void
  alarm(kind: AlarmKind, fields: LogFields): void
}

/**
 * A logger that passes one line of JSON for each call to `write`: `{"level", "event" or "alarm", ...fields}`. The first
 * two members are always first, so that `"level":"error","alarm":` matches every alarm. An alarm's `urgency` comes last.
 */
export function createLogger(write: (line: string) => void): Logger {
  const line = (
    level: 'info' | 'warn' | 'error',
    key: 'event' | 'alarm',
    name: string,
    fields: LogFields,
    last = {},
  ) => {
    // The head is spread twice: the first time fixes the order of the members, the last time keeps a field from replacing them.
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
