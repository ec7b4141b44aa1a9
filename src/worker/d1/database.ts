import { fillPlaceholders, getTableColumns, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/d1'
import { type SQLiteColumn, SQLiteSyncDialect, type SQLiteTable } from 'drizzle-orm/sqlite-core'

declare const access: unique symbol

/** The part of a database, or of a session with it, that queries and Drizzle use. */
type Database = Pick<D1DatabaseSession, 'prepare' | 'batch'>

/** A database for reading only. */
export type ReadDatabase = Database & { readonly [access]: 'read' | 'write' }
/** A database for reading and writing: the primary, or a session that began there. */
export type WriteDatabase = Database & { readonly [access]: 'write' }

/** Marks a database as writable. Code that only reads gets a `ReadDatabase`. */
export function writable(db: Database): WriteDatabase {
  return db as WriteDatabase // safe: the mark is in the type only
}

/** Opens Drizzle on a database. */
export function openTables(db: ReadDatabase) {
  return drizzle(db as unknown as D1Database) // safe: it calls only `prepare` and `batch`
}

const dialect = new SQLiteSyncDialect()

/**
 * Turns a query of Drizzle's builder, or its `sql` with columns of the tables, into a statement of D1, to run or for a batch. Drizzle's own batch refuses `sql`
 * with values (0.45), and hides the error of the database in its own.
 */
export function toStatement(db: ReadDatabase, query: SQLWrapper): D1PreparedStatement {
  const { sql: text, params } = dialect.sqlToQuery(query.getSQL())
  return db.prepare(text).bind(...params)
}

/** A statement with constant text: the text is made once, and D1 compiles a known text only once. `sql.placeholder(name)` marks the place of a value. */
export function fixedStatement<Name extends string = never>(query: SQLWrapper) {
  let made: ReturnType<typeof dialect.sqlToQuery> | null = null
  return (db: ReadDatabase, values: Readonly<Record<Name, unknown>>): D1PreparedStatement => {
    made ??= dialect.sqlToQuery(query.getSQL())
    return db.prepare(made.sql).bind(...fillPlaceholders(made.params, values))
  }
}

/** Constant SQL as text. It throws if the SQL contains values. */
export function toText(query: SQL): string {
  const { sql: text, params } = dialect.sqlToQuery(query)
  if (params.length > 0) throw new Error('constant SQL has no values')
  return text
}

/** The name of a column without its table, as `SET` and the column list of an INSERT require. */
export function columnName(column: SQLiteColumn): SQL {
  return sql`${sql.identifier(column.name)}`
}

/** An INSERT of one row of values, followed by `rest`: a FROM or a WHERE. `row` names the columns. */
export function insertSelect<T extends SQLiteTable>(table: T, row: InsertedRow<T>, rest: SQL): SQL {
  const columns = getTableColumns(table)
  const names = Object.keys(row).map((key) => columnName(columns[key] as SQLiteColumn)) // safe: the keys are those of the table
  const values = Object.values(row).map((value) => sql`${value}`)
  return sql`INSERT INTO ${table} (${sql.join(names, sql`, `)}) SELECT ${sql.join(values, sql`, `)} ${rest}`
}

/** The values of a row to insert; each may be SQL. */
export type InsertedRow<T extends SQLiteTable> = {
  readonly [Name in keyof T['$inferInsert']]?: T['$inferInsert'][Name] | SQL | SQLiteColumn
}

/** The names of columns without their tables, as a list. */
export function bareList(columns: readonly SQLiteColumn[]): SQL {
  return sql.join(columns.map(columnName), sql`, `)
}

/** Whether a column stores bytes that programs handle as hex digits. */
const isInBytes = (column: SQLiteColumn) => column.getSQLType() === 'blob'

/** SQL that turns hex digits into the stored bytes. */
export function ofHex(value: unknown): SQL {
  return sql`unhex(${value})`
}

/** A column as programs read it: bytes become hex digits. */
export function shown(column: SQLiteColumn): SQL {
  if (!isInBytes(column)) return sql`${column}`
  return column.notNull ? sql`lower(hex(${column}))` : sql`nullif(lower(hex(${column})), '')`
}

/** Columns as programs read them, each under its name. */
export function shownList(columns: readonly SQLiteColumn[]): SQL {
  return sql.join(
    columns.map((column) => (isInBytes(column) ? sql`${shown(column)} AS ${columnName(column)}` : sql`${column}`)),
    sql`, `,
  )
}

/** All columns of a table as programs read them, each under its name. */
export function allShown(table: SQLiteTable): SQL {
  return shownList(Object.values(getTableColumns(table)))
}

/** SQL: the member of a JSON object that has the name of a column, in the column's stored form. `value` is the column of `json_each`. */
export function member(column: SQLiteColumn): SQL {
  const found = sql`value ->> ${sql.raw(`'${column.name}'`)}`
  return isInBytes(column) ? ofHex(found) : found
}

/** SQL: the members with the names of columns, each under its name. */
export function memberList(columns: readonly SQLiteColumn[]): SQL {
  const each = columns.map((column) => sql`${member(column)} AS ${columnName(column)}`)
  return sql.join(each, sql`, `)
}

/** The time of the database in milliseconds since 1970. */
export const nowInDatabase = sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`

/**
 * Turns rows into JSON texts to bind. One parameter takes a whole list, because a statement has at most 100 parameters. D1 binds texts up to 2 MB, so more than
 * `rowsMax` rows become several texts.
 */
export function toJsonTexts<T>(rows: readonly T[], rowsMax: number): readonly string[] {
  const texts: string[] = []
  for (let i = 0; i < rows.length; i += rowsMax) texts.push(JSON.stringify(rows.slice(i, i + rowsMax)))
  return texts
}

/** Whether the CHECK of this name, or the trigger with this message, refused a statement or batch. */
export function isRefusedBy(rule: string, cause: unknown): boolean {
  if (!(cause instanceof Error)) return false
  return cause.message.includes(`CHECK constraint failed: ${rule}`) || cause.message.includes(`D1_ERROR: ${rule}`)
}
