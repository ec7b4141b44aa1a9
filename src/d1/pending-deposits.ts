import { and, asc, eq, lte, type SQL, sql } from 'drizzle-orm'
import type { PendingDeposits } from '../deposits/pending-deposits.ts'
import { pendingStatements, putBackStatements, removalStatements } from './bulk-statements.ts'
import { batchAll, type Database, openTables } from './database.ts'
import { readPending } from './rows.ts'
import { build, names, param, statement } from './statement.ts'
import { pendingDeposits, scans } from './tables.ts'

/** Pending deposits that one caller is shown. */
const shownMax = 100

const { txid, position, uid, height, since, next_try, reason } = pendingDeposits
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

    async takeDue({ dueBy, nextTry, max, uid: caller }) {
      const take = caller === null ? takePending : takeOwnPending
      const { results } = await take(db, { dueBy, nextTry, max, uid: caller }).run<
        typeof pendingDeposits.$inferSelect
      >()
      // RETURNING has no order of its own.
      return results.map(readPending).sort((a, b) => a.since - b.since || a.block.height - b.block.height)
    },

    putBack: (keys, at) => batchAll(db, putBackStatements(db, keys, at)),

    remove: (keys) => batchAll(db, removalStatements(db, keys)),
  }
}

// The time of the next try comes first: by age alone, a few that cannot be decided would keep out all others.
const order = names(next_try, since, height, txid, position)
const isHalted = sql`EXISTS (SELECT 1 FROM ${scans} WHERE ${scans.halted} IS NOT NULL)`
const takeWhere = (condition: SQL | undefined) =>
  statement(
    build
      .update(pendingDeposits)
      .set({ next_try: param('nextTry') })
      .where(sql`(${txid}, ${position}) IN (
        SELECT ${names(txid, position)}
        FROM (
          SELECT ${names(next_try, since, height, txid, position)},
            row_number() OVER (PARTITION BY ${names(uid)} ORDER BY ${order}) AS turn
          FROM ${pendingDeposits} WHERE ${condition} AND ${reason} <> 'retired' AND NOT ${isHalted}
        )
        ORDER BY turn, ${order} LIMIT ${param('max')})`)
      .returning(),
  )
const isDue = lte(next_try, param('dueBy'))
const takePending = takeWhere(isDue)
const takeOwnPending = takeWhere(and(eq(uid, param('uid')), isDue))
