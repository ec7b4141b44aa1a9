import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { instant, rule } from './columns.ts'

/** What the stored data means: the parts of the configuration that must not change under it. */
export const storedSettingTable = sqliteTable(
  'stored_setting',
  { name: text().primaryKey(), value: text().notNull(), stored_at: instant() },
  (table) => [rule(table.name, 'length(name) BETWEEN 1 AND 100'), rule(table.value, 'length(value) BETWEEN 1 AND 200')],
)
