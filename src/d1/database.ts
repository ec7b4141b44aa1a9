import { drizzle } from 'drizzle-orm/d1'

/** The database, or one session of it. */
export type Database = D1Database | D1DatabaseSession

/** Drizzle over either: it calls only `prepare` and `batch`, which both have. */
export function openTables(db: Database) {
  return drizzle(db as D1Database) // safe: a session has all that Drizzle calls
}

/**
 * Rows as JSON texts to bind: one parameter takes a whole list, since a statement has at most 100 parameters. A text can
 * have 2 MB, so a list of more than `rowsMax` rows becomes several texts.
 */
export function toJsonTexts<T>(rows: readonly T[], rowsMax: number): readonly string[] {
  const texts: string[] = []
  for (let i = 0; i < rows.length; i += rowsMax) texts.push(JSON.stringify(rows.slice(i, i + rowsMax)))
  return texts
}

/** Runs statements as one batch. D1 refuses an empty batch, so no statements make no call. */
export async function batchAll(db: Database, statements: D1PreparedStatement[]): Promise<void> {
  if (statements.length > 0) await db.batch(statements)
}

/** Whether a batch failed because of the CHECK of this name. */
export function isRefusedBy(check: string, cause: unknown): boolean {
  return cause instanceof Error && cause.message.includes(`CHECK constraint failed: ${check}`)
}
