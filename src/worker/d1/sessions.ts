import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { metered, type Usage } from '../platform/usage.ts'
import { type ReadDatabase, type WriteDatabase, writable } from './database.ts'

/**
 * One HTTP request or RPC call: its cost so far, and its caller's bookmark (a point in the history
 * of the database, as a text of D1).
 */
export interface Invocation {
  readonly usage: Usage
  /**
   * The bookmark that the caller has sent: the caller must not see an older state of the database.
   * Null if none was sent. A handler sets it to null to read at the primary database.
   */
  bookmark: string | null
  /** The bookmark to return with the answer; null if the database was not read. */
  bookmarkAfter: string | null
}

/** Sessions with the database and its read-only copies (D1's Sessions API). */
export interface Sessions {
  /**
   * Runs `work` on a copy that is at least as new as the caller's bookmark. Without a bookmark the
   * first statement goes to the primary database, so that callers see their own last write. If D1
   * refuses the bookmark, `work` runs a second time without the bookmark. So `work` must be
   * repeatable.
   */
  reading<T>(caller: Invocation, work: (db: ReadDatabase) => Promise<T>): Promise<T>
  /** Runs `work` in a session that begins at the primary database and sees its own writes. */
  writing<T>(caller: Invocation, work: (db: WriteDatabase) => Promise<T>): Promise<T>
  /** The primary database itself, for work that no request waits for: ticks, deliveries, checks. */
  primary(usage: Usage): WriteDatabase
}

/**
 * Makes the sessions of one database. Each statement, and the rows that it reads, are added to the
 * `usage` of its request or call.
 */
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
        // a refused bookmark cannot be told from other errors of D1; after another error the second
        // attempt throws, too
        logger.warn('bookmark-refused', {})
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
 * Wraps the database so that every statement, and every row that it reads, is added to `usage`.
 * Only `all` of D1 tells how many rows were read, and returns rows as objects. So `raw` and `first`
 * also use `all` here, and the columns of each statement need different names.
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

/**
 * Adds the rows that D1 says a statement has read to `usage`. The simulation's database does not
 * say it, so there no rows are counted.
 */
function note(usage: Usage, { meta }: D1Result): void {
  usage.rowsRead += meta.rows_read ?? 0
  usage.databaseBytes = meta.size_after ?? usage.databaseBytes
}
