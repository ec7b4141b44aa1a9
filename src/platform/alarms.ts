import type { AlarmKind, LogFields, Logger } from './logger.ts'

/** Alarms about states that last: each is raised once until it is cleared. */
export interface Alarms {
  /** Raises an alarm, unless the same one of the same subject is raised already. */
  raise(kind: AlarmKind, subject: string, fields: LogFields): void
  /** The subject is well again: the alarm can be raised anew. */
  clear(kind: AlarmKind, subject: string): void
}

/** Alarms in the memory of one isolate: another isolate raises them again. */
export function createAlarms(logger: Pick<Logger, 'alarm'>): Alarms {
  const raised = new Set<string>()
  const keyOf = (kind: AlarmKind, subject: string) => `${kind} ${subject}`
  return {
    raise(kind, subject, fields) {
      if (raised.has(keyOf(kind, subject))) return
      raised.add(keyOf(kind, subject))
      logger.alarm(kind, fields)
    },
    clear(kind, subject) {
      raised.delete(keyOf(kind, subject))
    },
  }
}
