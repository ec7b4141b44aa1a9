import { type SQL, sql } from 'drizzle-orm'
import type { Address } from '../../chain/address.ts'
import type { Uid } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import {
  allShown,
  bareList,
  columnName,
  fixedStatement,
  isRefusedBy,
  member,
  memberList,
  type ReadDatabase,
  resultRows,
  shown,
  type WriteDatabase,
} from '../../d1/database.ts'
import { isDueOrder, orders } from '../../d1/order-tables.ts'
import { payouts } from '../../d1/payout-tables.ts'
import { scans } from '../../d1/state-tables.ts'
import { addresses, flows, wallets } from '../../d1/tables.ts'
import { type DecimalsRow, readAgreedDecimals, selectAgreedDecimals } from '../../ledger/kept-settings.ts'
import type { OrderRow } from '../lifecycle.ts'
import type { OrderKey } from '../parse-order-request.ts'

// The rows of orders: the statements that ask for them, end them, and find out what is in the way.

/** The row of an order, as SQLite returns it: flags are 0 or 1. */
export type StoredOrder = { readonly [Name in keyof OrderRow]: OrderRow[Name] extends boolean ? 0 | 1 : OrderRow[Name] }

/** The row of an order with its address. */
export type ListedOrder = OrderRow & { readonly address: Address }
/** The same, as SQLite returns it. */
export type StoredListedOrder = StoredOrder & Pick<ListedOrder, 'address'>

/** Turns a row into the domain's types. */
export function readOrder<Row extends StoredOrder>(row: Row) {
  const flags = { take: row.take === 1, late: row.late === 1, taken: row.taken === 1 }
  return { ...row, ...flags } as Omit<Row, keyof OrderRow> & OrderRow // safe: the flags were the only difference
}

/** An order of a request, with what `findObstacles` needs of it. */
type OrderLookup = OrderKey & Pick<OrderRow, 'cuy' | 'take'>

/** The stored facts by which a request for orders is judged. */
export interface OrderRequestFacts {
  /** The stored orders that have a key (`uid` and `order`) of the request. */
  readonly storedOrders: readonly OrderRow[]
  /**
   * In the order of the request: whether an entry or a payout has the key of the entry that would
   * take the money.
   */
  readonly obstacles: readonly boolean[]
  /** Whether the scan is halted because the chain is forked. */
  readonly isForked: boolean
  /** The decimals of contracts on which nodes have agreed. */
  readonly decimals: ReadonlyMap<Address, number>
}

/** Reads the facts for a request, in one round trip. */
export async function selectRequestFacts(
  db: ReadDatabase,
  requested: readonly OrderLookup[],
): Promise<OrderRequestFacts> {
  const keys = keysOf(requested)
  const [stored, obstacles, forked, decimals] = await db.batch([
    selectByKeys(db, { keys }),
    selectObstacles(db, { keys }),
    selectForked(db, {}),
    selectAgreedDecimals(db, {}),
  ])
  return {
    storedOrders: resultRows<StoredOrder>(stored).map(readOrder),
    obstacles: resultRows<{ readonly isTaken: 0 | 1 }>(obstacles).map(({ isTaken }) => isTaken === 1),
    isForked: resultRows(forked).length > 0,
    decimals: readAgreedDecimals(resultRows<DecimalsRow>(decimals)),
  }
}

/** Reads the stored orders with these keys, in no certain order. */
export async function selectOrders(db: ReadDatabase, keys: readonly OrderKey[]): Promise<readonly ListedOrder[]> {
  return (await selectByKeys(db, { keys: keysOf(keys) }).all<StoredListedOrder>()).results.map(readOrder)
}

/** The addresses for orders of one user. */
export interface OrderAddresses {
  /** Ids of the first ones that no order holds. */
  readonly free: readonly number[]
  /** How many orders hold one. */
  readonly held: number
}

/** Reads up to `max` of a user's addresses that are free for a new order, and how many are held. */
export async function selectOrderAddresses(
  db: ReadDatabase,
  uid: Uid,
  max: number,
  at: UnixMs,
): Promise<OrderAddresses> {
  const [free, held] = await db.batch([selectFree(db, { uid, at, max }), countHeld(db, { uid, at })])
  return {
    free: resultRows<{ readonly id: number }>(free).map(({ id }) => id),
    held: resultRows<{ readonly held: number }>(held)[0]?.held ?? 0,
  }
}

const insertedNames = [
  ...(['uid', 'cuy', 'reference', 'amount', 'at_least', 'address_id', 'until', 'take', 'return_to', 'mark'] as const),
  ...(['posted_by', 'created_at', 'held_until'] as const),
] as const
export type InsertedOrder = Pick<OrderRow, (typeof insertedNames)[number]>

/**
 * Stores orders, all or none. `overtaken`: what the decision rests on has changed since, for
 * example another order has taken an address.
 */
export async function insertOrders(db: WriteDatabase, rows: readonly InsertedOrder[]): Promise<'stored' | 'overtaken'> {
  return await unlessOvertaken(addOrders(db, { rows: JSON.stringify(rows.map(toFlags)) }))
}

/**
 * Stores orders that a backend cancels, all or none. `overtaken`: one has changed since it was
 * read.
 */
export async function storeCancelled(db: WriteDatabase, rows: readonly OrderRow[]): Promise<'stored' | 'overtaken'> {
  if (rows.length === 0) return 'stored'
  return await unlessOvertaken(changeOrders(db, { rows: JSON.stringify(rows) }))
}

/**
 * Ends up to `max` orders whose `until` is before the time `at`, and returns how many. Triggers
 * write the events.
 */
export async function expireOrders(db: WriteDatabase, at: UnixMs, max: number): Promise<number> {
  const { results } = await expireDue(db, { at, max }).all()
  return results.length
}

const overtakenRules = [
  ...['order: already asked for', 'order: its address is held', 'order: its user has too many'],
  'order: its address is not for orders of its user', // none was left: a rival has taken it
  ...['order: an entry has its key', 'order: no such step', 'order: it ends once', 'order: it begins as open'],
]

async function unlessOvertaken(statement: D1PreparedStatement): Promise<'stored' | 'overtaken'> {
  try {
    await statement.run()
    return 'stored'
  } catch (cause) {
    if (overtakenRules.some((rule) => isRefusedBy(rule, cause))) return 'overtaken'
    throw cause
  }
}

/** STRICT integers for flags, which JSON would write as `true`. */
const toFlags = (row: InsertedOrder) => ({ ...row, take: row.take ? 1 : 0 })

const keysOf = (list: readonly (OrderKey & Partial<Pick<OrderRow, 'cuy' | 'take'>>)[]) =>
  JSON.stringify(list.map(({ uid, order, cuy, take }) => ({ uid, reference: order, cuy, take: take === true ? 1 : 0 })))

const { uid, cuy, reference, take, address_id, held_until } = orders
const listed = sql`json_each(${sql.placeholder('keys')})`
const [at, max, rows] = [sql.placeholder('at'), sql.placeholder('max'), sql.placeholder('rows')]

/** SQL that selects orders with their addresses. */
export const selectWithAddress = (where: SQL) => sql`
SELECT ${allShown(orders)}, ${shown(addresses.address)} AS address FROM ${orders}
  CROSS JOIN ${addresses} ON ${addresses.id} = ${orders.address_id} ${where}`

/** CROSS JOIN makes the list the outer loop, whatever the query planner estimates. */
const selectByKeys = fixedStatement<'keys'>(
  selectWithAddress(sql`WHERE ${orders.id} IN (
  SELECT own.id FROM ${listed} CROSS JOIN ${orders} AS own INDEXED BY order_key
    ON own.uid = ${member(uid)} AND own.reference = ${member(reference)})`),
)

const selectObstacles = fixedStatement<'keys'>(sql`
SELECT ${member(take)} = 1 AND (
  EXISTS (SELECT 1 FROM ${wallets} CROSS JOIN ${flows} INDEXED BY flow_key
    ON ${flows.wallet_id} = ${wallets.id} AND ${flows.osn} = ${member(reference)} AND ${flows.type} = 4
    WHERE ${wallets.uid} = ${member(uid)} AND ${wallets.cuy} = ${member(cuy)})
  OR EXISTS (SELECT 1 FROM ${payouts} INDEXED BY payout_key WHERE ${payouts.uid} = ${member(uid)}
    AND ${payouts.cuy} = ${member(cuy)} AND ${payouts.osn} = ${member(reference)} AND ${payouts.fee} > 0)) AS "isTaken"
FROM ${listed} ORDER BY key`)

const selectForked = fixedStatement(sql`SELECT 1 FROM ${scans} WHERE ${scans.halted} IS NOT NULL`)

const own = sql`${addresses} INDEXED BY address_order`
/** SQL: until when an address is held; 0 if it never was. Its newest order holds it the longest. */
const heldUntil = sql`coalesce((SELECT ${held_until} FROM ${orders} INDEXED BY order_address
  WHERE ${address_id} = ${addresses.id} ORDER BY ${orders.id} DESC LIMIT 1), 0)`
const isOfUser = sql`${addresses.uid} = ${sql.placeholder('uid')} AND ${addresses.for_orders} = 1`
const selectFree = fixedStatement<'uid' | 'at' | 'max'>(sql`
SELECT ${addresses.id} FROM ${own} WHERE ${isOfUser} AND ${heldUntil} <= ${at} ORDER BY ${addresses.id} LIMIT ${max}`)
const countHeld = fixedStatement<'uid' | 'at'>(
  sql`SELECT count(*) AS held FROM ${own} WHERE ${isOfUser} AND ${heldUntil} > ${at}`,
)

const insertedColumns = insertedNames.map((name) => orders[name])
const addOrders = fixedStatement<'rows'>(sql`
INSERT INTO ${orders} (${bareList([...insertedColumns, orders.after_height])})
SELECT ${memberList(insertedColumns)}, (SELECT ${scans.finalized} FROM ${scans}) FROM json_each(${rows}) ORDER BY key`)

const cancelledColumns = (['state', 'ended_at', 'held_until', 'cancelled_by', 'why'] as const).map(
  (name) => orders[name],
)
const changeOrders = fixedStatement<'rows'>(sql`
UPDATE ${orders} SET ${sql.join(
  cancelledColumns.map((column) => sql`${columnName(column)} = "change".${columnName(column)}`),
  sql`, `,
)}
FROM (SELECT ${memberList([orders.id, ...cancelledColumns])} FROM json_each(${rows})) AS "change"
WHERE ${orders.id} = "change".${columnName(orders.id)}`)

const { state, until } = orders
const expireDue = fixedStatement<'at' | 'max'>(sql`
UPDATE ${orders} SET ${columnName(state)} = 'expired', ${columnName(orders.ended_at)} = ${at}
WHERE ${orders.id} IN (SELECT ${orders.id} FROM ${orders} INDEXED BY order_due
  WHERE ${sql.raw(isDueOrder)} AND ${until} <= ${at} ORDER BY ${until} LIMIT ${max}) RETURNING 1`)
