import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { formatUnits } from '../common/amount.ts'
import type { ChangedKind } from '../d1/archive-tables.ts'
import { shownList } from '../d1/database.ts'
import { issuerActs } from '../d1/issuer-tables.ts'
import { orderDeposits, orders } from '../d1/order-tables.ts'
import { payouts, payoutTransactions } from '../d1/payout-tables.ts'
import { corrections, events } from '../d1/state-tables.ts'
import { addresses, decisions, flows, sentTransactions, transfers, wallets } from '../d1/tables.ts'

// The lines of an archive: docs/decisions/0091-the-archive.md.

/** The kinds of lines that are rows of a table with a key. */
export type RowKind = ChangedKind | 'entry' | 'event'

/** A row as D1 returns it: its columns by their names, bytes as hex digits. */
export type StoredRow = Readonly<Record<string, unknown>>

/** The scale of each currency that was ever configured, by its number. */
export type Scales = ReadonlyMap<number, number>

/** How the rows of a table are read for their lines. */
export interface LinedTable {
  /** SQL: what is selected, and from where. */
  readonly select: SQL
  readonly from: SQL
  /** The columns of the key. */
  readonly key: readonly SQLiteColumn[]
  /**
   * The members by which a line is recognized, because they never change once they are there; null:
   * no member ever changes. A `version` may be higher in the database than in the line.
   */
  readonly fixed: readonly string[] | null
}

/** All columns of a table but these. */
function columnsOf(table: SQLiteTable, without: readonly string[] = []): SQL {
  return shownList(Object.values(getTableColumns(table)).filter(({ name }) => !without.includes(name)))
}

/** Columns that only concern broadcasts or people. They change without another version. */
const notKept = ['burnt', 'energy', 'seen_height', 'next_send', 'sends', 'sent_at', 'answers']

/** SQL: the order and the time of block of a transfer, as a JSON list, or NULL. */
const orderOfTransfer = sql`(SELECT json_array(${orderDeposits.order_id}, ${orderDeposits.made_at}) FROM ${addresses}
  CROSS JOIN ${orders} ON ${orders.address_id} = ${addresses.id}
  CROSS JOIN ${orderDeposits} ON ${orderDeposits.order_id} = ${orders.id}
  WHERE ${addresses.address} = ${transfers.to_address} AND ${addresses.for_orders} = 1
    AND ${orderDeposits.transfer_id} = ${transfers.id})`

const whole = (table: SQLiteTable, key: readonly SQLiteColumn[], fixed: readonly string[] | null): LinedTable => ({
  select: columnsOf(table),
  from: sql`${table}`,
  key,
  fixed,
})

export const linedTables: Readonly<Record<RowKind, LinedTable>> = {
  entry: {
    select: sql`${columnsOf(flows)}, ${wallets.uid}, ${wallets.cuy}`,
    from: sql`${flows} CROSS JOIN ${wallets} ON ${wallets.id} = ${flows.wallet_id}`,
    key: [flows.id],
    fixed: null,
  },
  event: {
    // of an order the amounts of `about` need its currency
    select: sql`${columnsOf(events)}, (SELECT ${orders.cuy} FROM ${orders}
      WHERE ${events.type} GLOB 'order.*' AND ${orders.id} = ${events.about} ->> 0) AS order_cuy`,
    from: sql`${events}`,
    key: [events.id],
    fixed: null,
  },
  address: whole(addresses, [addresses.id], ['id', 'uid', 'address', 'created_at']),
  transfer: {
    select: sql`${columnsOf(transfers, ['osn', 'sought'])}, ${orderOfTransfer} AS in_order`,
    from: sql`${transfers}`,
    key: [transfers.id],
    fixed: ['id', 'txid', 'position', 'created_at'],
  },
  decision: whole(decisions, [decisions.txid, decisions.position, decisions.decision], null),
  payout: whole(payouts, [payouts.id], ['id', 'uid', 'cuy', 'osn', 'created_at']),
  transaction: {
    ...whole(payoutTransactions, [payoutTransactions.id], ['id', 'txid']),
    select: columnsOf(payoutTransactions, notKept),
  },
  correction: whole(corrections, [corrections.id], null),
  act: whole(issuerActs, [issuerActs.txid, issuerActs.position], ['txid', 'position', 'created_at', 'confirmed_at']),
  sent: whole(sentTransactions, [sentTransactions.txid, sentTransactions.address], null),
  order: whole(orders, [orders.id], ['id', 'uid', 'reference', 'created_at']),
}

/** SQL for the columns of a table's key, to be compared with as many values. */
export function keyOf({ key }: LinedTable): SQL {
  return sql`(${sql.join([...key], sql`, `)})`
}

/** Columns with an amount in ledger units. */
const amounts: ReadonlySet<string> = new Set(
  'amount balance fee at_least credited limit_each limit_least limit_day limit_user'.split(' '),
)
/** Columns whose text is JSON. */
const json: ReadonlySet<string> = new Set(['unpaid', 'moved'])

/** Writes a row as its line, without the line break. */
export function writeLine(kind: RowKind, row: StoredRow, scales: Scales): string {
  // safe: columns of amounts are INTEGER
  const write = (units: unknown, cuy: unknown) => formatUnits(BigInt(units as number), scaleOf(scales, cuy))
  const members = Object.entries(row).flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    if (value === null || name === 'order_cuy') return []
    if (name === 'in_order') return orderMembers(value)
    if (name === 'about') return [[name, aboutOf(row, write)]]
    if (json.has(name)) return [[name, JSON.parse(String(value))]]
    if (!amounts.has(name)) return [[name, value]]
    const isNothing = kind === 'transfer' && value === 0 // it is not credited
    return isNothing ? [] : [[name === 'amount' ? 'amt' : name, write(value, row.cuy)]]
  })
  return JSON.stringify({ row: kind, ...Object.fromEntries(members) })
}

/** Writes the line of a transfer that was removed, by the key in the list of changes. */
export function writeRemoved(key: string): string {
  const [id, txid, position, created_at] = JSON.parse(key) as readonly unknown[]
  return JSON.stringify({ row: 'removed', id, txid, position, created_at })
}

function orderMembers(text: unknown): readonly (readonly [string, unknown])[] {
  const [orderId, madeAt] = JSON.parse(String(text)) as readonly number[]
  return [
    ['order_id', orderId],
    ['made_at', madeAt],
  ]
}

/** The copy in an event, with amounts as decimal texts. */
function aboutOf({ type, about, order_cuy }: StoredRow, write: (units: unknown, cuy: unknown) => string): unknown {
  const stored: unknown = JSON.parse(String(about))
  if (!Array.isArray(stored)) {
    const { amount, fee, ...rest } = stored as StoredRow // safe: the trigger of payouts makes an object
    return { ...rest, amt: write(amount, rest.cuy), fee: write(fee, rest.cuy) }
  }
  const [orderId, state, credited, seen] = stored as readonly unknown[]
  if (type === 'deposit.seen') return { order_id: orderId }
  return { order_id: orderId, state, credited: write(credited, order_cuy), seen }
}

function scaleOf(scales: Scales, cuy: unknown): number {
  const scale = scales.get(Number(cuy))
  if (scale === undefined) throw new Error(`currency ${cuy} is not stored`)
  return scale
}
