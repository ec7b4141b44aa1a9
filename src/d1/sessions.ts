import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Usage } from '../platform/usage.ts'
import { type ReadDatabase, type WriteDatabase, writable } from './database.ts'
import { meterDatabase } from './metered-database.ts'

/** A request: what it has cost, and how new the data is that its caller has seen. */
export interface SessionCaller {
  readonly usage: Usage
  /** The caller's bookmark in the history of the database, or null. */
  readonly bookmark: string | null
  /** The bookmark after the answer, or null where the database was not read. */
  bookmarkAfter: string | null
}

/** Sessions with the database and its read-only copies (D1's Sessions API). */
export interface Sessions {
  /**
   * For reading: any copy that is at least as new as the caller's bookmark. Without a bookmark the first statement goes to
   * the primary, so that all callers see their own last write. A bookmark that D1 refuses is ignored: the work then runs a
   * second time.
   */
  reading<T>(caller: SessionCaller, work: (db: ReadDatabase) => Promise<T>): Promise<T>
  /** For work that may write: it starts at the primary and sees its own writes. */
  writing<T>(caller: SessionCaller, work: (db: WriteDatabase) => Promise<T>): Promise<T>
  /** Always the primary: for work without a caller. */
  primary(usage: Usage): WriteDatabase
}

/** Sessions of one database. */
export function createSessions(
  db: D1Database,
  { clock, logger }: { readonly clock: Pick<Clock, 'now'>; readonly logger: Pick<Logger, 'warn'> },
): Sessions {
  const from = async <T>(start: string, caller: SessionCaller, work: (db: WriteDatabase) => Promise<T>) => {
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
