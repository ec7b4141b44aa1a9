// biome-ignore lint/suspicious/noDeprecatedImports: only another overload of primaryKey is deprecated
import { primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AlarmKind } from '../platform/logger.ts'
import { instant, rule, safe } from './columns.ts'

/** Alarms that are raised and not cleared yet. */
export const alarmTable = sqliteTable(
  'alarm',
  { name: text().$type<AlarmKind>().notNull(), detail: text().notNull(), raised_at: instant() },
  (table) => [
    primaryKey({ columns: [table.name, table.detail] }),
    rule(table.name, "name GLOB '[a-z]*' AND name NOT GLOB '*[^a-z-]*' AND length(name) <= 100"),
    rule(table.detail, 'length(detail) <= 200'),
    rule(table.raised_at, safe),
  ],
)
