import { and, eq } from 'drizzle-orm'
import type { AlarmStore } from '../platform/alarms.ts'
import { alarmTable as table } from './alarm-table.ts'
import type { Database } from './database.ts'
import { build, param, statement } from './statement.ts'

/** Raised alarms over D1. */
export function createAlarmStore(db: Database): AlarmStore {
  return {
    has: async (name, detail) => (await selectAlarm(db, { name, detail }).raw()).length > 0,
    add: async (name, detail, at) => {
      await insertAlarm(db, { name, detail, at }).run()
    },
    remove: async (name, detail) => {
      await deleteAlarm(db, { name, detail }).run()
    },
  }
}

const isSame = and(eq(table.name, param('name')), eq(table.detail, param('detail')))
const selectAlarm = statement(build.select({ name: table.name }).from(table).where(isSame))
const insertAlarm = statement(
  build
    .insert(table)
    .values({ name: param('name'), detail: param('detail'), raised_at: param('at') })
    .onConflictDoNothing(),
)
const deleteAlarm = statement(build.delete(table).where(isSame))
