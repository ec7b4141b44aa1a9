import type { UnixMs } from '../common/time.ts'
import type { Clock } from './clock.ts'
import type { AlarmKind, LogFields, Logger } from './logger.ts'

/** Alarms about states that last: each is raised once until it is cleared, by whichever isolate. No method throws. */
export interface Alarms {
  /** Raises an alarm, unless the same one of the same subject is raised already. */
  raise(kind: AlarmKind, subject: string, fields: LogFields): Promise<void>
  /** The subject is well again: the alarm can be raised anew. */
  clear(kind: AlarmKind, subject: string): Promise<void>
}

/** The alarms that are raised. Every method throws where the database cannot be reached. */
export interface AlarmStore {
  has(kind: AlarmKind, subject: string): Promise<boolean>
  /** Adding one that is there changes nothing. */
  add(kind: AlarmKind, subject: string, at: UnixMs): Promise<void>
  /** Removing one that is not there changes nothing. */
  remove(kind: AlarmKind, subject: string): Promise<void>
}

/** What alarms need. */
export interface AlarmParts {
  readonly store: AlarmStore
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Pick<Logger, 'alarm'>
}

/**
 * Alarms that all isolates of a database share. Where it cannot be reached, an isolate knows only its own. The line is
 * written before the row, so that an isolate that ends in between repeats an alarm and loses none.
 */
export function createAlarms({ store, clock, logger }: AlarmParts): Alarms {
  /** What this isolate has seen raised: false where the row could not be stored. */
  const known = new Map<string, boolean>()
  const keyOf = (kind: AlarmKind, subject: string) => `${kind} ${subject}`
  return {
    async raise(kind, subject, fields) {
      const key = keyOf(kind, subject)
      const has = await orNull(store.has(kind, subject))
      // A row that was stored and is gone was removed by an isolate that saw the subject well.
      const isRaised = has ?? known.has(key)
      if (!isRaised && known.get(key) !== false) logger.alarm(kind, fields)
      if (has === null) known.set(key, known.get(key) ?? false)
      else if (has) known.set(key, true)
      else known.set(key, (await orNull(store.add(kind, subject, clock.now()).then(() => true))) !== null)
    },
    async clear(kind, subject) {
      known.delete(keyOf(kind, subject))
      await orNull(store.remove(kind, subject)) // what cannot be removed now is removed by a later tick that is well
    },
  }
}

/** The result, or null where the database cannot be reached. */
async function orNull<T>(result: Promise<T>): Promise<T | null> {
  try {
    return await result
  } catch {
    return null
  }
}
