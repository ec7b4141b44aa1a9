import { type Column, fillPlaceholders, getTableColumns, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { SQLiteAsyncDialect, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Database, openTables } from './database.ts'

// Names of tables and columns come from the tables. The query builder builds what it can express. `sql` templates build the
// rest, each in one place with the reason: lists from json_each, INSERT … SELECT with a condition, UPDATE … FROM, joins in a
// fixed order, INDEXED BY, UNION with another kind of row.

const dialect = new SQLiteAsyncDialect()

/** Drizzle without a database: it builds statements and runs none. */
export const build = openTables({} as Database) // safe: `statement` runs what it builds

/** A statement for a database, with the values of its parameters by name. */
export type Statement = (db: Database, values?: Readonly<Record<string, unknown>>) => D1PreparedStatement

/** A statement whose text is built at its first use and never again, since Drizzle takes 0.1 ms for it. */
export function statement(query: SQLWrapper): Statement {
  let built: { readonly sql: string; readonly params: unknown[] } | undefined
  return (db, values = {}) => {
    built ??= dialect.sqlToQuery(query.getSQL())
    return db.prepare(built.sql).bind(...fillPlaceholders(built.params, values))
  }
}

/** A parameter. */
export function param(name: string): SQL {
  return sql`${sql.placeholder(name)}`
}

/** The columns of a table without those in `except`. */
export function columnsOf(table: SQLiteTable, ...except: readonly Column[]): readonly Column[] {
  return Object.values<Column>(getTableColumns(table)).filter((column) => !except.includes(column))
}

/** Names of columns without their table, as INSERT and SET require them. */
export function names(...columns: readonly Column[]): SQL {
  return sql.join(
    columns.map(({ name }) => sql.identifier(name)),
    sql`, `,
  )
}

/** The values of columns in an object of a JSON list, whose members have the names of the columns. */
export function members(...columns: readonly Column[]): SQL {
  return sql.join(
    columns.map(({ name }) => sql`value ->> ${sql.raw(`'${name}'`)} AS ${sql.identifier(name)}`),
    sql`, `,
  )
}
