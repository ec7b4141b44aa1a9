import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { metered, type Usage } from '../platform/usage.ts'
import { type ReadDatabase, type WriteDatabase, writable } from './database.ts'

/** One request or call: its cost so far, and the bookmark of its caller. */
export interface Invocation {
  readonly usage: Usage
  /** The position in the history of the database that the caller has seen, or null. */
  readonly bookmark: string | null
  /** The bookmark after the answer, or null if the database was not read. */
  bookmarkAfter: string | null
}

/** Sessions with the database and its read-only copies (D1's Sessions API). */
export interface Sessions {
  /**
   * For reading: any copy that is at least as new as the caller's bookmark. Without a bookmark the first statement goes to the primary, so that callers see
   * their own last write. A bookmark that D1 refuses is ignored; then the work runs a second time.
   */
  reading<T>(caller: Invocation, work: (db: ReadDatabase) => Promise<T>): Promise<T>
  /** For work that may write: it starts at the primary and sees its own writes. */
  writing<T>(caller: Invocation, work: (db: WriteDatabase) => Promise<T>): Promise<T>
  /** Always the primary: for work without a caller. */
  primary(usage: Usage): WriteDatabase
}

/** Sessions of one database. */
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
        logger.warn('bookmark-refused', {}) // or D1 is unavailable: then the second attempt throws
        return from('first-primary', caller, work)
      }
    },
    writing: (caller, work) => from('first-primary', caller, work),
    primary: (usage) => meterDatabase(writable(db), usage, clock),
  }
}

/** A statement of `meterDatabase`. `inner` is the statement of D1. */
interface Metered extends D1PreparedStatement {
  readonly inner: D1PreparedStatement
}

/**
 * Adds every statement, and every row that it reads, to `usage`. D1 returns the number of rows read only together with rows as objects, so `raw` and `first`
 * request those, too. Therefore the columns of each statement need different names.
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
    return statement as unknown as Metered // safe: the part of it that queries and Drizzle use
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
  return metering as unknown as WriteDatabase // safe: as above
}

/** Adds the numbers in a reply. A database without them, as in the simulation, counts as reading no rows. */
function note(usage: Usage, { meta }: D1Result): void {
  usage.rowsRead += meta.rows_read ?? 0
  usage.databaseBytes = meta.size_after ?? usage.databaseBytes
}
