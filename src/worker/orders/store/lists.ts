import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Address } from '../../chain/address.ts'
import type { TransferId } from '../../common/ids.ts'
import { fixedStatement, ofHex, type ReadDatabase, resultRows, shown, toStatement } from '../../d1/database.ts'
import { selectInOrder } from '../../d1/merge.ts'
import { isListedOrder, orderDeposits, orders } from '../../d1/order-tables.ts'
import { addresses, transfers } from '../../d1/tables.ts'
import { orderRowsMax } from '../../ledger/store/entries.ts'
import type { OrderRow } from '../lifecycle.ts'
import { type OrderSelection, orderDepositsMax } from '../order.ts'
import { type ListedOrder, readOrder, type StoredListedOrder, selectWithAddress } from './rows.ts'

/** A transfer of an order; `raw` in chain units, `amount` in ledger units if it is credited. */
export type ListedDeposit = Pick<
  typeof transfers.$inferSelect,
  'txid' | 'position' | 'state' | 'raw' | 'amount' | 'reason'
> & { readonly order_id: OrderRow['id']; readonly id: TransferId }

/**
 * How many orders a page looks through, the newest below `before`, where no index has what it
 * selects: open or paid ones, or a state at an address.
 */
export const orderSearchMax = 2_000
/** The same for one user, whose orders are merged from the addresses: each costs several rows. */
export const userSearchMax = 250

/**
 * Reads a page of orders, newest first, and counts those on all pages, up to `max`. It reads rows
 * for what it shows, however many orders there are, or looks through `orderSearchMax` of them.
 */
export async function selectOrderPage(
  db: ReadDatabase,
  selection: OrderSelection,
  limit: number,
  max: number,
): Promise<{ readonly list: readonly ListedOrder[]; readonly count: number }> {
  const { uid, order, state, address, before = endOfIds } = selection
  // The plus keeps the query planner from an index of these: rows are found by their ids.
  const is = and(
    uid === undefined ? undefined : sql`+${orders.uid} = ${uid}`,
    order === undefined ? undefined : sql`+${orders.reference} = ${order}`,
    state === undefined ? undefined : sql`+${orders.state} = ${state}`,
    address === undefined ? undefined : sql`+${orders.address_id} = ${idOf(address)}`,
  )
  const { isExact, newest } = sourceOf(selection)
  const searchMax = uid === undefined ? orderSearchMax : userSearchMax
  const wanted = (below: number, most: number) =>
    and(sql`${orders.id} IN (${newest(below, isExact ? most : searchMax)})`, is)
  const [counted, found] = await db.batch([
    toStatement(
      db,
      isExact
        ? sql`SELECT count(found_id) AS count FROM (${newest(endOfIds, max)})`
        : sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${orders} WHERE ${wanted(endOfIds, max)} LIMIT ${max})`,
    ),
    toStatement(db, selectWithAddress(sql`WHERE ${wanted(before, limit)} ORDER BY ${orders.id} DESC LIMIT ${limit}`)),
  ])
  return {
    list: resultRows<StoredListedOrder>(found).map(readOrder),
    count: resultRows<{ readonly count: number }>(counted)[0]?.count ?? 0,
  }
}

const endOfIds = Number.MAX_SAFE_INTEGER

/** Where the orders of a selection are looked for. */
interface Source {
  /** Whether it has no other orders than the selected ones. */
  readonly isExact: boolean
  /**
   * SQL of the newest ids below an id, `most` at most, as `found_id`. It may also select NULLs. D1
   * keeps no statistics for the query planner, so it names its index.
   */
  readonly newest: (below: number, most: number) => SQL
}

function sourceOf({ uid, order, state, address }: OrderSelection): Source {
  const from = (index: string, is: SQL | undefined, isExact: boolean): Source => ({
    isExact,
    newest: (below, most) => sql`SELECT ${orders.id} AS found_id FROM ${orders} INDEXED BY ${sql.raw(index)}
      WHERE ${is} AND ${orders.id} < ${below} ORDER BY ${orders.id} DESC LIMIT ${most}`,
  })
  if (order !== undefined) return { isExact: false, newest: (below) => newestWith(order, uid, below) }
  if (address !== undefined) {
    return from('order_address', sql`${orders.address_id} = ${idOf(address)}`, uid === undefined && state === undefined)
  }
  if (state === 'partly' || state === 'expired' || state === 'cancelled') {
    const isState = sql`${sql.raw(isListedOrder)} AND ${orders.state} = ${state}`
    if (uid === undefined) return from('order_state', isState, true)
    return from('order_uid_state', sql`${orders.uid} = ${uid} AND ${isState}`, true)
  }
  if (uid !== undefined) return { isExact: state === undefined, newest: (below, most) => newestOf(uid, below, most) }
  return {
    isExact: state === undefined,
    newest: (below, most) =>
      sql`SELECT ${orders.id} AS found_id FROM ${orders} WHERE ${orders.id} < ${below}
        ORDER BY ${orders.id} DESC LIMIT ${most}`,
  }
}

/**
 * SQL of the orders with a reference: one of a user; of all users those of the lowest numbers,
 * `orderRowsMax` at most.
 */
const newestWith = (reference: string, uid: OrderRow['uid'] | undefined, below: number) => sql`
SELECT found_id FROM (SELECT ${orders.id} AS found_id FROM ${orders} INDEXED BY order_key
  WHERE ${and(eq(orders.reference, reference), uid === undefined ? undefined : eq(orders.uid, uid))}
  LIMIT ${orderRowsMax})
WHERE found_id < ${below}`

/**
 * SQL of a user's newest orders: those of each address are in order, and there are few addresses.
 */
const newestOf = (uid: OrderRow['uid'], below: number, most: number) => {
  const own = sql`(SELECT json_group_array(${addresses.id}) FROM ${addresses} INDEXED BY address_order
    WHERE ${addresses.uid} = ${uid} AND ${addresses.for_orders} = 1)`
  const highest = (
    address: SQL,
    _: SQL,
    belowIt: SQL,
  ) => sql`(SELECT ${orders.id} FROM ${orders} INDEXED BY order_address
    WHERE ${orders.address_id} = ${address} AND ${orders.id} < ${belowIt} ORDER BY ${orders.id} DESC LIMIT 1)`
  return selectInOrder(own, sql`'[0]'`, highest, sql`${below}`, sql`${most}`)
}

const idOf = (address: Address) =>
  sql`(SELECT ${addresses.id} FROM ${addresses} WHERE ${addresses.address} = ${ofHex(address)})`

/**
 * Reads the newest deposits of each of these orders, older ones first: those seen, held or
 * credited.
 */
export async function selectOrderDeposits(
  db: ReadDatabase,
  ids: readonly OrderRow['id'][],
): Promise<readonly ListedDeposit[]> {
  if (ids.length === 0) return []
  return (await selectDeposits(db, { ids: JSON.stringify(ids) }).all<ListedDeposit>()).results
}

const each = sql`json_each(${sql.placeholder('ids')}) AS each_order`
const selectDeposits = fixedStatement<'ids'>(sql`
SELECT ${orderDeposits.order_id}, ${transfers.id}, ${shown(transfers.txid)} AS txid, ${transfers.position},
  ${transfers.state}, ${transfers.raw}, ${transfers.amount}, ${transfers.reason}
FROM ${each} CROSS JOIN ${orderDeposits} ON ${orderDeposits.order_id} = each_order.value
  AND ${orderDeposits.transfer_id} IN (
    SELECT of_order.transfer_id FROM ${orderDeposits} AS of_order
      CROSS JOIN ${transfers} AS shown ON shown.id = of_order.transfer_id AND shown.state IN ('seen', 'held', 'credited')
    WHERE of_order.order_id = each_order.value
    ORDER BY of_order.transfer_id DESC LIMIT ${sql.raw(String(orderDepositsMax))})
  CROSS JOIN ${transfers} ON ${transfers.id} = ${orderDeposits.transfer_id}
ORDER BY ${orderDeposits.order_id}, ${transfers.id}`)
