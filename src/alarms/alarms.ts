import type { UnixMs } from '../common/time.ts'
import { statement, type WriteDatabase } from '../d1/database.ts'
import type { alarmRows } from '../d1/state-tables.ts'
import { type AlarmKind, type AlarmSubject, type AlarmSubjects, unobservedKinds } from '../platform/alarm-table.ts'
import type { Clock } from '../platform/clock.ts'
import type { LogFields, Logger } from '../platform/logger.ts'

/** Whatever stands still for this long raises an alarm. */
export const standstillMs = 180_000
/** A fault whose end cannot be observed counts as ended once it was not observed for this long. */
export const wellAfterMs = 3_600_000
/** Such a fault is stored at most this often while it lasts: more often than `wellAfterMs`. */
const storedEveryMs = 600_000
/** Alarms that are kept in memory. With more of them the memory is cleared. */
const knownMax = 200

/** What an alarm of this kind is about. `fields` are those of its log line. */
type FaultOf<Kind extends AlarmKind> = {
  readonly kind: Kind
  readonly subject: AlarmSubjects[Kind]
  readonly fields: LogFields
}
/** What is wrong. */
export type Fault = { readonly [Kind in AlarmKind]: FaultOf<Kind> }[AlarmKind]

/** Alarms about states that last: each is raised once until it ends, by whatever raises it. No method throws. */
export interface Alarms {
  /** Raises an alarm, unless the same one of the same subject is raised already. */
  raise<Kind extends AlarmKind>(kind: Kind, subject: AlarmSubjects[Kind], fields: LogFields): Promise<void>
  /** Raises an alarm of a fault that was suspected before, and is suspected again. */
  suspect<Kind extends AlarmKind>(kind: Kind, subject: AlarmSubjects[Kind], fields: LogFields): Promise<void>
  /** The subject is well again: the alarm can be raised anew. False where the database could not be reached, and has it still. */
  clear<Kind extends AlarmKind>(kind: Kind, subject: AlarmSubjects[Kind]): Promise<boolean>
  /** Raises these faults. Every other subject of `kinds` is well again. */
  settle(kinds: readonly AlarmKind[], faults: readonly Fault[]): Promise<void>
}

/** What alarms need. */
export interface AlarmParts {
  readonly db: WriteDatabase
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Pick<Logger, 'alarm'>
}

/** A raised alarm in memory. `isStored` is false where its row could not be stored. */
interface KnownAlarm {
  readonly isStored: boolean
  readonly at: UnixMs
}

/**
 * Alarms that everything with this database shares. Where it cannot be reached, only those in memory are known. The
 * line is written before the row, so that whatever ends in between repeats an alarm and loses none.
 */
export function createAlarms({ db, clock, logger }: AlarmParts): Alarms {
  const known = new Map<string, KnownAlarm>()
  const recall = (kind: AlarmKind, subject: string) => {
    const last = known.get(keyOf(kind, subject))
    const isOld = last !== undefined && unobservedKinds.has(kind) && clock.now() - last.at >= wellAfterMs
    return isOld ? undefined : last
  }
  /** `isRaised`: whether the database has it, null where it did not answer. */
  const observe = async (kind: AlarmKind, subject: string, fields: LogFields, isRaised: boolean | null) => {
    const last = recall(kind, subject)
    const isKnown = isRaised ?? last !== undefined
    // A row that was stored and is gone was removed where the subject was well.
    if (!isKnown && last?.isStored !== false) logger.alarm(kind, fields)
    const at = clock.now()
    const isWritten = isRaised === false || (isRaised === true && unobservedKinds.has(kind))
    const written = isWritten && (await orNull(() => upsert(db, { kind, subject, at }).run())) !== null
    if (known.size >= knownMax) known.clear()
    known.set(keyOf(kind, subject), { isStored: isWritten ? written : (isRaised ?? last?.isStored === true), at })
  }
  const clear = async (kind: AlarmKind, subject: string) => {
    known.delete(keyOf(kind, subject))
    return (await orNull(() => remove(db, { kind, subject }).run())) !== null
  }
  return {
    suspect(kind, about, fields) {
      return this.raise(kind, about, fields)
    },
    clear: (kind, subject) => clear(kind, subjectText(subject)),
    async raise(kind, about, fields) {
      const subject = subjectText(about)
      const last = recall(kind, subject)
      if (last !== undefined && unobservedKinds.has(kind) && clock.now() - last.at < storedEveryMs) return
      const found = await orNull(() => selectOne(db, { kind, subject }).all())
      await observe(kind, subject, fields, found && found.results.length > 0)
    },
    async settle(kinds, faults) {
      const wanted = new Set(faults.map(({ kind, subject }) => keyOf(kind, subjectText(subject))))
      const ofKinds = { kinds: JSON.stringify(kinds) }
      const rows = (await orNull(() => selectOfKinds(db, ofKinds).all<AlarmRow>()))?.results
      const raised = new Set(rows?.map(({ kind, subject }) => keyOf(kind, subject)))
      for (const { kind, subject: about, fields } of faults) {
        const subject = subjectText(about)
        await observe(kind, subject, fields, rows ? raised.has(keyOf(kind, subject)) : null)
      }
      const isWell = (key: string) => kinds.some((kind) => key.startsWith(keyOf(kind, ''))) && !wanted.has(key)
      for (const key of known.keys()) if (isWell(key)) known.delete(key)
      for (const { kind, subject } of rows ?? []) if (!wanted.has(keyOf(kind, subject))) await clear(kind, subject)
      const unobserved = { kinds: JSON.stringify([...unobservedKinds]), before: clock.now() - wellAfterMs }
      await orNull(() => removeBefore(db, unobserved).run())
    },
  }
}

/** A subject as it is stored: JSON with sorted keys, so that the same subject is the same text. */
export function subjectText(subject: AlarmSubject): string {
  return JSON.stringify(Object.fromEntries(Object.entries(subject).sort(([a], [b]) => (a < b ? -1 : 1))))
}

const keyOf = (kind: AlarmKind, subject: string) => `${kind} ${subject}`

/** The result, or null where the database cannot be reached. */
async function orNull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch {
    return null
  }
}

type AlarmRow = Pick<typeof alarmRows.$inferSelect, 'kind' | 'subject'>

const selectOne = statement('SELECT 1 FROM alarm WHERE kind = :kind AND subject = :subject')
const selectOfKinds = statement(`
SELECT kind, subject FROM alarm WHERE kind IN (SELECT value FROM json_each(:kinds)) ORDER BY kind, subject`)
/** Of an alarm that is raised already it stores that it was seen again. */
const upsert = statement(`
INSERT INTO alarm (kind, subject, raised_at, seen_at) VALUES (:kind, :subject, :at, :at)
ON CONFLICT DO UPDATE SET seen_at = :at`)
const remove = statement('DELETE FROM alarm WHERE kind = :kind AND subject = :subject')
const removeBefore = statement(
  'DELETE FROM alarm WHERE kind IN (SELECT value FROM json_each(:kinds)) AND seen_at < :before',
)
