import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { freshDatabase } from '../support/database.ts'

/** Addresses. `a` belongs to caller 1, `b` to caller 2, and `c` was never issued. */
export const a = 'a'.repeat(40)
export const b = 'b'.repeat(40)
export const c = 'c'.repeat(40)
/** Txids. `t1` is a credited deposit, `t2` one that was too small, and `t3` a pending one. */
export const t1 = '1'.repeat(64)
export const t2 = '2'.repeat(64)
export const t3 = '3'.repeat(64)
/** A txid that is not stored. */
export const t4 = '4'.repeat(64)
/** The largest amount. */
export const max = 9_007_199_254_740_991n

/** Columns and their values, as SQL. */
export type Values = Readonly<Record<string, string>>

/** An INSERT of one row. */
export const insert = (table: string, values: Values) =>
  `INSERT INTO ${table} (${Object.keys(values).join(', ')}) VALUES (${Object.values(values).join(', ')})`

/** A transfer's place on the chain. */
export const place = { txid: `'${t1}'`, position: '0', height: '90', block_hash: `'${t1}'`, cuy: '1' }
const transfer = { from_address: `'${c}'`, to_address: `'${a}'`, raw: `'50'` }

/** An INSERT of a deposit: the stored one, with changes. */
export function deposit(changes: Values = {}): string {
  const credited = { outcome: `'credited'`, amount: '50', created_at: '10' }
  return insert('deposit', { ...place, native: '1', uid: '1', ...transfer, ...credited, ...changes })
}

/** An INSERT of a pending deposit, with changes. */
export function pending(changes: Values = {}): string {
  const undecided = { reason: `'no-api'`, reason_at: '1', since: '1', next_try: '1' }
  return insert('pending', { ...place, uid: '1', ...transfer, ...undecided, ...changes })
}

/** An INSERT of a refusal, with changes. */
export function refusal(changes: Values = {}): string {
  const worthless = { reason: `'failed'`, contract_type: 'NULL', created_at: '1' }
  return insert('refusal', { ...place, txid: `'${t4}'`, uid: '1', ...transfer, ...worthless, ...changes })
}

/** An INSERT of a sighting, with changes. */
export function sighting(changes: Values = {}): string {
  const seen = { decimals: '6', seconds: '57', seen_at: '7' }
  return insert('sighting', { ...place, txid: `'${t4}'`, height: '101', uid: '1', ...transfer, ...seen, ...changes })
}

/** An INSERT of a rescan that an operator asked for, with changes. */
export function rescan(changes: Values = {}): string {
  const range = { from_height: '85', to_height: '95', next_height: '85' }
  return insert('rescan', {
    kind: `'request'`,
    ...range,
    reason: `'a payment is missing'`,
    created_at: '1',
    next_try: '1',
    ...changes,
  })
}

/** An INSERT of the next entry of wallet 1 without a posting, with changes. */
export function flow(changes: Values = {}): string {
  const entry = { wallet_id: '1', uid: '1', cuy: '1', type: '9', osn: `'x'`, amount: '5', balance: '55', mark: `''` }
  return insert('flow', { ...entry, created_at: '20', posted_by: `'shop'`, ...changes })
}

/** An entry of a posting: an adjustment of wallet 1 by 5, with changes. */
export function entry(changes: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return { uid: 1, cuy: 1, type: 9, osn: 'x', amount: 5, mark: '', ...changes }
}

/** An INSERT of a posting of these entries, with changes of its own columns. */
export function posting(entries: unknown, changes: Values = {}): string {
  const list = `'${JSON.stringify(entries).replaceAll("'", "''")}'`
  return insert('posting', { id: '1', entries: list, posted_by: `'shop'`, created_at: '20', ...changes })
}

/** An INSERT of the next address, with changes. */
export function address(changes: Values = {}): string {
  return insert('address', {
    derivation_index: '2',
    uid: '3',
    address: `'${c}'`,
    issued_height: '120',
    created_at: '5',
    ...changes,
  })
}

/** An INSERT of the scan's row. */
export const scanRow = `INSERT INTO scan VALUES (1, 100, '${t1}', 120, 5, 5, 5, 5, NULL, '', 0, NULL, 0)`

/** The statement with a conflict clause. */
export const or = (policy: string, sql: string) => sql.replace(/^(INSERT|UPDATE)/, `$1 OR ${policy}`)

/**
 * A database with callers 1 and 2 with an address each, the scan at block 100 of 120, and one credited deposit: flow 1
 * gives wallet 1 of caller 1 a balance of 50 in currency 1.
 */
export async function storeRows(): Promise<D1Database> {
  const db = await freshDatabase()
  await db.batch(
    [
      `INSERT INTO address (derivation_index, uid, address, issued_height, created_at) VALUES (0, 1, '${a}', 80, 5), (1, 2, '${b}', 80, 5)`,
      scanRow,
      deposit(),
      deposit({ txid: `'${t2}'`, outcome: `'dust'`, amount: '0' }),
      pending({ txid: `'${t3}'` }),
    ].map((sql) => db.prepare(sql)),
  )
  return db
}

const tables = [
  ...['address', 'wallet', 'flow', 'posting', 'deposit', 'pending', 'refusal', 'sighting', 'movement'],
  ...['scan', 'rescan', 'correction', 'stored_setting', 'event', 'webhook'],
]

/** All rows. */
export const contents = () =>
  Promise.all(tables.map(async (table) => (await env.DB.prepare(`SELECT * FROM ${table}`).raw()).sort()))

/** Expects that the statement fails with `why`, or is skipped, and that no row changes. */
export async function expectRefusal(sql: string, why: string): Promise<void> {
  const before = await contents()
  const run = env.DB.prepare(sql).run()
  if (why === 'skipped') await run
  else await expect(run).rejects.toThrow(why)
  expect(await contents()).toEqual(before)
}
