import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { readMigrations } from './database-file.ts'

/** The work of one round trip. With `failAt` it fails before that statement of the batch and rolls the others back. */
export type DatabaseWork<T> = (failAt?: number) => T

/**
 * Performs one round trip to the database: it decides when `work` runs, whether it runs, and what the caller receives.
 * `statements` is the SQL of the work.
 */
export type RoundTrip = <T>(work: DatabaseWork<T>, statements: readonly string[]) => Promise<T>

/** A database with the real migrations. */
export interface SqliteD1 {
  /** The database itself, for reads and writes that bypass the service. */
  readonly sqlite: DatabaseSync
  /** A D1 whose round trips all go through `roundTrip`. */
  connect(roundTrip: RoundTrip): D1Database
  /** Marks the present state of all rows. */
  begin(): void
  /** Returns to the state at `begin`: an empty database in microseconds, and all statements stay prepared. */
  rollBack(): void
  /**
   * From now on, `changed` is called with each row of these tables that is inserted, updated or deleted by its `id`, also
   * where a transaction is rolled back.
   */
  watch(tables: readonly string[], changed: (table: string, id: number) => void): void
}

interface Bound {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

type Row = Readonly<Record<string, unknown>>
type Prepare = (sql: string, asArrays: boolean) => StatementSync

/**
 * A D1 over an in-memory SQLite, for thousands of runs in Node: same SQL, same triggers, same atomic batches.
 * It has only the part of D1 that the service uses. With `file`, that of wrangler, it is over that database as it is.
 */
export function openSqliteD1(file?: string): SqliteD1 {
  const sqlite = new DatabaseSync(file ?? ':memory:')
  if (file === undefined) for (const sql of readMigrations()) sqlite.exec(sql)
  const prepare = createPrepare(sqlite)
  return {
    sqlite,
    connect: (roundTrip) => connect(sqlite, prepare, roundTrip),
    begin: () => sqlite.exec('BEGIN'),
    rollBack: () => sqlite.exec('ROLLBACK'),
    watch: (tables, changed) => watch(sqlite, tables, changed),
  }
}

function watch(sqlite: DatabaseSync, tables: readonly string[], changed: (table: string, id: number) => void): void {
  sqlite.function('note_change', (table, id) => {
    changed(String(table), Number(id))
    return null
  })
  const steps = { INSERT: 'NEW', UPDATE: 'NEW', DELETE: 'OLD' }
  for (const table of tables) {
    for (const [step, row] of Object.entries(steps)) {
      const name = `temp.note_${step}_of_${table}`
      sqlite.exec(`CREATE TRIGGER ${name} AFTER ${step} ON main.${table}
        BEGIN SELECT note_change('${table}', ${row}.id); END`)
    }
  }
}

/** Prepares each statement once for each form of its rows. */
function createPrepare(sqlite: DatabaseSync): Prepare {
  const objectStatements = new Map<string, StatementSync>()
  const arrayStatements = new Map<string, StatementSync>()
  return (sql, asArrays) => {
    const prepared = asArrays ? arrayStatements : objectStatements
    const existing = prepared.get(sql)
    if (existing !== undefined) return existing
    const statement = sqlite.prepare(sql)
    if (asArrays) statement.setReturnArrays(true)
    prepared.set(sql, statement)
    return statement
  }
}

/** A text or a name, or a parameter, perhaps of LIMIT. */
const parameterForm = /'[^']*'|"[^"]*"|(?:LIMIT )?\?/g
/** Of each statement, which parameters are those of LIMIT, and the texts in which they are written out. */
const statements = new Map<string, { readonly areLimits: readonly boolean[]; readonly written: Map<string, string> }>()

/** SQLite compiles a statement anew for each value of LIMIT, which takes most of its time: such values are written out. */
function writeLimits({ sql, values }: Bound): Bound {
  const { areLimits, written } = statements.get(sql) ?? noteStatement(sql)
  if (!areLimits.includes(true)) return { sql, values }
  const limits = values.filter((_, i) => areLimits[i])
  const key = limits.join()
  const text = written.get(key) ?? sql.replaceAll('LIMIT ?', () => `LIMIT ${limits.shift()}`)
  written.set(key, text)
  return { sql: text, values: values.filter((_, i) => !areLimits[i]) }
}

function noteStatement(sql: string) {
  const parameters = [...sql.matchAll(parameterForm)].map(([found]) => found).filter((found) => found.endsWith('?'))
  const statement = { areLimits: parameters.map((found) => found !== '?'), written: new Map<string, string>() }
  statements.set(sql, statement)
  return statement
}

function connect(sqlite: DatabaseSync, prepare: Prepare, roundTrip: RoundTrip): D1Database {
  const execute = (bound: Bound) => {
    const { sql, values } = writeLimits(bound)
    return { results: prepare(sql, false).all(...values) as readonly Row[], success: true as const, meta: {} }
  }
  const single = <R>(bound: Bound, run: (bound: Bound) => R): Promise<R> =>
    roundTrip(
      (failAt) => {
        const [result] = runAtomically(sqlite, [bound], run, failAt)
        return result as R // one statement, one result
      },
      [bound.sql],
    )
  const statement = (sql: string, values: readonly SQLInputValue[]) => {
    const all = () => single({ sql, values }, execute)
    return {
      sql,
      values,
      bind: (...bound: readonly unknown[]) => statement(sql, bound.map(toSqlite)),
      all,
      run: all,
      first: async () => (await all()).results[0] ?? null,
      raw: () =>
        single({ sql, values }, (bound) => {
          const written = writeLimits(bound)
          return prepare(written.sql, true).all(...written.values)
        }),
    }
  }
  const db = {
    prepare: (sql: string) => statement(sql, []),
    batch: (statements: readonly Bound[]) =>
      roundTrip(
        (failAt) => runAtomically(sqlite, statements, execute, failAt),
        statements.map(({ sql }) => sql),
      ),
  }
  return db as unknown as D1Database // safe: the part of it that the service uses
}

/** All or nothing, as D1 guarantees for a batch; a single statement is atomic by itself. */
function runAtomically<T, R>(sqlite: DatabaseSync, items: readonly T[], run: (item: T) => R, failAt?: number): R[] {
  const needsSavepoint = items.length !== 1 || failAt !== undefined
  if (needsSavepoint) sqlite.exec('SAVEPOINT step')
  try {
    const results = items.map((item, i) => {
      if (i === failAt) throw new Error('the database failed between two statements')
      return run(item)
    })
    if (failAt !== undefined && failAt >= items.length) throw new Error('the database failed at the commit')
    if (needsSavepoint) sqlite.exec('RELEASE step')
    return results
  } catch (cause) {
    if (needsSavepoint) sqlite.exec('ROLLBACK TO step; RELEASE step')
    throw new Error(`D1_ERROR: ${cause instanceof Error ? cause.message : 'failed'}: SQLITE_CONSTRAINT`)
  }
}

function toSqlite(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  throw new Error(`D1_TYPE_ERROR: ${typeof value} can't be bound`)
}
