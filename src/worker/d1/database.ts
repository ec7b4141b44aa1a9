import { fillPlaceholders, getTableColumns, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/d1'
import { type SQLiteColumn, SQLiteSyncDialect, type SQLiteTable } from 'drizzle-orm/sqlite-core'

declare const access: unique symbol

/** What queries and Drizzle use of a D1 database or of a session with one. */
type Database = Pick<D1DatabaseSession, 'prepare' | 'batch'>

/**
 * A database for code that only reads. `access` exists only for the compiler, which refuses to pass
 * such a database to code that writes.
 */
export type ReadDatabase = Database & { readonly [access]: 'read' | 'write' }
/** A database for reading and writing: the primary, or a session that began there. */
export type WriteDatabase = Database & { readonly [access]: 'write' }

/**
 * Lets the compiler accept this database where code writes. The caller must know that it is the
 * primary, or a session that began there.
 */
export function writable(db: Database): WriteDatabase {
  return db as WriteDatabase // safe: `access` exists only in the type
}

/** Opens Drizzle's query builder on a database. `Drizzle.batch` is not used: see `toStatement`. */
export function openTables(db: ReadDatabase) {
  return drizzle(db as unknown as D1Database) // safe: Drizzle calls only `prepare` and `batch`
}

const dialect = new SQLiteSyncDialect()

/**
 * Turns a query of Drizzle's builder, or an `sql` template, into a statement of D1, to be run alone
 * or in D1's `batch`. Drizzle's own batch (0.45) refuses templates with values, and hides the
 * database's error message in its own.
 */
export function toStatement(db: ReadDatabase, query: SQLWrapper): D1PreparedStatement {
  const { sql: text, params } = dialect.sqlToQuery(query.getSQL())
  return db.prepare(text).bind(...params)
}

/**
 * Returns a function that makes a statement from values. Use it for frequent statements: the text
 * is built only once. In `query`, `sql.placeholder(name)` stands where the value of this name goes.
 */
export function fixedStatement<Name extends string = never>(query: SQLWrapper) {
  let made: ReturnType<typeof dialect.sqlToQuery> | null = null
  return (db: ReadDatabase, values: Readonly<Record<Name, unknown>>): D1PreparedStatement => {
    made ??= dialect.sqlToQuery(query.getSQL())
    return db.prepare(made.sql).bind(...fillPlaceholders(made.params, values))
  }
}

/**
 * The rows of a statement's result in a batch. The type is the caller's word for the columns that
 * its own statement selects, because D1 knows none.
 */
export function resultRows<Row>(result: D1Result | undefined): readonly Row[] {
  return (result?.results ?? []) as Row[] // safe: see above
}

/**
 * Returns the text of SQL without values, for places that take only text, such as the WHERE of an
 * index. Throws if there are values to bind.
 */
export function toText(query: SQL): string {
  const { sql: text, params } = dialect.sqlToQuery(query)
  if (params.length > 0) throw new Error('constant SQL has no values')
  return text
}

/**
 * SQL for a column's name without its table: `SET` and the column list of an INSERT allow no table
 * there.
 */
export function columnName(column: SQLiteColumn): SQL {
  return sql`${sql.identifier(column.name)}`
}

/**
 * SQL that inserts one row, `INSERT INTO … SELECT` the values of `row`, followed by `rest`: a FROM
 * or a WHERE that decides whether there is a row.
 */
export function insertSelect<T extends SQLiteTable>(table: T, row: InsertedRow<T>, rest: SQL): SQL {
  const columns = getTableColumns(table)
  // safe: the keys are those of the table
  const names = Object.keys(row).map((key) => columnName(columns[key] as SQLiteColumn))
  const values = Object.values(row).map((value) => sql`${value}`)
  return sql`INSERT INTO ${table} (${sql.join(names, sql`, `)}) SELECT ${sql.join(values, sql`, `)} ${rest}`
}

/**
 * The row that `insertSelect` inserts, by the names of its columns. Each value is a constant, SQL,
 * or a column of the table after FROM.
 */
export type InsertedRow<T extends SQLiteTable> = {
  readonly [Name in keyof T['$inferInsert']]?: T['$inferInsert'][Name] | SQL | SQLiteColumn
}

/** SQL for a list of column names without their tables; see `columnName`. */
export function bareList(columns: readonly SQLiteColumn[]): SQL {
  return sql.join(columns.map(columnName), sql`, `)
}

/**
 * Whether the column stores bytes. Programs handle such values as hex digits: see `addressBytes`.
 */
export const isInBytes = (column: SQLiteColumn) => column.getSQLType() === 'blob'

/** SQL that turns hex digits into bytes, for comparing with or storing in a column of bytes. */
export function ofHex(value: unknown): SQL {
  return sql`unhex(${value})`
}

/**
 * SQL that selects a column as programs handle it: bytes become lower-case hex digits, and NULL
 * stays NULL.
 */
export function shown(column: SQLiteColumn): SQL {
  if (!isInBytes(column)) return sql`${column}`
  return column.notNull ? sql`lower(hex(${column}))` : sql`nullif(lower(hex(${column})), '')`
}

/** SQL that selects a list of columns by `shown`, each under its own name. */
export function shownList(columns: readonly SQLiteColumn[]): SQL {
  return sql.join(
    columns.map((column) => (isInBytes(column) ? sql`${shown(column)} AS ${columnName(column)}` : sql`${column}`)),
    sql`, `,
  )
}

/** SQL that selects all columns of a table by `shown`, each under its own name. */
export function allShown(table: SQLiteTable): SQL {
  return shownList(Object.values(getTableColumns(table)))
}

/**
 * SQL for the value of a column from an object in `json_each`: its member with the column's name.
 * For a column of bytes, hex digits become bytes.
 */
export function member(column: SQLiteColumn): SQL {
  const found = sql`value ->> ${sql.raw(`'${column.name}'`)}`
  return isInBytes(column) ? ofHex(found) : found
}

/** SQL that selects `member` of each column under the column's name. */
export function memberList(columns: readonly SQLiteColumn[]): SQL {
  const each = columns.map((column) => sql`${member(column)} AS ${columnName(column)}`)
  return sql.join(each, sql`, `)
}

/** SQL for the database's own clock, in milliseconds since 1970. */
export const nowInDatabase = sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`

/**
 * Turns rows into JSON texts for `json_each`. A statement of D1 has at most 100 parameters, so a
 * list of any length is bound as one text. A text may have 2 MB, so each gets at most `rowsMax`
 * rows, and the caller sends one statement for each text.
 */
export function toJsonTexts<T>(rows: readonly T[], rowsMax: number): readonly string[] {
  const texts: string[] = []
  for (let i = 0; i < rows.length; i += rowsMax) texts.push(JSON.stringify(rows.slice(i, i + rowsMax)))
  return texts
}

/**
 * Whether `cause`, thrown by a statement or a batch, is the refusal of the CHECK with this name or
 * of the trigger with this message.
 */
export function isRefusedBy(rule: string, cause: unknown): boolean {
  if (!(cause instanceof Error)) return false
  return cause.message.includes(`CHECK constraint failed: ${rule}`) || cause.message.includes(`D1_ERROR: ${rule}`)
}
