import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { readMigrations } from './database-file.ts'

/**
 * The work of one round trip to the database. With `failAt` it throws before the statement at that
 * index, and earlier statements are rolled back.
 */
export type DatabaseWork<T> = (failAt?: number) => T

/**
 * Carries out a round trip: decides when and whether `work` runs, and what the caller gets.
 * `statements` is the SQL of `work`, and `values` what is bound to each.
 */
export type RoundTrip = <T>(
  work: DatabaseWork<T>,
  statements: readonly string[],
  values: readonly (readonly SQLInputValue[])[],
) => Promise<T>

export interface SqliteD1 {
  /** The SQLite database, for reads and writes that the test makes without D1. */
  readonly sqlite: DatabaseSync
  /** A D1 that makes each of its round trips through `roundTrip`. */
  connect(roundTrip: RoundTrip): D1Database
  /** Begins a transaction around everything that follows, for `rollBack`. */
  begin(): void
  /**
   * Undoes everything since `begin`. Prepared statements stay valid, so the next run of the test
   * begins within microseconds.
   */
  rollBack(): void
  /**
   * From now on calls `changed` with the `id` of each row of these tables that is inserted, updated
   * or deleted, even if the change is rolled back later.
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
 * Opens a D1 over SQLite in Node, for tests with thousands of runs: with the same SQL and triggers,
 * and batches that are stored whole or not at all. Only the part of D1 that the service uses
 * exists. By default it is in memory, with all migrations applied. `file` opens an existing
 * database, such as wrangler's, as it is. With `hasSize` each reply has the size of the database,
 * as D1's has.
 */
export function openSqliteD1(file?: string, { hasSize = false } = {}): SqliteD1 {
  const sqlite = new DatabaseSync(file ?? ':memory:')
  if (file === undefined) for (const sql of readMigrations()) sqlite.exec(sql)
  const prepare = createPrepare(sqlite)
  return {
    sqlite,
    connect: (roundTrip) => connect(sqlite, prepare, roundTrip, hasSize ? sizeOf(sqlite) : () => ({})),
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

/** Prepares each statement once for rows as objects and once for rows as arrays. */
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

/**
 * Matches quoted texts and names, because they can contain a `?`, and each parameter `?` together
 * with a LIMIT before it.
 */
const parameterForm = /'[^']*'|"[^"]*"|(?:LIMIT )?\?/g
/**
 * For each SQL text: which of its parameters follow LIMIT, and for each used value of LIMIT the
 * text that has the value written in.
 */
const statements = new Map<string, { readonly areLimits: readonly boolean[]; readonly written: Map<string, string> }>()

/**
 * Writes the values of LIMIT into the SQL. If they were parameters, SQLite would compile the
 * statement again for each value, which takes most of its time.
 */
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

function sizeOf(sqlite: DatabaseSync) {
  const size = sqlite.prepare('SELECT page_count * page_size AS size_after FROM pragma_page_count, pragma_page_size')
  return () => size.get() ?? {}
}

function connect(
  sqlite: DatabaseSync,
  prepare: Prepare,
  roundTrip: RoundTrip,
  readMeta: () => Readonly<Record<string, unknown>>,
): D1Database {
  const execute = (bound: Bound) => {
    const { sql, values } = writeLimits(bound)
    return { results: prepare(sql, false).all(...values) as readonly Row[], success: true as const, meta: readMeta() }
  }
  const single = <R>(bound: Bound, run: (bound: Bound) => R): Promise<R> =>
    roundTrip(
      (failAt) => {
        const [result] = runAtomically(sqlite, [bound], run, failAt)
        return result as R // safe: one statement has one result
      },
      [bound.sql],
      [bound.values],
    )
  const statement = (sql: string, values: readonly SQLInputValue[]) => {
    const all = () => single({ sql, values }, execute)
    return {
      sql,
      values,
      bind: (...bound: readonly unknown[]) => statement(sql, bound.map(toSqlite)),
      all,
      run: all,
      first: async (column?: string) => {
        const [row] = (await all()).results
        return (column === undefined ? row : row?.[column]) ?? null
      },
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
        statements.map(({ values }) => values),
      ),
  }
  return db as unknown as D1Database // safe: it has all members of a D1Database that the service uses
}

/**
 * Runs all statements or none, as D1 does with a batch. A single statement needs no savepoint,
 * because SQLite runs it wholly or not at all.
 */
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
