import { countedMax } from '../common/counted.ts'
import type { ReadDatabase } from '../d1/database.ts'
import type { ReadContext } from '../ledger/context.ts'
import { type Currencies, configured, depositValueOf } from '../ledger/currencies.ts'
import { pageRowsDefault } from '../ledger/store/entries.ts'
import type { Order, OrderDeposit, OrderSelection } from './order.ts'
import type { OrderKey } from './parse-order-request.ts'
import { type ListedDeposit, selectOrderDeposits, selectOrderPage } from './store/lists.ts'
import { type ListedOrder, selectOrders } from './store/rows.ts'

/**
 * One page of orders, newest first. `count` is the number on all pages; `countedMax` means that
 * many or more.
 */
export interface OrderList {
  readonly list: readonly Order[]
  readonly count: number
}

/** Reads one page of orders. */
export async function listOrders(
  { db, currencies }: Pick<ReadContext, 'db' | 'currencies'>,
  selection: OrderSelection,
): Promise<OrderList> {
  const { list, count } = await selectOrderPage(db, selection, selection.limit ?? pageRowsDefault, countedMax)
  return { list: await withDeposits(db, list, currencies), count }
}

/** Reads stored orders with these keys, in their order. Throws if one is not stored. */
export async function readInOrder(
  db: ReadDatabase,
  keys: readonly OrderKey[],
  currencies: Currencies,
): Promise<readonly Order[]> {
  const orders = await withDeposits(db, await selectOrders(db, keys), currencies)
  return keys.map(({ uid, order }) => {
    const found = orders.find((one) => one.uid === uid && one.reference === order)
    if (found === undefined) throw new Error('an order that was stored is not there')
    return found
  })
}

/** Adds to each order its deposits. */
async function withDeposits(
  db: ReadDatabase,
  list: readonly ListedOrder[],
  currencies: Currencies,
): Promise<readonly Order[]> {
  const ids = list.map(({ id }) => id)
  const deposits = Map.groupBy(await selectOrderDeposits(db, ids), ({ order_id }) => order_id)
  return list.map((order) => {
    const own = (deposits.get(order.id) ?? []).map((deposit) => readDeposit(deposit, order, currencies))
    const uncredited = order.state === 'cancelled' ? [] : own.filter(({ state }) => state !== 'credited')
    return { ...order, deposits: own, seen: uncredited.reduce((sum, { amount }) => sum + amount, 0n) }
  })
}

function readDeposit(
  { txid, position, state, raw, amount }: ListedDeposit,
  { cuy }: ListedOrder,
  currencies: Currencies,
): OrderDeposit {
  const isCredited = state === 'credited'
  return {
    txid,
    position,
    state: state as OrderDeposit['state'], // safe: only these are selected
    amount: isCredited ? BigInt(amount) : worthOf(raw, cuy, currencies),
  }
}

/** What a deposit of `raw` chain units would be credited with, in ledger units; 0 if nothing. */
export function worthOf(raw: string, cuy: ListedOrder['cuy'], currencies: Currencies): bigint {
  const value = depositValueOf(configured(cuy, currencies), BigInt(raw))
  return value.kind === 'credited' ? value.amount : 0n
}
