import { and, asc, eq, lte, type SQL, sql } from 'drizzle-orm'
import type { PendingDeposits } from '../deposits/pending-deposits.ts'
import { pendingStatements, putBackStatements, refusalStatements, removalStatements } from './bulk-statements.ts'
import { batchAll, type Database, openTables } from './database.ts'
import { readPending, readRefusal } from './rows.ts'
import { scans } from './scan-tables.ts'
import { build, names, param, statement } from './statement.ts'
import { pendingDeposits, refusals } from './tables.ts'

/** Pending deposits that one caller is shown. */
const shownMax = 100

const { id, txid, uid, cuy, next_try, reason } = pendingDeposits

/** The queue of candidates over D1. */
export function createPendingDeposits(db: Database): PendingDeposits {
  return {
    async of(caller, transaction) {
      const rows = await openTables(db)
        .select()
        .from(pendingDeposits)
        .where(and(eq(uid, caller), transaction === null ? undefined : eq(txid, transaction)))
        .orderBy(asc(id))
        .limit(shownMax)
      return rows.map(readPending)
    },

    keep: (pending, at) => batchAll(db, pendingStatements(db, pending, at)),

    async takeDue({ dueBy, nextTry, max, uid: caller, txid: transaction, accepted }) {
      const take = caller === null ? takePending : transaction === null ? takeOwnPending : takeTransaction
      const values = { dueBy, nextTry, max, uid: caller, txid: transaction, accepted: JSON.stringify(accepted) }
      const { results } = await take(db, values).run<typeof pendingDeposits.$inferSelect>()
      // RETURNING has no order of its own.
      return results.sort((a, b) => a.id - b.id).map(readPending)
    },

    putBack: (keys, at) => batchAll(db, putBackStatements(db, keys, at)),

    refuse: (refused, at) => batchAll(db, refusalStatements(db, refused, at)),

    async refusals(caller, transaction) {
      const rows = await openTables(db)
        .select()
        .from(refusals)
        .where(and(eq(refusals.txid, transaction), eq(refusals.uid, caller)))
        .orderBy(asc(refusals.position))
      return rows.map(readRefusal)
    },

    remove: (keys) => batchAll(db, removalStatements(db, keys)),
  }
}

// What was never tried comes first, so that what cannot be decided delays nothing else. Then the time of the next try: by age
// alone, a few that cannot be decided would keep out all others.
const order = sql`${names(reason)} <> 'queued', ${names(next_try, id)}`
const isHalted = sql`EXISTS (SELECT 1 FROM ${scans} WHERE ${scans.halted} IS NOT NULL)`
// Two parts, because each has an index. What waits in a retired currency is not read at all, however much it is.
const isRetired = sql`${reason} = 'retired' AND ${cuy} IN (SELECT value FROM json_each(${param('accepted')}))`
const columns = names(reason, next_try, id, uid)
const takeWhere = (condition: SQL | undefined) =>
  statement(
    build
      .update(pendingDeposits)
      .set({ next_try: param('nextTry') })
      .where(sql`${id} IN (
        SELECT ${names(id)}
        FROM (
          SELECT ${names(reason, next_try, id)},
            row_number() OVER (PARTITION BY ${names(uid)} ORDER BY ${order}) AS turn
          FROM (
            SELECT ${columns} FROM ${pendingDeposits} WHERE ${condition} AND ${reason} <> 'retired'
            UNION ALL
            SELECT ${columns} FROM ${pendingDeposits} WHERE ${condition} AND ${isRetired}
          ) WHERE NOT ${isHalted}
        )
        ORDER BY turn, ${order} LIMIT ${param('max')})`)
      .returning(),
  )
const isDue = lte(next_try, param('dueBy'))
const takePending = takeWhere(isDue)
const takeOwnPending = takeWhere(and(eq(uid, param('uid')), isDue))
const takeTransaction = takeWhere(and(eq(uid, param('uid')), eq(txid, param('txid'))))
