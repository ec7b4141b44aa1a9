import { and, eq, lt, or, sql } from 'drizzle-orm'
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
    removeWell: async (kinds, seen, unseenSince) => {
      await deleteWell(db, { kinds: JSON.stringify(kinds), seen: JSON.stringify(seen), unseenSince }).run()
    },
  }
}

const isSame = and(eq(table.name, param('name')), eq(table.detail, param('detail')))
const selectAlarm = statement(build.select({ name: table.name }).from(table).where(isSame))
const insertAlarm = statement(
  build
    .insert(table)
    .values({ name: param('name'), detail: param('detail'), raised_at: param('at') })
    .onConflictDoUpdate({ target: [table.name, table.detail], set: { raised_at: param('at') } }),
)
const deleteAlarm = statement(build.delete(table).where(isSame))
const isOneOf = (list: string) => sql`${table.name} IN (SELECT value FROM json_each(${param(list)}))`
const deleteWell = statement(
  build.delete(table).where(or(isOneOf('kinds'), and(isOneOf('seen'), lt(table.raised_at, param('unseenSince'))))),
)
