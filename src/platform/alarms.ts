import type { UnixMs } from '../common/time.ts'
import type { Clock } from './clock.ts'
import type { AlarmKind, LogFields, Logger } from './logger.ts'

/** A fault whose end cannot be observed counts as ended once no isolate has observed it for this long. */
export const wellAfterMs = 3_600_000
/** An isolate stores at most this often that it still observes such a fault: more often than `wellAfterMs`. */
const seenEveryMs = 600_000
/** Alarms that an isolate keeps in memory. With more of them the memory is cleared. */
const knownMax = 200

/** The kinds of which only the fault can be observed, never its end. */
const seenKinds: ReadonlySet<AlarmKind> = new Set(['nodes-disagree', 'node-lies'])

/**
 * Alarms about states that last: each is raised once until it is cleared, by whichever isolate. One about a single transfer is
 * never cleared. No method throws.
 */
export interface Alarms {
  /** Raises an alarm, unless the same one of the same subject is raised already. */
  raise(kind: AlarmKind, subject: string, fields: LogFields): Promise<void>
  /** The subject is well again: the alarm can be raised anew. */
  clear(kind: AlarmKind, subject: string): Promise<void>
  /** Every subject of these kinds is well again, and so is every fault that was not observed for `wellAfterMs`. */
  clearWell(kinds: readonly AlarmKind[]): Promise<void>
}

/** The alarms that are raised. Every method throws where the database cannot be reached. */
export interface AlarmStore {
  has(kind: AlarmKind, subject: string): Promise<boolean>
  /** Of one that is there it stores the time. */
  add(kind: AlarmKind, subject: string, at: UnixMs): Promise<void>
  /** Removing one that is not there changes nothing. */
  remove(kind: AlarmKind, subject: string): Promise<void>
  /** Removes those of `kinds`, and those of `seen` that were added last before `unseenSince`. */
  removeWell(kinds: readonly AlarmKind[], seen: readonly AlarmKind[], unseenSince: UnixMs): Promise<void>
}

/** What alarms need. */
export interface AlarmParts {
  readonly store: AlarmStore
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Pick<Logger, 'alarm'>
}

/** For commands, which print what they find. */
export const noAlarms: Pick<Alarms, 'raise'> = { raise: () => Promise.resolve() }

/** A raised alarm that this isolate knows of. */
interface KnownAlarm {
  /** False where the row could not be stored. */
  readonly isStored: boolean
  readonly at: number
}

/**
 * Alarms that all isolates of a database share. Where it cannot be reached, an isolate knows only its own. The line is
 * written before the row, so that an isolate that ends in between repeats an alarm and loses none.
 */
export function createAlarms({ store, clock, logger }: AlarmParts): Alarms {
  const known = new Map<string, KnownAlarm>()
  const keyOf = (kind: AlarmKind, subject: string) => `${kind} ${subject}`
  /** Whether the row of an alarm is stored; `has` is what the database answered before, null where it did not. */
  const keepRow = async (kind: AlarmKind, subject: string, has: boolean | null, before: KnownAlarm | undefined) => {
    if (has === null) return before?.isStored === true
    if (has && !seenKinds.has(kind)) return true
    return (await orNull(store.add(kind, subject, clock.now()).then(() => true))) !== null
  }
  return {
    async raise(kind, subject, fields) {
      const key = keyOf(kind, subject)
      const at = clock.now()
      const isSeen = seenKinds.has(kind)
      const last = known.get(key)
      const before = isSeen && at - (last?.at ?? at) >= wellAfterMs ? undefined : last
      if (isSeen && before !== undefined && at - before.at < seenEveryMs) return
      const has = await orNull(store.has(kind, subject))
      // A row that was stored and is gone was removed by an isolate for which the subject was well.
      const isRaised = has ?? before !== undefined
      if (!isRaised && before?.isStored !== false) logger.alarm(kind, fields)
      const isStored = await keepRow(kind, subject, has, before)
      if (known.size >= knownMax) known.clear()
      known.set(key, { isStored, at })
    },
    async clear(kind, subject) {
      known.delete(keyOf(kind, subject))
      await orNull(store.remove(kind, subject)) // what cannot be removed now is removed by a later tick that is well
    },
    async clearWell(kinds) {
      for (const key of known.keys()) if (kinds.some((kind) => key.startsWith(`${kind} `))) known.delete(key)
      const unseenSince = (clock.now() - wellAfterMs) as UnixMs // safe: an earlier time
      await orNull(store.removeWell(kinds, [...seenKinds], unseenSince))
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
