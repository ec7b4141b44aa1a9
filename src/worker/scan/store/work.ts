import { lte, type SQL, sql } from 'drizzle-orm'
import type { BlockHeight } from '../../chain/block.ts'
import { dayMs, type UnixMs } from '../../common/time.ts'
import { fixedStatement, type ReadDatabase } from '../../d1/database.ts'
import { issuerActs } from '../../d1/issuer-tables.ts'
import { isDueOrder, orders } from '../../d1/order-tables.ts'
import { payouts, payoutTransactions } from '../../d1/payout-tables.ts'
import { rescans, scans, sizes, webhooks } from '../../d1/state-tables.ts'
import { addresses, transfers } from '../../d1/tables.ts'
import { droppedKeptMs } from '../../deposits/store/transfers.ts'
import { selectOldest } from '../../events/store/events.ts'

/** The work that a tick has to do besides the scan, according to the database. */
export interface TickWork {
  /**
   * The lowest height, above the scan's position, of a block in which a transfer or a payout's
   * transaction was seen; null if there is none.
   */
  readonly firstSeen: BlockHeight | null
  /** Whether any transfer is held (not decided yet), so that a tick may decide it now. */
  readonly hasHeld: boolean
  /**
   * Whether credited transfers must be found again, because an operator has lowered the finalized
   * height below them.
   */
  readonly hasSought: boolean
  /** Whether any range of blocks waits to be read again, even if its time has not come yet. */
  readonly hasRescans: boolean
  /** Whether dropped transfers are old enough to be removed. */
  readonly hasOld: boolean
  /** Whether a webhook endpoint has events to deliver. */
  readonly hasEvents: boolean
  /** Whether the oldest event is past the time for which events are kept. */
  readonly hasOldEvents: boolean
  /** Whether the time of any open order has passed. */
  readonly hasDueOrders: boolean
  /** Whether any address was issued. */
  readonly hasAddress: boolean
  /** Whether a payout's transaction is open, so that it can still be mined. */
  readonly hasSigned: boolean
  /** Whether payouts are approved, signed or stuck, or an unexplained transaction stops them. */
  readonly hasPayouts: boolean
  /** Whether any act of a token issuer is stored. */
  readonly hasActs: boolean
  /** The newest day with a stored size; 0 if there is none. */
  readonly sizeDay: number
}

/**
 * Reads, in one statement, the work that a tick has to do. Indexes find the rows with work, so it
 * reads few other rows.
 */
export async function selectWork(
  db: ReadDatabase,
  { now, eventsKeepDays }: { readonly now: UnixMs; readonly eventsKeepDays: number },
): Promise<TickWork> {
  const times = { now, droppedBefore: now - droppedKeptMs, eventsBefore: now - eventsKeepDays * dayMs }
  const row = await select(db, times).first<WorkRow>()
  if (row === null) throw new Error('a query without FROM has a row')
  const { firstSeen, sizeDay, ...flags } = row
  const is = Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, value === 1]))
  return { ...(is as Record<keyof typeof flags, boolean>), firstSeen, sizeDay } // safe: `is` has the names of `flags`
}

/** SQLite returns a flag as 1 or 0. */
type WorkRow = { readonly [Name in keyof TickWork]: TickWork[Name] extends boolean ? number | null : TickWork[Name] }

const { state, height, sought, review, changed_at } = transfers
const { seen_height, ended, excused } = payoutTransactions
const any = (index: string, condition: SQL) =>
  sql`EXISTS (SELECT 1 FROM ${transfers} INDEXED BY ${sql.raw(index)} WHERE ${condition})`
const position = sql`(SELECT ${scans.height} FROM ${scans})`
const isOld = lte(changed_at, sql.placeholder('droppedBefore'))

const select = fixedStatement<'droppedBefore' | 'eventsBefore' | 'now'>(sql`SELECT
  (SELECT min(seen) FROM (
    SELECT * FROM (SELECT ${height} AS seen FROM ${transfers} INDEXED BY transfer_seen
      WHERE ${state} = 'seen' AND ${height} > ${position} ORDER BY ${height} LIMIT 1)
    UNION ALL SELECT ${seen_height} FROM ${payoutTransactions} INDEXED BY payout_transaction_open
      WHERE ${ended} IS NULL AND ${seen_height} > ${position})) AS "firstSeen",
  ${any('transfer_held', sql`${state} = 'held'`)} AS "hasHeld",
  ${any('transfer_sought', sql`${sought} = 1`)} AS "hasSought",
  EXISTS (SELECT 1 FROM ${rescans} INDEXED BY rescan_open WHERE ${rescans.finished_at} IS NULL) AS "hasRescans",
  ${any('transfer_dropped', sql`${state} = 'dropped' AND ${review} IS NULL AND ${isOld}`)} AS "hasOld",
  EXISTS (SELECT 1 FROM ${webhooks} WHERE ${webhooks.position} < (SELECT id FROM last_event)) AS "hasEvents",
  (SELECT count(*) > 0 FROM (${selectOldest(sql`${sql.placeholder('eventsBefore')}`, sql`1`)})) AS "hasOldEvents",
  EXISTS (SELECT 1 FROM ${orders} INDEXED BY order_due
    WHERE ${sql.raw(isDueOrder)} AND ${orders.until} <= ${sql.placeholder('now')}) AS "hasDueOrders",
  EXISTS (SELECT 1 FROM ${addresses}) AS "hasAddress",
  EXISTS (SELECT 1 FROM ${payoutTransactions} INDEXED BY payout_transaction_open WHERE ${ended} IS NULL) AS "hasSigned",
  (EXISTS (SELECT 1 FROM ${payouts} INDEXED BY payout_state WHERE ${payouts.state} IN ('approved', 'signed', 'stuck'))
    OR EXISTS (SELECT 1 FROM ${payoutTransactions} INDEXED BY payout_transaction_unresolved
      WHERE ${ended} IN ('unknown', 'late') AND ${excused} IS NULL)) AS "hasPayouts",
  EXISTS (SELECT 1 FROM ${issuerActs}) AS "hasActs",
  (SELECT coalesce(max(${sizes.day}), 0) FROM ${sizes}) AS "sizeDay"`)
