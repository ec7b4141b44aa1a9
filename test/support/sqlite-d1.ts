import { readdirSync, readFileSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { fileURLToPath } from 'node:url'

const migrationsFolder = fileURLToPath(new URL('../../migrations/', import.meta.url).href)
const schema = readdirSync(migrationsFolder)
  .filter((file) => file.endsWith('.sql'))
  .sort()
  .map((file) => readFileSync(migrationsFolder + file, 'utf8'))
  .join('\n')

/** What happens to one round trip: nothing, an error before anything was done, or a lost answer after the commit. */
export type TripFault = 'none' | 'before' | 'after'

/** Called before each round trip to the database; it may wait, throw (a killed invocation), or order a fault. */
export type OnTrip = () => Promise<TripFault>

interface Row {
  readonly [column: string]: unknown
}

/**
 * A D1 over an in-memory SQLite with the real migrations, for runs by the thousand in Node: same SQL, same triggers,
 * same atomic batches, and trips that fail on command.
 */
export function createSqliteD1(onTrip: OnTrip = () => Promise.resolve('none')): {
  readonly db: D1Database
  /** The database itself, for looking at it behind the service's back. */
  readonly sqlite: DatabaseSync
  /** Round trips so far. */
  readonly trips: () => number
} {
  const sqlite = new DatabaseSync(':memory:')
  sqlite.exec(schema)
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  let trips = 0

  const execute = (sql: string, values: readonly SQLInputValue[]) => {
    const statement = prepared.get(sql) ?? sqlite.prepare(sql)
    prepared.set(sql, statement)
    const rows = statement.all(...values).map((row) => ({ ...row }) as Row)
    return {
      results: rows,
      success: true as const,
      meta: { changes: changes(), rows_read: 0, rows_written: 0, duration: 0 },
    }
  }
  const changesStatement = sqlite.prepare('SELECT changes() AS n')
  const changes = () => Number(changesStatement.get()?.n ?? 0)

  const trip = async <T>(work: () => T): Promise<T> => {
    trips += 1
    const fault = await onTrip()
    if (fault === 'before') throw new Error('D1_ERROR: the database did not answer')
    const result = work()
    if (fault === 'after') throw new Error('D1_ERROR: the answer was lost')
    return result
  }

  interface Statement {
    readonly sql: string
    readonly values: readonly SQLInputValue[]
  }
  const statement = (sql: string, values: readonly SQLInputValue[]) => {
    const all = () => trip(() => wrap(() => execute(sql, values)))
    return {
      sql,
      values,
      bind: (...bound: readonly unknown[]) => statement(sql, bound.map(toSqlite)),
      all,
      run: all,
      first: async (column?: string) => {
        const [row] = (await all()).results
        return row === undefined ? null : column === undefined ? row : row[column]
      },
      raw: async () => (await all()).results.map((row) => Object.values(row)),
    }
  }
  const db = {
    prepare: (sql: string) => statement(sql, []),
    batch: (statements: readonly Statement[]) =>
      trip(() =>
        wrap(() => {
          sqlite.exec('BEGIN IMMEDIATE')
          try {
            const results = statements.map(({ sql, values }) => execute(sql, values))
            sqlite.exec('COMMIT')
            return results
          } catch (cause) {
            sqlite.exec('ROLLBACK')
            throw cause
          }
        }),
      ),
    withSession: () => db,
    getBookmark: () => null,
  }
  // safe: the part of D1Database that the service uses; the compiler can't see that the rest is never called
  return { db: db as unknown as D1Database, sqlite, trips: () => trips }
}

/** D1's errors carry SQLite's text behind a prefix of its own. */
function wrap<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new Error(`D1_ERROR: ${cause instanceof Error ? cause.message : 'failed'}: SQLITE_CONSTRAINT`)
  }
}

function toSqlite(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  throw new Error(`D1_TYPE_ERROR: ${typeof value} can't be bound`)
}
