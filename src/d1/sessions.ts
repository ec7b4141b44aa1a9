import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Usage } from '../platform/usage.ts'
import type { Database } from './database.ts'
import { meterDatabase } from './metered-database.ts'

/** What a caller has seen of the database's history, before and after an answer, and what the answer costs. */
interface Caller {
  readonly usage: Usage
  /** As the caller says itself, or null. */
  readonly bookmark: string | null
  bookmarkAfter: string | null
}

/** Work that needs the database. */
type Work<T> = (db: Database) => Promise<T>

/** Ways to the database and its read-only copies (D1's Sessions API). */
export interface Sessions {
  /**
   * For reading: any copy that has come as far as the caller's bookmark. Without one the first statement goes to the
   * primary, so that everybody sees their own last write. A bookmark that D1 doesn't take is as none; then the work is
   * done a second time.
   */
  reading<T>(caller: Caller, work: Work<T>): Promise<T>
  /** For what may write: it starts at the primary, and goes on from what it wrote itself. */
  writing<T>(caller: Caller, work: Work<T>): Promise<T>
  /** The primary, always: for what acts for no caller. */
  primary(usage: Usage): Database
}

/** Sessions of one database. */
export function createSessions(
  db: D1Database,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Sessions {
  const from = async <T>(start: string, caller: Caller, work: Work<T>) => {
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
        log.warn('bookmark-refused', {}) // or the database is away: then the second try says so
        return from('first-primary', caller, work)
      }
    },
    writing: (caller, work) => from('first-primary', caller, work),
    primary: (usage) => meterDatabase(db, usage, clock),
  }
}
