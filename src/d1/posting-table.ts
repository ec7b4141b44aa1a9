import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { instant, rule } from './columns.ts'

/**
 * The only way in for entries other than recharges: a row with a list of them as JSON. Triggers create the entries and
 * remove the row, all in one statement, so that the table is empty before and after it.
 */
export const postings = sqliteTable(
  'posting',
  { id: integer().primaryKey(), entries: text().notNull(), posted_by: text().notNull(), created_at: instant() },
  (table) => [rule(table.id, 'id = 1')],
)
