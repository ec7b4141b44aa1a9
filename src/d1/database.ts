import { drizzle } from 'drizzle-orm/d1'

/** The database, or one session of it. */
export type Database = D1Database | D1DatabaseSession

/** Drizzle over either: it uses only `prepare` and `batch`, which both have. */
export function openTables(db: Database) {
  return drizzle(db as D1Database) // safe: a session has all that Drizzle calls
}

/**
 * Rows as JSON texts to bind: one parameter carries a whole list, since a statement takes 100 at most. A text has
 * room for 2 MB, so a list of more than `rowsMax` becomes several.
 */
export function toJsonTexts<T>(rows: readonly T[], rowsMax: number): readonly string[] {
  const texts: string[] = []
  for (let i = 0; i < rows.length; i += rowsMax) texts.push(JSON.stringify(rows.slice(i, i + rowsMax)))
  return texts
}
