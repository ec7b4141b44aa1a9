import { sql } from 'drizzle-orm'
import type { EntryId, OrderId } from '../../common/ids.ts'
import { fixedStatement, type ReadDatabase, resultRows, shown } from '../../d1/database.ts'
import { orderDeposits, orders } from '../../d1/order-tables.ts'
import { flows, transfers, wallets } from '../../d1/tables.ts'
import { type ListedOrder, readOrder, type StoredListedOrder, selectWithAddress } from './rows.ts'

/** A deposit that an order has counted, with its entry; `amount` in ledger units. */
export type CountedDeposit = Pick<typeof transfers.$inferSelect, 'txid' | 'position' | 'amount'> & {
  readonly order_id: OrderId
  readonly entry_id: EntryId
}

/** The order of an event, as it is now, with the deposits that it has counted, the oldest first. */
export interface OrderOfEvent {
  readonly order: ListedOrder
  readonly counted: readonly CountedDeposit[]
}

/** Most deposits of one order that are read for its events: the oldest ones. */
const countedMax = 200

/** Reads the orders that events are about, in one round trip; none if there are no ids. */
export async function selectOrdersOfEvents(
  db: ReadDatabase,
  ids: readonly OrderId[],
): Promise<ReadonlyMap<OrderId, OrderOfEvent>> {
  if (ids.length === 0) return new Map()
  const list = JSON.stringify([...new Set(ids)])
  const [found, deposits] = await db.batch([selectByIds(db, { ids: list }), selectCounted(db, { ids: list })])
  const counted = Map.groupBy(resultRows<CountedDeposit>(deposits), ({ order_id }) => order_id)
  const rows = resultRows<StoredListedOrder>(found).map(readOrder)
  return new Map(rows.map((order) => [order.id, { order, counted: counted.get(order.id) ?? [] }]))
}

const each = sql`json_each(${sql.placeholder('ids')}) AS each_order`
const selectByIds = fixedStatement<'ids'>(selectWithAddress(sql`WHERE ${orders.id} IN (SELECT value FROM ${each})`))

const selectCounted = fixedStatement<'ids'>(sql`
SELECT ${orderDeposits.order_id}, ${shown(transfers.txid)} AS txid, ${transfers.position}, ${transfers.amount},
  ${flows.id} AS entry_id
FROM ${each} CROSS JOIN ${orderDeposits} ON ${orderDeposits.order_id} = each_order.value
  CROSS JOIN ${transfers} ON ${transfers.id} = ${orderDeposits.transfer_id} AND ${transfers.state} = 'credited'
  CROSS JOIN ${wallets} ON ${wallets.uid} = ${transfers.uid} AND ${wallets.cuy} = ${transfers.cuy}
  CROSS JOIN ${flows} INDEXED BY flow_deposit ON ${flows.wallet_id} = ${wallets.id}
    AND ${flows.transfer_id} = ${transfers.id}
WHERE ${orderDeposits.transfer_id} IN (
  SELECT of_order.transfer_id FROM ${orderDeposits} AS of_order WHERE of_order.order_id = each_order.value
  ORDER BY of_order.transfer_id LIMIT ${sql.raw(String(countedMax))})
ORDER BY ${orderDeposits.order_id}, ${flows.id}`)
