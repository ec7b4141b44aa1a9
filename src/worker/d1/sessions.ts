import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { metered, type Usage } from '../platform/usage.ts'
import { type ReadDatabase, type WriteDatabase, writable } from './database.ts'

/** One HTTP request or RPC call: what it has cost so far, and its caller's bookmark (D1's position in the history of the database). */
export interface Invocation {
  readonly usage: Usage
  /** The bookmark that the caller has sent: the caller has seen the database as it was there. Null if none was sent. */
  readonly bookmark: string | null
  /** The bookmark to return with the answer; null if the database was not read. */
  bookmarkAfter: string | null
}

/** Sessions with the database and its read-only copies (D1's Sessions API). */
export interface Sessions {
  /**
   * Runs `work` on a copy that is at least as new as the caller's bookmark. Without a bookmark the first statement goes to the primary database, so that
   * callers see their own last write. If D1 refuses the bookmark, `work` runs a second time without it, so it must be repeatable.
   */
  reading<T>(caller: Invocation, work: (db: ReadDatabase) => Promise<T>): Promise<T>
  /** Runs `work` in a session that begins at the primary database and sees its own writes. */
  writing<T>(caller: Invocation, work: (db: WriteDatabase) => Promise<T>): Promise<T>
  /** The primary database itself, for work without a caller: ticks, deliveries, checks. */
  primary(usage: Usage): WriteDatabase
}

/** Makes the sessions of one database. Whatever they read is added to the `usage` of the call. */
export function createSessions(
  db: D1Database,
  { clock, logger }: { readonly clock: Pick<Clock, 'now'>; readonly logger: Pick<Logger, 'warn'> },
): Sessions {
  const from = async <T>(start: string, caller: Invocation, work: (db: WriteDatabase) => Promise<T>) => {
    const session = db.withSession(start)
    const result = await work(meterDatabase(writable(session), caller.usage, clock))
    caller.bookmarkAfter = session.getBookmark()
    return result
  }
  return {
    async reading(caller, work) {
      if (caller.bookmark === null) return from('first-primary', caller, work)
      try {
        return await from(caller.bookmark, caller, work)
      } catch {
        logger.warn('bookmark-refused', {}) // a refused bookmark looks like any error of D1: if it is another one, the second attempt throws, too
        return from('first-primary', caller, work)
      }
    },
    writing: (caller, work) => from('first-primary', caller, work),
    primary: (usage) => meterDatabase(writable(db), usage, clock),
  }
}

/** A statement that `meterDatabase` has wrapped. `inner` is D1's own, which a batch needs. */
interface Metered extends D1PreparedStatement {
  readonly inner: D1PreparedStatement
}

/**
 * Returns the database with every statement, and every row that it reads, added to `usage`. D1 tells how many rows it has read only with `all`, which returns
 * rows as objects. So `raw` and `first` use `all`, too, and the columns of each statement need different names.
 */
export function meterDatabase(db: WriteDatabase, usage: Usage, clock: Pick<Clock, 'now'>): WriteDatabase {
  const whole = async <T>(statement: D1PreparedStatement) => {
    const result = await metered(usage.database, clock, 1, () => statement.all<T>())
    note(usage, result)
    return result
  }
  const wrap = (inner: D1PreparedStatement): Metered => {
    const all = <T>() => whole<T>(inner)
    const statement = {
      inner,
      bind: (...values: unknown[]) => wrap(inner.bind(...values)),
      all,
      run: all,
      first: async <T>(column?: string) => {
        const [row] = (await whole<Record<string, T>>(inner)).results
        if (row === undefined) return null
        return column === undefined ? row : (row[column] ?? null)
      },
      raw: async () => (await whole<Record<string, unknown>>(inner)).results.map(Object.values),
    }
    return statement as unknown as Metered // safe: queries and Drizzle use only these members
  }
  const metering = {
    prepare: (sql: string) => wrap(db.prepare(sql)),
    batch: async <T>(statements: Metered[]) => {
      const results = await metered(usage.database, clock, statements.length, () =>
        db.batch<T>(statements.map(({ inner }) => inner)),
      )
      for (const result of results) note(usage, result)
      return results
    },
  }
  return metering as unknown as WriteDatabase // safe: a `Database` has only `prepare` and `batch`
}

/** Adds to `usage` what D1 says about a statement. The simulation's database says nothing: then no rows are counted. */
function note(usage: Usage, { meta }: D1Result): void {
  usage.rowsRead += meta.rows_read ?? 0
  usage.databaseBytes = meta.size_after ?? usage.databaseBytes
}
