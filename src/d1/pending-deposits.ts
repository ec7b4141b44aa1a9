import { and, asc, eq, lte, sql } from 'drizzle-orm'
import type { PendingDeposits } from '../deposits/pending-deposits.ts'
import { pendingStatements, removalStatements } from './bulk-statements.ts'
import { batchAll, type Database, openTables } from './database.ts'
import { readPending } from './rows.ts'
import { build, param, statement } from './statement.ts'
import { pendingDeposits } from './tables.ts'

/** Pending deposits that one caller is shown. */
const shownMax = 100

const { txid, position, uid, height, since, next_try } = pendingDeposits
const oldestFirst = [asc(since), asc(height), asc(txid), asc(position)]

/** Pending deposits over D1. */
export function createPendingDeposits(db: Database): PendingDeposits {
  return {
    async of(caller, transaction) {
      const rows = await openTables(db)
        .select()
        .from(pendingDeposits)
        .where(and(eq(uid, caller), transaction === null ? undefined : eq(txid, transaction)))
        .orderBy(...oldestFirst)
        .limit(shownMax)
      return rows.map(readPending)
    },

    keep: (pending, at) => batchAll(db, pendingStatements(db, pending, at)),

    async takeDue(at, nextTry, max) {
      const { results } = await takePending(db, { at, nextTry, max }).run<typeof pendingDeposits.$inferSelect>()
      // RETURNING has no order of its own.
      return results.map(readPending).sort((a, b) => a.since - b.since || a.block.height - b.block.height)
    },

    remove: (keys) => batchAll(db, removalStatements(db, keys)),
  }
}

// The time of the next try comes first: by age alone, a few that cannot be decided would keep out all others.
const due = build
  .select({ txid, position })
  .from(pendingDeposits)
  .where(lte(next_try, param('at')))
  .orderBy(asc(next_try), ...oldestFirst)
  .limit(sql.placeholder('max'))
const takePending = statement(
  build
    .update(pendingDeposits)
    .set({ next_try: param('nextTry') })
    .where(sql`(${txid}, ${position}) IN ${due}`)
    .returning(),
)
