import type { UnixMs } from '../common/time.ts'
import type { ReadDatabase, WriteDatabase } from '../d1/database.ts'
import { statement } from '../d1/statement.ts'
import type { AlarmKind } from '../platform/alarm-table.ts'

/** A raised alarm. */
export interface RaisedAlarm {
  readonly kind: AlarmKind
  readonly subject: string
  readonly raisedAt: UnixMs
}

/** Whether an alarm is raised. */
export async function hasAlarm(db: ReadDatabase, kind: AlarmKind, subject: string): Promise<boolean> {
  return (await selectOne(db, { kind, subject }).first()) !== null
}

/** The raised alarms of these kinds. */
export async function selectAlarms(db: ReadDatabase, kinds: readonly AlarmKind[]): Promise<readonly RaisedAlarm[]> {
  return (await selectOfKinds(db, { kinds: JSON.stringify(kinds) }).all<RaisedAlarm>()).results
}

/** Stores an alarm. Of one that is raised already it stores the time. */
export async function addAlarm(db: WriteDatabase, kind: AlarmKind, subject: string, at: UnixMs): Promise<void> {
  await upsert(db, { kind, subject, at }).run()
}

/** Removes an alarm, where it is raised. */
export async function removeAlarm(db: WriteDatabase, kind: AlarmKind, subject: string): Promise<void> {
  await remove(db, { kind, subject }).run()
}

/** Removes the alarms of these kinds that were stored last before a time. */
export async function removeAlarmsBefore(
  db: WriteDatabase,
  kinds: readonly AlarmKind[],
  before: UnixMs,
): Promise<void> {
  await removeBefore(db, { kinds: JSON.stringify(kinds), before }).run()
}

const selectOne = statement('SELECT 1 FROM alarm WHERE name = :kind AND detail = :subject')
const selectOfKinds = statement(`
SELECT name AS kind, detail AS subject, raised_at AS raisedAt FROM alarm WHERE name IN (SELECT value FROM json_each(:kinds))
ORDER BY name, detail`)
const upsert = statement(`
INSERT INTO alarm (name, detail, raised_at) VALUES (:kind, :subject, :at) ON CONFLICT DO UPDATE SET raised_at = :at`)
const remove = statement('DELETE FROM alarm WHERE name = :kind AND detail = :subject')
const removeBefore = statement(
  'DELETE FROM alarm WHERE name IN (SELECT value FROM json_each(:kinds)) AND raised_at < :before',
)
