import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { bareList, member, nowInDatabase } from '../d1/database.ts'
import type { agreedDecimals, keptAddresses, storedCurrencies, storedSettings } from '../d1/tables.ts'

/** A table of what is stored once: the columns of its key, and those that may differ from it. */
export interface StoredOnce {
  readonly table: typeof storedSettings | typeof storedCurrencies | typeof keptAddresses | typeof agreedDecimals
  readonly key: readonly SQLiteColumn[]
  readonly rest: readonly SQLiteColumn[]
}

/** SQL for the values of the columns in a row of `json_each(…) AS given`. */
export const given = (columns: readonly SQLiteColumn[]) =>
  sql.join(
    columns.map((column) => sql`given.${member(column)}`),
    sql`, `,
  )

/** SQL that inserts those rows of a JSON list whose key is not stored yet. */
export function insertNew({ table, key, rest }: StoredOnce, list: string): SQL {
  const columns = [...key, ...rest]
  return sql`
INSERT INTO ${table} (${bareList([...columns, table.stored_at])})
SELECT ${given(columns)}, ${nowInDatabase} FROM json_each(${list}) AS given
WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE (${sql.join([...key], sql`, `)}) = (${given(key)}))`
}

/** SQL that is true if a row of a JSON list is stored with other values. */
export function differs({ table, key, rest }: StoredOnce, list: string): SQL {
  const [keys, others] = [key, rest].map((columns) => sql.join([...columns], sql`, `))
  return sql`EXISTS (
    SELECT 1 FROM json_each(${list}) AS given JOIN ${table} ON (${keys}) = (${given(key)})
      AND (${others}) IS NOT (${given(rest)}))`
}
