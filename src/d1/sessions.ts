import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Usage } from '../platform/usage.ts'
import type { Invocation } from '../services.ts'
import type { Database } from './database.ts'
import { meterDatabase } from './metered-database.ts'

/** Work with a database. */
type Work<T> = (db: Database) => Promise<T>

/** Sessions with the database and its read-only copies (D1's Sessions API). */
export interface Sessions {
  /**
   * For reading: any copy that is at least as new as the caller's bookmark. Without a bookmark the first statement goes to
   * the primary, so that all callers see their own last write. A bookmark that D1 refuses is ignored: the work then runs a
   * second time.
   */
  reading<T>(caller: Invocation, work: Work<T>): Promise<T>
  /** For work that may write: it starts at the primary and sees its own writes. */
  writing<T>(caller: Invocation, work: Work<T>): Promise<T>
  /** Always the primary: for work without a caller. */
  primary(usage: Usage): Database
}

/** Sessions of one database. */
export function createSessions(
  db: D1Database,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Sessions {
  const from = async <T>(start: string, caller: Invocation, work: Work<T>) => {
    const session = db.withSession(start)
    const result = await work(meterDatabase(session, caller.usage, clock))
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
    primary: (usage) => meterDatabase(db, usage, clock),
  }
}
