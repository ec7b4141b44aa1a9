import { and, asc, eq, isNull, lte, sql } from 'drizzle-orm'
import type { BlockHeight } from '../chain/block.ts'
import type { Rescans } from '../scan/rescans.ts'
import { gapStatements, movementStatements, pendingStatements } from './bulk-statements.ts'
import { type Database, openTables } from './database.ts'
import { rescans } from './scan-tables.ts'
import { build, param, statement } from './statement.ts'

/** Ranges that are read again, over D1. */
export function createRescans(db: Database): Rescans {
  return {
    async due(at) {
      const row = await openTables(db)
        .select({ id, kind, next: next_height, to: to_height })
        .from(rescans)
        .where(and(isNull(finished_at), lte(next_try, at)))
        .orderBy(asc(next_try), asc(id))
        .limit(1)
        .get()
      return row ?? null
    },

    async record({ id: rescan, next, nextTry, candidates, movements, unreadable, at }) {
      await db.batch([
        moveRescan(db, { id: rescan, next, nextTry, at }),
        ...pendingStatements(db, candidates, at),
        ...movementStatements(db, movements),
        ...gapStatements(db, unreadable, at),
      ])
    },

    async gaps() {
      const row = await selectGaps(db).first<{ count: number; lowest: BlockHeight | null }>()
      return row ?? { count: 0, lowest: null }
    },
  }
}

const { id, kind, from_height, to_height, next_height, next_try, finished_at } = rescans

/** Never backwards: what two ticks read at the same time is stored by both. */
const moveRescan = statement(
  build
    .update(rescans)
    .set({
      next_height: param('next'),
      next_try: param('nextTry'),
      finished_at: sql`iif(${param('next')} > ${to_height}, ${param('at')}, NULL)`,
    })
    .where(and(eq(id, param('id')), isNull(finished_at), lte(next_height, param('next')))),
)

const selectGaps = statement(
  build
    .select({ count: sql`count(*)`.as('count'), lowest: sql`min(${from_height})`.as('lowest') })
    .from(rescans)
    .where(and(eq(kind, 'gap'), isNull(finished_at))),
)
