import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { freshDatabase } from '../support/database.ts'

/** Addresses. `a` belongs to caller 1, `b` to caller 2, and `c` was never issued. */
export const a = 'a'.repeat(40)
export const b = 'b'.repeat(40)
export const c = 'c'.repeat(40)
/** Txids. `t1` is credited, `t2` refused as dust, and `t3` held as retired. `t4` is not stored. */
export const t1 = '1'.repeat(64)
export const t2 = '2'.repeat(64)
export const t3 = '3'.repeat(64)
export const t4 = '4'.repeat(64)
/** The largest amount that the database stores: 2^53 − 1. */
export const max = 9_007_199_254_740_991n

/** Columns and their values, as SQL. */
export type Values = Readonly<Record<string, string>>

/** An INSERT of one row. Values are SQL, so text is in quotes. */
export const insert = (table: string, values: Values) =>
  `INSERT INTO ${table} (${Object.keys(values).join(', ')}) VALUES (${Object.values(values).join(', ')})`

/**
 * The values for a table that stores addresses and txids as bytes: their hex digits become
 * `unhex(…)`.
 */
export function inBytes(values: Values): Values {
  const names = ['txid', 'address', 'from_address', 'to_address']
  const each = Object.entries(values).map(([name, value]) => [name, names.includes(name) ? `unhex(${value})` : value])
  return Object.fromEntries(each)
}

/** The columns that a transfer has in each state. */
export const states = {
  seen: { state: `'seen'`, reason: 'NULL', amount: '0', seconds: '57' },
  dropped: { state: `'dropped'`, reason: 'NULL', amount: '0' },
  held: { state: `'held'`, reason: `'retired'`, amount: '0' },
  refused: { state: `'refused'`, reason: `'dust'`, amount: '0' },
  credited: { state: `'credited'`, reason: 'NULL', amount: '50' },
  moved: { state: `'moved'`, reason: 'NULL', amount: '0', uid: 'NULL' },
} as const satisfies Record<string, Values>
export type State = keyof typeof states

const facts = {
  txid: `'${t4}'`,
  position: '0',
  height: '90',
  cuy: '1',
  uid: '1',
  from_address: `'${c}'`,
  to_address: `'${a}'`,
  raw: `'50'`,
  native: '1',
  created_at: '10',
  changed_at: '10',
}

/**
 * An INSERT of a transfer of 50 sun to the address `a`, with the txid `t4`, in this state.
 * `changes` replaces columns.
 */
export function transfer(state: State, changes: Values = {}): string {
  return insert('stored_transfer', inBytes({ ...facts, ...states[state], ...changes }))
}

/** An UPDATE of the transfer with this txid to this state. `changes` replaces columns. */
export function step(txid: string, state: State, changes: Values = {}): string {
  const set = inBytes({ version: 'version + 1', uid: '1', ...states[state], changed_at: '11', ...changes })
  const columns = Object.entries(set).map(([name, value]) => `${name} = ${value}`)
  return `UPDATE stored_transfer SET ${columns.join(', ')} WHERE txid = unhex('${txid}')`
}

/** An INSERT of the decision to credit the transfer `t4`. `changes` replaces columns. */
export function decision(changes: Values = {}): string {
  const made = {
    decision: `'credit'`,
    why: `'looked at'`,
    decided_by: `'shop'`,
    created_at: '12',
  }
  return insert('decision', { txid: `'${t4}'`, position: '0', ...made, ...changes })
}

/** The longest name of a person. */
export const personName = `o.brien+desk@${'x'.repeat(236)}.example`.slice(0, 254)
/** Texts that are valid neither as the name of a backend nor as that of a person. */
export const noNames = [
  ...[
    'a b',
    'x'.repeat(65),
    `${personName}x`,
    '@example.com',
    'ann@',
    'ann@a@b',
    'Ann@example.com',
    'a nn@example.com',
  ],
  'ännchen@example.com',
]

/** An INSERT of a rescan that an operator asked for. `changes` replaces columns. */
export function rescan(changes: Values = {}): string {
  const range = { kind: `'request'`, from_height: '85', to_height: '95', next_height: '85' }
  return insert('rescan', { ...range, reason: `'a payment is missing'`, created_at: '1', next_try: '1', ...changes })
}

/**
 * An INSERT of a gap: blocks on which the nodes did not agree, so that they are still to be read.
 */
export const gap = (from: number, to = from) =>
  rescan({
    kind: `'gap'`,
    reason: 'NULL',
    why: `'the nodes differ'`,
    from_height: String(from),
    to_height: String(to),
    next_height: String(from),
  })

/** An INSERT of a correction, by which an operator lowers a wrong finalized height. */
export const correction = (finalized: number) =>
  `INSERT INTO correction (finalized, reason, created_at) VALUES (${finalized}, 'a node lied', 9)`

/**
 * An INSERT of the next entry of wallet 1, which belongs to no posting. `changes` replaces columns.
 */
export function flow(changes: Values = {}): string {
  const entry = { id: '4', wallet_id: '1', type: '9', osn: `'x'`, amount: '5', balance: '55', mark: `''` }
  return insert('stored_flow', {
    ...entry,
    created_at: '20',
    posted_by: `'shop'`,
    number: '2',
    type_number: '1',
    ...changes,
  })
}

/**
 * An entry as a posting contains it: an adjustment of wallet 1 by 5. `changes` replaces members.
 */
export function entry(changes: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return { uid: 1, cuy: 1, type: 9, osn: 'x', amount: 5, mark: '', ...changes }
}

/**
 * An INSERT of a posting (a backend's batch of entries) with these entries. `changes` replaces its
 * other columns.
 */
export function posting(entries: unknown, changes: Values = {}): string {
  const list = `'${JSON.stringify(entries).replaceAll("'", "''")}'`
  return insert('posting', { entries: list, posted_by: `'shop'`, created_at: '20', ...changes })
}

/** An INSERT of the next address. `changes` replaces columns. */
export function address(changes: Values = {}): string {
  const next = { id: '3', uid: '3', address: `'${c}'`, issued_height: '120', created_at: '5' }
  return insert('stored_address', inBytes({ ...next, ...changes }))
}

/** An INSERT of the scan's row: block 100 of 120. */
export const scanRow = insert('scan', {
  id: '1',
  height: '100',
  hash: `'${t1}'`,
  finalized: '120',
  finalized_time: '4',
  finalized_at: '5',
  advanced_at: '5',
  caught_up_at: '5',
  tried_at: '5',
})

/** The statement with a conflict clause such as `OR REPLACE`. */
export const or = (policy: string, sql: string) => sql.replace(/^(INSERT|UPDATE)/, `$1 OR ${policy}`)

/**
 * A database with callers 1 and 2 with an address each, the scan at block 100 of 120, and three
 * transfers of 50 to `a`. Flow 1 gives wallet 1 of caller 1 a balance of 50 in currency 1.
 */
export async function storeRows(): Promise<D1Database> {
  if (rowsAtFirst !== '' && JSON.stringify(await everything().catch(() => [])) === rowsAtFirst) return env.DB
  const db = await freshDatabase()
  await db.batch(
    [
      `INSERT INTO stored_address (id, uid, address, issued_height, created_at) VALUES (1, 1, unhex('${a}'), 80, 5), (2, 2, unhex('${b}'), 80, 5)`,
      scanRow,
      transfer('credited', { txid: `'${t1}'` }),
      transfer('refused', { txid: `'${t2}'` }),
      transfer('held', { txid: `'${t3}'` }),
    ].map((sql) => db.prepare(sql)),
  )
  rowsAtFirst = JSON.stringify(await everything())
  return db
}

/**
 * `everything` after `storeRows`. In most tests every statement is refused, so no row changes and
 * the next test gets the same database.
 */
let rowsAtFirst = ''

const tables = [
  ...['address', 'wallet', 'flow', 'posting', 'transfer', 'sent', 'scan', 'rescan', 'correction'],
  ...['stored_setting', 'stored_currency', 'agreed_decimals', 'kept_address', 'user_range'],
  'decision',
  ...['credit', 'movement', 'holding', 'day', 'total', 'event', 'webhook', 'alarm'],
  ...['payout', 'payout_transaction', 'payout_holding', 'payout_hour', 'payout_sum', 'payout_effect', 'issuer_act'],
  ...['unnamed_outflow', 'payment_order', 'order_deposit', 'archive', 'archive_change'],
]

/** All rows of the tables, each as one text, in one round trip. */
export const contents = () => rowsOf(tables)

/** All rows, the last ids, and the schema with its triggers. */
const everything = () => rowsOf([...tables, 'credit_mark', 'removed_event', 'sqlite_sequence', 'sqlite_schema'])

async function rowsOf(names: readonly string[]): Promise<string[][]> {
  const all = await env.DB.batch(names.map((table) => env.DB.prepare(`SELECT * FROM ${table}`)))
  return all.map(({ results }) => results.map((row) => JSON.stringify(row)).sort())
}

/** Runs statements, each on its own. */
export async function run(...statements: readonly string[]): Promise<void> {
  for (const sql of statements) await env.DB.prepare(sql).run()
}

/** Expects that the statement fails with `why`, and that no row changes. */
export async function expectRefusal(sql: string, why: string): Promise<void> {
  const before = await contents()
  await expect(env.DB.prepare(sql).run()).rejects.toThrow(why)
  expect(await contents()).toEqual(before)
}

/**
 * What the records say that an address has in currency 1, in smallest units; null if nothing is
 * recorded.
 */
export async function recorded(address: string): Promise<bigint | null> {
  const row = await env.DB.prepare(`SELECT * FROM holding WHERE cuy = 1 AND address = '${address}'`).first()
  if (row === null) return null
  const parts = [0, 1, 2, 3, 4, 5, 6].map((part) => BigInt(Number(row[`part_${part}`])))
  return parts.reduce((sum, part) => sum * 10n ** 12n + part, 0n)
}

/** The events with ids above `id`, each with those columns that are not null. */
export async function eventsAfter(id: number): Promise<Record<string, unknown>[]> {
  const { results } = await env.DB.prepare('SELECT * FROM event WHERE id > ? ORDER BY id').bind(id).all()
  return results.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)))
}
