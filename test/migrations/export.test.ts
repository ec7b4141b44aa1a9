import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import {
  a,
  contents,
  entry,
  expectRefusal,
  insert,
  posting,
  run,
  step,
  storeRows,
  t1,
  t3,
  t4,
  transfer,
} from './rows.ts'

const quote = (value: unknown) => {
  if (value === null) return 'NULL'
  if (Array.isArray(value)) return `X'${Buffer.from(value).toString('hex')}'` // D1 returns bytes as an array
  return typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`
}

/**
 * What `wrangler d1 export` writes: each table with its rows, then indexes and triggers. Tables are
 * sorted by name, for `order` −1 in reverse.
 */
async function exported(db: D1Database, order: 1 | -1): Promise<string[]> {
  type Item = { readonly type: string; readonly name: string; readonly sql: string }
  const { results } = await db.prepare('SELECT type, name, sql FROM sqlite_schema WHERE sql NOT NULL').all<Item>()
  const tables = results.filter(({ type, name }) => type === 'table' && !/^(sqlite|_cf|d1)_/.test(name))
  const lines: string[] = []
  for (const { name, sql } of tables.sort((x, y) => order * (x.name < y.name ? -1 : 1))) {
    // pragma_table_info leaves out generated columns
    const columns = (await db.prepare(`SELECT name FROM pragma_table_info('${name}')`).raw<string[]>()).flat()
    const rows = (await db.prepare(`SELECT ${columns.join(', ')} FROM ${name}`).all()).results
    lines.push(
      sql,
      ...rows.map((row) => insert(name, Object.fromEntries(Object.entries(row).map(([k, v]) => [k, quote(v)])))),
    )
  }
  return [...lines, ...results.filter(({ type }) => type !== 'table').map(({ sql }) => sql)]
}

it.each([1, -1] as const)('an export is restored whole, whatever the order of its tables (%s)', async (order) => {
  const db = await storeRows()
  const removed = 'INSERT INTO removed_event (id, last_id) VALUES (1, 4)'
  const sent = insert('sent', { txid: `'${t4}'`, address: `'${a}'`, height: '90', cuy: '1' })
  await run(
    transfer('moved', { from_address: `'${a}'` }),
    sent,
    posting([entry()]),
    'DELETE FROM stored_event',
    removed,
  )
  const before = await contents()
  const lines = await exported(db, order)

  do await reset()
  while (await env.DB.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'scan'`).first())
  await run(...lines)
  expect(await contents()).toEqual(before)

  await expectRefusal(transfer('held', { txid: `'${t1}'` }), 'transfer: already stored')
  await run(step(t3, 'credited'))
  expect(await db.prepare('SELECT id FROM event ORDER BY id').raw()).toEqual([[5]])
})
