import { readdirSync, readFileSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'

const migrationsFolder = fileURLToPath(new URL('../../migrations/', import.meta.url).href)

/** Does the work of one round trip. With `failAt` it fails before that statement of the batch, and undoes the others. */
export type Work<T> = (failAt?: number) => T

/**
 * Carries one round trip to the database: it decides when `work` is done, whether, and what comes back of it.
 * `statements` says what it would do.
 */
export type Carrier = <T>(work: Work<T>, statements: readonly string[]) => Promise<T>

/** A database with the real migrations. */
export interface SqliteD1 {
  /** The database itself, for looking at it behind the service's back. */
  readonly sqlite: DatabaseSync
  /** A D1 whose round trips go through `carry`. */
  connect(carry: Carrier): D1Database
  /** Remembers the present state of all rows. */
  begin(): void
  /** Takes back everything since `begin`: a clean database in microseconds, with all statements still prepared. */
  undo(): void
}

interface Bound {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

type Row = Readonly<Record<string, unknown>>

/**
 * A D1 over an in-memory SQLite, for runs by the thousand in Node: same SQL, same triggers, same atomic batches.
 * Only what the service uses of D1 is there.
 */
export function openSqliteD1(): SqliteD1 {
  const sqlite = new DatabaseSync(':memory:')
  for (const file of readdirSync(migrationsFolder).sort()) {
    if (file.endsWith('.sql')) sqlite.exec(readFileSync(migrationsFolder + file, 'utf8'))
  }
  const asObjects = new Map<string, StatementSync>()
  const asArrays = new Map<string, StatementSync>()
  const prepare = (sql: string, arrays: boolean) => {
    const known = arrays ? asArrays : asObjects
    const before = known.get(sql)
    if (before !== undefined) return before
    const statement = sqlite.prepare(sql)
    if (arrays) statement.setReturnArrays(true)
    known.set(sql, statement)
    return statement
  }
  const execute = ({ sql, values }: Bound) => ({
    results: prepare(sql, false).all(...values) as readonly Row[],
    success: true as const,
    meta: {},
  })

  /** All or nothing, as D1 promises of a batch; a single statement is that by itself. */
  const atomically = <T, R>(items: readonly T[], act: (item: T) => R, failAt?: number): R[] => {
    const isOne = items.length === 1 && failAt === undefined
    if (!isOne) sqlite.exec('SAVEPOINT step')
    try {
      const results = items.map((item, i) => {
        if (i === failAt) throw new Error('the database failed between two statements')
        return act(item)
      })
      if (failAt !== undefined && failAt >= items.length) throw new Error('the database failed at the commit')
      if (!isOne) sqlite.exec('RELEASE step')
      return results
    } catch (cause) {
      if (!isOne) sqlite.exec('ROLLBACK TO step; RELEASE step')
      throw new Error(`D1_ERROR: ${cause instanceof Error ? cause.message : 'failed'}: SQLITE_CONSTRAINT`)
    }
  }

  const connect = (carry: Carrier): D1Database => {
    const one = <R>(bound: Bound, act: (bound: Bound) => R): Promise<R> =>
      carry(
        (failAt) => {
          const [result] = atomically([bound], act, failAt)
          return result as R // one statement, one result
        },
        [bound.sql],
      )
    const statement = (sql: string, values: readonly SQLInputValue[]) => {
      const all = () => one({ sql, values }, execute)
      return {
        sql,
        values,
        bind: (...bound: readonly unknown[]) => statement(sql, bound.map(toSqlite)),
        all,
        run: all,
        first: async () => (await all()).results[0] ?? null,
        raw: () => one({ sql, values }, (bound) => prepare(bound.sql, true).all(...bound.values)),
      }
    }
    const db = {
      prepare: (sql: string) => statement(sql, []),
      batch: (statements: readonly Bound[]) =>
        carry(
          (failAt) => atomically(statements, execute, failAt),
          statements.map(({ sql }) => sql),
        ),
    }
    return db as unknown as D1Database // safe: the part of it that the service uses
  }

  return {
    sqlite,
    connect,
    begin: () => sqlite.exec('BEGIN'),
    undo: () => sqlite.exec('ROLLBACK'),
  }
}

function toSqlite(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  throw new Error(`D1_TYPE_ERROR: ${typeof value} can't be bound`)
}
