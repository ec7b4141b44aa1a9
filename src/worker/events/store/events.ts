import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { EntryType, EventId, OrderId } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { archives } from '../../d1/archive-tables.ts'
import { fixedStatement, type ReadDatabase, shown, type WriteDatabase } from '../../d1/database.ts'
import { events, removedEvents } from '../../d1/state-tables.ts'
import { flows, transfers, wallets } from '../../d1/tables.ts'
import { type EntryRow, entriesWithWallet, withTransfer } from '../../ledger/store/entries.ts'
import { type OrderOfEvent, selectOrdersOfEvents } from '../../orders/store/of-events.ts'

type EventRow = typeof events.$inferSelect
/**
 * A stored event, which never changes. The columns that its type does not need are null; CHECKs
 * ensure it. An event that is a ledger entry has the entry's columns; one about a transfer has the
 * transfer's.
 */
export type StoredEvent = EventRow & {
  readonly [Name in 'wallet_id' | 'osn' | 'amount' | 'balance' | 'mark' | 'posted_by']: EntryRow[Name] | null
} & {
  readonly entry_type: EntryType | null
  /** The order to which the transfer belongs, or which has changed; null if there is none. */
  readonly order_id: OrderId | null
  readonly order: OrderOfEvent | null
}

/**
 * Reads up to `max` events with ids above `last`, in order. No event is ever added below one that
 * was read, so a reader continues from the last id.
 */
export async function selectEvents(db: ReadDatabase, last: EventId | 0, max: number): Promise<readonly StoredEvent[]> {
  const { results } = await selectAfter(db, { last, max }).all<Omit<StoredEvent, 'order'>>()
  const ids = results.flatMap(({ order_id }) => order_id ?? [])
  const orders = await selectOrdersOfEvents(db, ids)
  return results.map((event) => ({
    ...event,
    order: event.order_id === null ? null : (orders.get(event.order_id) ?? null),
  }))
}

/**
 * Removes up to `max` of the oldest events from before the time `before`, and returns how many.
 * Ledger entries that are events stay in the ledger.
 */
export async function removeOldEvents(db: WriteDatabase, before: UnixMs, max: number): Promise<number> {
  const [first, kept] = await db.batch<{ readonly last: number }>([
    selectRemoved(db, {}),
    keepRemoved(db, { before, max }),
    deleteRemoved(db, { max }),
  ])
  const last = kept?.results[0]?.last
  return last === undefined ? 0 : last - (first?.results[0]?.last ?? 0) // event numbers have no gap
}

const { id, type, uid, created_at, txid, position, cuy, raw, address, seconds, reason, about } = events
const max = sql.placeholder('max')
/** SQL for the highest id of a removed event; 0 if none was removed. */
export const removed = sql`coalesce((SELECT ${removedEvents.last_id} FROM ${removedEvents}), 0)`

/**
 * Selects events from two tables with one sequence of ids: a ledger entry is its own event, and
 * every other event has a row. Each part reads at most `max` rows.
 */
const selectAfter = fixedStatement<'last' | 'max'>(sql`
SELECT * FROM (
  SELECT ${id} AS id, ${type} AS type, ${uid} AS uid, ${created_at} AS created_at, ${shown(txid)} AS txid,
    ${position} AS position, ${cuy} AS cuy, ${raw} AS raw, ${shown(address)} AS address, ${seconds} AS seconds,
    ${reason} AS reason, ${about} AS about,
    iif(${type} GLOB 'payout.*', NULL, ${about} ->> 0) AS order_id,
    NULL AS entry_type, NULL AS wallet_id, NULL AS osn, NULL AS amount, NULL AS balance, NULL AS mark, NULL AS posted_by
  FROM ${events} WHERE ${id} > max(${sql.placeholder('last')}, ${removed}) ORDER BY ${id} LIMIT ${max})
UNION ALL SELECT * FROM (
  SELECT ${flows.id}, iif(${flows.type} = 1, 'deposit.credited', 'entry.posted'), ${wallets.uid}, ${flows.created_at},
    nullif(lower(hex(${transfers.txid})), ''), ${transfers.position}, ${wallets.cuy}, NULL,
    nullif(lower(hex(${transfers.to_address})), ''), NULL, NULL, NULL,
    iif(${flows.type} = 1, CAST(nullif(${flows.mark}, '') AS INTEGER), NULL),
    ${flows.type}, ${flows.wallet_id}, coalesce(${flows.osn}, ${transfers.osn}), ${flows.amount}, ${flows.balance},
    iif(${flows.type} = 1, 'deposit', ${flows.mark}), ${flows.posted_by}
  FROM ${entriesWithWallet} ${withTransfer}
  WHERE ${flows.id} > max(${sql.placeholder('last')}, ${removed}) ORDER BY ${flows.id} LIMIT ${max})
ORDER BY id LIMIT ${max}`)

/** SQL that selects ids and times of the `limit` oldest events that were not removed. */
const selectFirst = (limit: SQLWrapper) => sql`
    SELECT * FROM (SELECT ${id} AS id, ${created_at} AS at FROM ${events} WHERE ${id} > ${removed}
      ORDER BY ${id} LIMIT ${limit})
    UNION ALL SELECT * FROM (
      SELECT ${flows.id}, ${flows.created_at} FROM ${flows} WHERE ${flows.id} > ${removed} ORDER BY ${flows.id}
        LIMIT ${limit})
    ORDER BY id LIMIT ${limit}`

/**
 * SQL that selects the ids of at most `max` of the oldest events, all of them from before the time
 * `before` and, where there is an archive, in it. If the oldest event is from `before` or later,
 * only that event is read.
 */
export function selectOldest(before: SQLWrapper, max: SQLWrapper): SQL {
  const limit = sql`iif((SELECT at FROM (${selectFirst(sql`1`)})) < ${before}, ${max}, 0)`
  return sql`
SELECT id FROM (
  SELECT id, max(at) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS newest FROM (${selectFirst(limit)}))
WHERE newest < ${before} AND id <= coalesce((SELECT ${archives.event} FROM ${archives}), id)`
}

const oldest = selectOldest(sql`${sql.placeholder('before')}`, sql`${max}`)

const selectRemoved = fixedStatement(sql`SELECT ${removed} AS last`)

const keepRemoved = fixedStatement<'before' | 'max'>(sql`
INSERT INTO ${removedEvents} (id, last_id) SELECT 1, max(id) FROM (${oldest}) HAVING count(*) > 0
ON CONFLICT (id) DO UPDATE SET last_id = excluded.last_id RETURNING last_id AS last`)

/**
 * Deletes the rows of removed events but never the newest row, because the next event would get its
 * id again.
 */
const deleteRemoved = fixedStatement<'max'>(sql`
DELETE FROM ${events} WHERE ${id} IN (
  SELECT ${id} FROM ${events} WHERE ${id} <= ${removed} AND ${id} < (SELECT id FROM last_event)
    ORDER BY ${id} LIMIT ${max})`)
