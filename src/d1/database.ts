import { drizzle } from 'drizzle-orm/d1'

declare const access: unique symbol

/** The database, or one session of it: what queries and Drizzle use of it. */
type Database = Pick<D1DatabaseSession, 'prepare' | 'batch'>

/** A database for reading only. */
export type ReadDatabase = Database & { readonly [access]: 'read' | 'write' }
/** A database for reading and writing: the primary, or a session that began there. */
export type WriteDatabase = Database & { readonly [access]: 'write' }

/** A database as one that may be written. Whoever only reads gets it as a `ReadDatabase`. */
export function writable(db: Database): WriteDatabase {
  return db as WriteDatabase // safe: the mark is in the type only
}

/** Drizzle over a database. */
export function openTables(db: ReadDatabase) {
  return drizzle(db as unknown as D1Database) // safe: it calls only `prepare` and `batch`
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

/** Whether a statement or batch was refused by the CHECK of this name, or by the trigger with this message. */
export function isRefusedBy(rule: string, cause: unknown): boolean {
  if (!(cause instanceof Error)) return false
  return cause.message.includes(`CHECK constraint failed: ${rule}`) || cause.message.includes(`D1_ERROR: ${rule}`)
}
