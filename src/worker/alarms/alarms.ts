import { and, eq, sql } from 'drizzle-orm'
import type { UnixMs } from '../common/time.ts'
import { columnName, openTables, toStatement, type WriteDatabase } from '../d1/database.ts'
import { alarmRows } from '../d1/state-tables.ts'
import { type AlarmKind, type AlarmSubject, type AlarmSubjects, unobservedKinds } from '../platform/alarm-table.ts'
import { type Clock, endsWithin } from '../platform/clock.ts'
import type { LogFields, Logger } from '../platform/logger.ts'
import type { Fault, Observation } from '../platform/observation.ts'

/**
 * A scan, or the finalized height, that has not moved for this long raises an alarm, and the scan
 * counts as `stopped`.
 */
export const standstillMs = 180_000
/**
 * A fault of a kind whose end cannot be observed (`unobservedKinds`) counts as ended once it was
 * not observed for this long.
 */
export const wellAfterMs = 3_600_000
/**
 * How often the row of a fault whose end cannot be observed gets the time of its newest
 * observation: at most once in this time. This time must be shorter than `wellAfterMs`, or the
 * fault would seem to have ended.
 */
const storedEveryMs = 600_000
/** Most faults in memory. When the memory is full, it is cleared; the rows in the database stay. */
const knownMax = 200
/**
 * Time limit for the database. An alarm about a database that does not answer must not wait for
 * that database.
 */
const answerMs = 5_000

/**
 * Alarms about lasting faults. Each is raised once until it ends, even if several isolates and
 * objects observe the fault. No method throws.
 */
export interface Alarms {
  /** Raises an alarm, unless it is already raised for this subject. `afterMs`: see `Fault`. */
  raise<Kind extends AlarmKind>(
    kind: Kind,
    subject: AlarmSubjects[Kind],
    fields: LogFields,
    afterMs?: number,
  ): Promise<void>
  /**
   * Ends an alarm, so that it can be raised again. False if the database could not be reached, so
   * that the alarm is still stored.
   */
  clear<Kind extends AlarmKind>(kind: Kind, subject: AlarmSubjects[Kind]): Promise<boolean>
  /**
   * Raises the faults of all observations, and ends all other alarms of their kinds. Also ends
   * alarms whose end cannot be observed and that were not seen for `wellAfterMs`. One statement if
   * nothing has changed.
   */
  observe(observations: readonly Observation[]): Promise<void>
}

export interface AlarmParts {
  readonly db: WriteDatabase
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly logger: Pick<Logger, 'alarm'>
}

/**
 * A fault in memory, with the times of its first and its newest observation (`firstAt`, `at`).
 * `isStored` is false if its row could not be stored; `isRaised` is false while the fault has not
 * lasted for its `afterMs`.
 */
interface KnownAlarm {
  readonly isStored: boolean
  readonly isRaised: boolean
  readonly firstAt: UnixMs
  readonly at: UnixMs
}

/**
 * Makes alarms whose state is in the database, where all isolates and objects find it. While the
 * database cannot be reached, they know only the faults in their own memory. The log line is
 * written before the row, so a crash in between repeats an alarm and never loses one.
 */
export function createAlarms({ db, clock, logger }: AlarmParts): Alarms {
  const known = new Map<string, KnownAlarm>()
  /** Returns the result of `work`; null if `work` fails or takes longer than `answerMs`. */
  const orNull = async <T>(work: () => Promise<T>): Promise<T | null> => {
    let result: T | null = null
    const over = async () => {
      result = await work()
    }
    await endsWithin(over(), answerMs, clock)
    return result
  }
  const recall = ({ key, kind }: Noted) => {
    const last = known.get(key)
    const isOld = last !== undefined && unobservedKinds.has(kind) && clock.now() - last.at >= wellAfterMs
    return isOld ? undefined : last
  }
  /**
   * Logs the faults that become alarms now, and stores what has changed. `stored` has the rows of
   * faults; it is null if the database did not answer.
   */
  const note = async (faults: readonly Noted[], stored: StoredAlarms | null) => {
    const now = clock.now()
    const judged = faults.map((fault) => {
      const last = recall(fault)
      const row = stored?.get(fault.key)
      const firstAt = row === undefined ? (last?.firstAt ?? now) : row.isRaised ? now : row.seenAt
      const wasRaised = stored === null ? last?.isRaised === true : row?.isRaised === true
      return { ...fault, last, firstAt, wasRaised, isRaised: wasRaised || now - firstAt >= (fault.afterMs ?? 0) }
    })
    for (const { kind, fields, last, wasRaised, isRaised } of judged) {
      // An alarm whose row could not be stored is not logged twice. One whose row was stored and is
      // gone had ended, so it is logged again.
      const isLogged = last?.isRaised === true && !last.isStored
      if (isRaised && !wasRaised && !isLogged) logger.alarm(kind, fields)
    }
    const changed = stored === null ? [] : judged.filter((one) => isToStore(one, stored.get(one.key), now))
    const isWritten = changed.length === 0 || (await orNull(() => upsert(db, changed, now).run())) !== null
    for (const fault of judged) {
      const { key, last, firstAt, isRaised } = fault
      const isStored = stored === null ? last?.isStored === true : isWritten || !changed.includes(fault)
      if (known.size >= knownMax) known.clear()
      known.set(key, { isStored, isRaised, firstAt, at: now })
    }
  }
  return {
    async clear(kind, subject) {
      const ended = noted({ kind, subject })
      known.delete(ended.key)
      return (await orNull(() => remove(db, [ended]).run())) !== null
    },
    async raise(kind, subject, fields, afterMs = 0) {
      const fault = { ...noted({ kind, subject }), fields, afterMs }
      const last = recall(fault)
      const isKnown = last?.isRaised === true && last.isStored
      if (isKnown && unobservedKinds.has(kind) && clock.now() - last.at < storedEveryMs) return
      await note([fault], await orNull(() => selectAlarms(db, fault)))
    },
    async observe(observations) {
      const kinds = new Set(observations.flatMap((one) => one.kinds))
      const faults = observations.flatMap((one) => one.faults.map((fault) => ({ ...fault, ...noted(fault) })))
      const stored = await orNull(() => selectAlarms(db))
      await note(faults, stored)
      const isFault = new Set(faults.map(({ key }) => key))
      const unseen = clock.now() - wellAfterMs
      const ended = [...(stored?.values() ?? [])].filter(
        ({ key, kind, seenAt }) =>
          !isFault.has(key) && (kinds.has(kind) || (unobservedKinds.has(kind) && seenAt < unseen)),
      )
      for (const key of known.keys()) if (!isFault.has(key) && kinds.has(kindIn(key))) known.delete(key)
      for (const { key } of ended) known.delete(key)
      if (ended.length > 0) await orNull(() => remove(db, ended).run())
    },
  }
}

/**
 * Whether the row of a fault must be written: the fault is new or becomes an alarm now, or its time
 * in the row is older than `storedEveryMs`.
 */
function isToStore({ kind, isRaised }: Judged, row: StoredAlarm | undefined, now: UnixMs): boolean {
  if (row === undefined || row.isRaised !== isRaised) return true
  return isRaised && unobservedKinds.has(kind) && now - row.seenAt >= storedEveryMs
}

/**
 * `text` is the subject as stored JSON, with its members in alphabetical order, so that equal
 * subjects have equal texts. `key` is the kind and the text.
 */
interface Alarm {
  readonly kind: AlarmKind
  readonly text: string
  readonly key: string
}
type Noted = Alarm & Pick<Fault, 'fields' | 'afterMs'>
type Judged = Alarm & { readonly isRaised: boolean }
type StoredAlarm = Judged & { readonly seenAt: UnixMs }
type StoredAlarms = ReadonlyMap<string, StoredAlarm>

function noted({ kind, subject }: { readonly kind: AlarmKind; readonly subject: AlarmSubject }): Alarm {
  const text = JSON.stringify(Object.fromEntries(Object.entries(subject).sort(([a], [b]) => (a < b ? -1 : 1))))
  return { kind, text, key: keyOf(kind, text) }
}

const keyOf = (kind: AlarmKind, text: string) => `${kind} ${text}`
const kindIn = (key: string) => key.slice(0, key.indexOf(' ')) as AlarmKind // safe: made by `keyOf`

const { kind: kindColumn, subject: subjectColumn, raised_at, seen_at } = alarmRows

/**
 * Reads the stored faults into a map by their `key`, also those whose alarm is not raised yet: all
 * of them, or only that of `only`.
 */
async function selectAlarms(db: WriteDatabase, only?: Alarm): Promise<StoredAlarms> {
  const isOnly = only && and(eq(kindColumn, only.kind), eq(subjectColumn, only.text))
  const rows = await openTables(db)
    .select({ kind: kindColumn, text: subjectColumn, seenAt: seen_at, raisedAt: raised_at })
    .from(alarmRows)
    .where(isOnly)
  return new Map(
    rows.map(({ kind, text, seenAt, raisedAt }) => {
      const key = keyOf(kind, text)
      return [key, { kind, text, key, seenAt, isRaised: raisedAt !== null }]
    }),
  )
}

const listOf = (alarms: readonly Alarm[]) => JSON.stringify(alarms.map(({ kind, text }) => [kind, text]))

/**
 * `seen_at` keeps the first observation of a fault until the fault becomes an alarm, and then gets
 * the newest observation.
 */
function upsert(db: WriteDatabase, alarms: readonly Judged[], at: UnixMs): D1PreparedStatement {
  const columns = sql.join([kindColumn, subjectColumn, raised_at, seen_at].map(columnName), sql`, `)
  const list = JSON.stringify(alarms.map(({ kind, text, isRaised }) => [kind, text, isRaised ? at : null]))
  const [raised, seen] = [columnName(raised_at), columnName(seen_at)]
  return toStatement(
    db,
    sql`INSERT INTO ${alarmRows} (${columns}) SELECT value ->> 0, value ->> 1, value ->> 2, ${at}
      FROM json_each(${list})
    WHERE true ON CONFLICT DO UPDATE SET ${raised} = coalesce(${raised}, excluded.${raised}),
      ${seen} = iif(excluded.${raised} IS NULL, ${seen}, ${at})`,
  )
}

function remove(db: WriteDatabase, alarms: readonly Alarm[]): D1PreparedStatement {
  return toStatement(
    db,
    sql`DELETE FROM ${alarmRows} WHERE (${columnName(kindColumn)}, ${columnName(subjectColumn)}) IN (
      SELECT value ->> 0, value ->> 1 FROM json_each(${listOf(alarms)}))`,
  )
}
