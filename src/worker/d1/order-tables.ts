import { sql } from 'drizzle-orm'
// biome-ignore lint/suspicious/noDeprecatedImports: another overload of primaryKey is deprecated
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { type BackendName, type EntryId, type OrderId, reservedUid, type TransferId } from '../common/ids.ts'
import { type OrderState, orderStates } from '../common/order-states.ts'
import type { UnixMs } from '../common/time.ts'
import {
  between,
  characters,
  cuy,
  height,
  instant,
  oneOf,
  orNull,
  positiveSafe,
  rule,
  rules,
  safe,
  uid,
} from './columns.ts'

// The tables of orders. docs/database.md describes each table, and the rules that only triggers can
// express.

/** SQL for orders that end when `until` passes: the WHERE of an index, which statements repeat. */
export const isDueOrder = oneOf('open', 'partly')('state')

/**
 * SQL for orders that lists find by their state: the WHERE of indexes, which statements repeat.
 * Most orders are open or paid. Without these, no index is written when an order is asked for or
 * is paid at once.
 */
export const isListedOrder = oneOf('partly', 'expired', 'cancelled')('state')

/**
 * Orders that backends have asked for. An order counts the deposits of its currency to its address
 * in blocks that were made after `created_at` and before `held_until`. No other order has the
 * address in that time.
 */
export const orders = sqliteTable(
  'payment_order',
  {
    id: integer().$type<OrderId>().primaryKey(),
    uid: uid(),
    cuy: cuy(),
    reference: text().notNull(), // the backend's name for the order: `order` in the API
    amount: integer().notNull(), // ledger units
    at_least: integer().notNull(), // from how many ledger units on it is paid
    address_id: integer().notNull(), // id of its address in `stored_address`
    after_height: height(), // the finalized height when it was asked for: blocks up to it were made before
    until: instant(),
    take: integer({ mode: 'boolean' }).notNull(), // whether an entry takes the money once the order is paid
    return_to: text(), // where the page leads its reader after the payment
    mark: text().notNull(),
    posted_by: text().$type<BackendName>().notNull(),
    created_at: instant(),
    state: text().$type<OrderState>().notNull().default('open'),
    credited: integer().notNull().default(0), // sum of the deposits that count, in ledger units
    newest_entry: integer().$type<EntryId | 0>().notNull().default(0), // the entry of the newest deposit that counts
    held_until: instant(), // when its address is free again
    late: integer({ mode: 'boolean' }).notNull().default(false), // whether blocks after `until` were needed to pay it
    taken: integer({ mode: 'boolean' }).notNull().default(false), // whether an entry has taken the money
    ended_at: integer().$type<UnixMs>(), // when it was paid, has expired or was cancelled; null before
    cancelled_by: text().$type<BackendName>(),
    why: text(), // why it was cancelled
  },
  (table) => [
    uniqueIndex('order_key').on(table.reference, table.uid),
    index('order_address').on(table.address_id),
    index('order_due').on(table.until).where(sql.raw(isDueOrder)),
    index('order_state').on(table.state).where(sql.raw(isListedOrder)),
    index('order_uid_state').on(table.uid, table.state).where(sql.raw(isListedOrder)),
    ...rules(positiveSafe, table.id, table.cuy, table.address_id),
    rule(table.uid, between(1, reservedUid - 1)),
    rule(table.reference, `length(reference) BETWEEN 1 AND 200 AND reference NOT GLOB '*[^ -~]*'`),
    rule(table.amount, positiveSafe),
    rule(table.at_least, between(1, 'amount')),
    ...rules(safe, table.after_height, table.created_at, table.credited, table.newest_entry, table.held_until),
    rule(table.until, `${safe('until')} AND until > created_at`),
    rule(table.take, 'take IN (0, 1)'),
    rule(table.return_to, orNull(characters(1, 500))),
    rule(table.mark, characters(0, 200)),
    rule(table.posted_by, `length(posted_by) BETWEEN 1 AND 64 AND posted_by NOT GLOB '*[^A-Za-z0-9._-]*'`),
    rule(
      table.state,
      `${oneOf(...orderStates)('state')} AND (state = 'paid') = (credited >= at_least)
        AND (state <> 'partly' OR credited > 0) AND (state NOT IN ('open', 'cancelled') OR credited = 0)
        AND (credited > 0) = (newest_entry > 0)`,
    ),
    rule(table.late, `late = 0 OR (late = 1 AND state = 'paid')`),
    rule(table.taken, `taken = 0 OR (taken = 1 AND take = 1 AND state = 'paid')`),
    rule(table.ended_at, `(ended_at IS NULL) = (${isDueOrder}) AND (${orNull(safe)('ended_at')})`),
    rule(
      table.cancelled_by,
      `(cancelled_by IS NOT NULL) = (state = 'cancelled') AND (cancelled_by IS NULL OR
        (length(cancelled_by) BETWEEN 1 AND 64 AND cancelled_by NOT GLOB '*[^A-Za-z0-9._-]*'))`,
    ),
    rule(table.why, `why IS NULL OR (state = 'cancelled' AND ${characters(1, 200)('why')})`),
  ],
)

/**
 * The transfers that an order counts once they are credited. A row is written with the transfer, or
 * when the transfer is seen in another block. `made_at`: when its block was made.
 */
export const orderDeposits = sqliteTable(
  'order_deposit',
  {
    order_id: integer().$type<OrderId>().notNull(),
    transfer_id: integer().$type<TransferId>().notNull(),
    made_at: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.order_id, table.transfer_id] }),
    ...rules(positiveSafe, table.order_id, table.transfer_id),
    rule(table.made_at, safe),
  ],
)
