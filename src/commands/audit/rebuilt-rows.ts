import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { type ArchivedCurrencies, type ArchivedCurrency, currencyOf, nextCurrencies, readUnits } from './currencies.ts'
import type { ArchiveLine, LineOf } from './lines.ts'
import { createDays, createMarks } from './rebuilt-days.ts'
import { createEvents } from './rebuilt-events.ts'

/** The tables of the lines that are rows. */
const tables = {
  entry: 'stored_flow',
  event: 'stored_event',
  address: 'stored_address',
  transfer: 'stored_transfer',
  decision: 'decision',
  payout: 'payout',
  transaction: 'payout_transaction',
  correction: 'correction',
  act: 'issuer_act',
  sent: 'sent',
  order: 'payment_order',
} as const satisfies { readonly [Kind in ArchiveLine['row']]?: string }

/** The tables of the lists in a line `configuration`. */
const configured = {
  settings: 'stored_setting',
  currencies: 'stored_currency',
  decimals: 'agreed_decimals',
  kept: 'kept_address',
  ranges: 'user_range',
} as const

/** Columns with an amount in ledger units. */
const amounts: ReadonlySet<string> = new Set(
  'amount balance fee at_least credited limit_each limit_least limit_day limit_user'.split(' '),
)

/** Stores the lines of an archive in a database that has tables, and no triggers yet. */
export interface RowWriter {
  /** Stores the next true line. */
  take(line: ArchiveLine): void
  /**
   * Stores what is known only after the last line. `at`, in milliseconds: the database counts as
   * restored then, so that payouts are stopped.
   */
  finish(at: number): void
}

/** Makes a writer of rows. The sums that triggers keep are not stored yet (`rebuilt-sums.ts`). */
export function createRowWriter(db: DatabaseSync): RowWriter {
  const insert = createInsert(db)
  const takers = createTakers(db, insert)
  let currencies: ArchivedCurrencies = new Map()
  let configuration: LineOf<'configuration'> | null = null
  let scan: LineOf<'scan'> | null = null
  const currency = (cuy: number) => currencyOf(currencies, cuy)
  return {
    take(line) {
      if (line.row === 'configuration') {
        currencies = nextCurrencies(currencies, line)
        configuration = line
      } else if (line.row === 'scan') {
        scan = line
        takers.scan(line)
      } else if (line.row === 'removed') {
        takers.removed(line)
      } else if (line.row !== 'segment' && line.row !== 'unknown') {
        takers.row(line, currency)
      }
    },
    finish(at) {
      for (const [list, table] of Object.entries(configured)) {
        // safe: the keys of that table
        for (const row of configuration?.[list as keyof typeof configured] ?? []) insert(table, row, null)
      }
      if (scan?.finalized !== undefined) insert('scan', { ...scan, id: 1, restored_at: at }, null)
      for (const row of scan?.rescans ?? []) insert('rescan', row, null)
      takers.finish()
      db.exec(implied)
    },
  }
}

type RowLine = LineOf<keyof typeof tables>
type Insert = ReturnType<typeof createInsert>

/** The function that takes each line that is a row, with what the row is stored beside. */
function createTakers(db: DatabaseSync, insert: Insert) {
  db.exec('CREATE TEMP TABLE order_of (transfer_id INTEGER PRIMARY KEY, order_id INTEGER, made_at INTEGER)')
  const setOrder = db.prepare('INSERT OR REPLACE INTO order_of VALUES (?, ?, ?)')
  const removeOrder = db.prepare('DELETE FROM order_of WHERE transfer_id = ?')
  const removeTransfer = db.prepare(
    'DELETE FROM stored_transfer WHERE id = ? AND txid = unhex(?) AND position = ? AND created_at = ?',
  )
  const setWallet = db.prepare(`INSERT OR REPLACE INTO wallet (id, uid, cuy, balance, entry_count, newest_entry)
    VALUES (?, ?, ?, ?, ?, ?)`)
  const [days, marks, events, correct] = [createDays(db), createMarks(db), createEvents(db), createCorrection(db)]
  return {
    row(line: RowLine, currency: (cuy: number) => ArchivedCurrency) {
      if (line.row === 'event') {
        events.take(line)
        insert(tables.event, { ...line, about: events.aboutOf(line, currency) }, null)
        return
      }
      const of = 'cuy' in line ? currency(line.cuy) : null
      insert(tables[line.row], line, of)
      if (line.row === 'entry' && of !== null) {
        const { id, wallet_id, uid, cuy, balance, number, amt } = line
        setWallet.run(wallet_id, uid, cuy, readUnits(balance, of), number, id)
        days.take(line, BigInt(readUnits(amt, of)))
        marks.entry(id)
        events.number(id)
      }
      if (line.row === 'transfer') {
        if (line.order_id === undefined) removeOrder.run(line.id)
        else setOrder.run(line.id, line.order_id, line.made_at ?? 0)
      }
      if (line.row === 'correction') {
        correct(line)
        marks.end()
      }
    },
    removed({ id, txid, position, created_at }: LineOf<'removed'>) {
      removeTransfer.run(id, txid, position, created_at)
    },
    scan: marks.scan,
    finish() {
      days.end()
      events.end()
    },
  }
}

/** Makes the changes of a correction that no line says. */
function createCorrection(db: DatabaseSync): (line: LineOf<'correction'>) => void {
  const statements = [
    'DELETE FROM sent WHERE height > ?',
    'DELETE FROM issuer_act WHERE height > ?',
    'UPDATE stored_address SET issued_height = ?1 WHERE issued_height > ?1',
  ].map((sql) => db.prepare(sql))
  return ({ finalized }) => {
    for (const statement of statements) statement.run(finalized)
  }
}

/**
 * SQL for what no line says, and follows from the rows: an order counts a deposit as it was at
 * last, and credits in blocks that are read again are sought.
 */
const implied = `
INSERT INTO order_deposit (order_id, transfer_id, made_at)
  SELECT order_id, transfer_id, made_at FROM order_of JOIN stored_transfer ON stored_transfer.id = transfer_id;
UPDATE stored_transfer SET sought = 1 WHERE state = 'credited' AND (height > (SELECT finalized FROM scan)
  OR (position >= 0 AND EXISTS (SELECT 1 FROM rescan
    WHERE kind = 'request' AND stored_transfer.height BETWEEN next_height AND to_height)));`

/**
 * Makes a function that stores a row by the names of its columns, in place of the one with its key.
 * Columns that no line has get their default.
 */
function createInsert(db: DatabaseSync) {
  const prepared = new Map<string, ReturnType<typeof prepare>>()
  const prepare = (table: string) => {
    const columns = columnsOf(db, table)
    const names = columns.map(({ name }) => name).join(', ')
    const marks = columns.map(() => '?').join(', ')
    return { columns, statement: db.prepare(`INSERT OR REPLACE INTO ${table} (${names}) VALUES (${marks})`) }
  }
  return (table: string, row: Readonly<Record<string, unknown>>, currency: ArchivedCurrency | null) => {
    const { columns, statement } = prepared.get(table) ?? prepare(table)
    if (!prepared.has(table)) prepared.set(table, { columns, statement })
    statement.run(...columns.map((column) => toValue(column, row, currency)))
  }
}

interface Column {
  readonly name: string
  readonly isBytes: boolean
  readonly fallback: SQLInputValue
}

function columnsOf(db: DatabaseSync, table: string): readonly Column[] {
  const found = db.prepare('SELECT name, type, dflt_value AS fallback FROM pragma_table_xinfo(?) WHERE hidden = 0')
  return found.all(table).map(({ name, type, fallback }) => ({
    name: String(name),
    isBytes: type === 'BLOB',
    // a time of 0 is in the past: what was to be sent is due
    fallback: name === 'next_send' ? 0 : (db.prepare(`SELECT ${fallback ?? 'NULL'} AS value`).get()?.value ?? null),
  }))
}

function toValue(
  { name, isBytes, fallback }: Column,
  row: Readonly<Record<string, unknown>>,
  currency: ArchivedCurrency | null,
): SQLInputValue {
  const value = row[name === 'amount' ? 'amt' : name]
  if (value === undefined || value === null) return name === 'amount' ? 0 : fallback // it is not credited
  if (currency !== null && amounts.has(name)) return readUnits(String(value), currency)
  if (isBytes) return Buffer.from(String(value), 'hex')
  return typeof value === 'object' ? JSON.stringify(value) : (value as string | number) // safe: JSON has no others here
}
