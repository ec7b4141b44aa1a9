import { beforeEach, expect, it } from 'vitest'
import { freshDatabase } from '../support/database.ts'

const a = 'a'.repeat(40)
const b = 'b'.repeat(40)
let db: D1Database

/** Two addresses, a run of currency 1 under way and a finished one of currency 2, an accepted and an open difference. */
beforeEach(async () => {
  db = await freshDatabase()
  await db.batch(
    [
      `INSERT INTO address (idx, uid, hex, created_at) VALUES (0, 1, '${a}', 5), (1, 2, '${b}', 5)`,
      `INSERT INTO reconciliation (cuy, started_at, through) VALUES (1, 10, 1)`,
      `INSERT INTO reconciliation (cuy, started_at, finished_at, turns, cursor, through, addresses)
        VALUES (2, 10, 11, 1, 1, 1, 2)`,
      `INSERT INTO baseline (address, cuy, fees, sent, known, told) VALUES ('${a}', 1, '-5', 2, '7', 0)`,
      `INSERT INTO difference (address, cuy, looks, amount, sent, held, low, high)
        VALUES ('${b}', 1, 1, '-3', 0, '4', 100, 180)`,
    ].map((sql) => db.prepare(sql)),
  )
})

const tables = ['reconciliation', 'baseline', 'difference']
const contents = () => Promise.all(tables.map(async (table) => db.prepare(`SELECT * FROM ${table}`).raw()))
const run = (set: string, id = 1) => `UPDATE reconciliation SET turns = turns + 1, ${set} WHERE id = ${id}`
const baseline = (fees: string, sent: string, known: string, told: string, address = b) =>
  `INSERT INTO baseline (address, cuy, fees, sent, known, told) VALUES ('${address}', 1, ${fees}, ${sent}, ${known}, ${told})`
const difference = (values: string, address = a) =>
  `INSERT INTO difference (address, cuy, looks, amount, sent, held, low, high) VALUES ('${address}', 1, ${values})`

it.each([
  ['a second run while one is under way', 'INSERT INTO reconciliation (cuy, started_at, through) VALUES (1, 20, 1)'],
  ['a run replaced', 'INSERT OR REPLACE INTO reconciliation (id, cuy, started_at, through) VALUES (2, 2, 20, 1)'],
  ['a run deleted', 'DELETE FROM reconciliation WHERE id = 2'],
  ['a turn left out', 'UPDATE reconciliation SET turns = turns + 2'],
  ['a turn taken twice', 'UPDATE reconciliation SET cursor = 0, addresses = 1'],
  ['an address counted twice', run('addresses = 1')],
  ['an address not counted', run('cursor = 0')],
  ['an address past the end', run('cursor = 2, addresses = 3')],
  ['a run that goes back', run('cursor = 0, addresses = 1', 2)],
  ['an end before all addresses', run('cursor = 0, addresses = 1, finished_at = 12')],
  ['an end before the start', run('cursor = 1, addresses = 2, finished_at = 9')],
  ['a run prolonged', run('through = 2')],
  ['a run of another currency', run('cuy = 3')],
  ['a finished run with another sum', run(`held = '1'`, 2)],
  ['a finished run opened again', run('finished_at = NULL', 2)],
  ['more differing than compared', run('cursor = 0, addresses = 1, differing = 2')],
  ['a sum that is no number', run(`recorded = '1e9'`)],
  ['a sum with a leading zero', run(`recorded = '-01'`)],
  ['minus zero', run(`recorded = '-0'`)],
  ['a negative holding', run(`held = '-1'`)],
  ['a fee that was earned', baseline(`'5'`, '0', `'0'`, '1')],
  ['fees that are no number', baseline(`'--5'`, '0', `'0'`, '1')],
  ['a difference born told', baseline(`'0'`, '0', `'5'`, '1')],
  ['nothing left to be told', baseline(`'0'`, '0', `'0'`, '0')],
  ['a difference of an address that is not ours', baseline(`'0'`, '0', `'5'`, '0', 'c'.repeat(40))],
  ['a changed difference told in the same breath', `UPDATE baseline SET known = '8', told = 1`],
  ['a transaction that pays its fee again', 'UPDATE baseline SET sent = 1'],
  ['a baseline deleted', 'DELETE FROM baseline'],
  ['looks without an amount', difference(`1, '0', 0, '4', 100, 180`)],
  ['an amount without looks', difference(`0, '1', 0, '4', 100, 180`)],
  ['more looks than are needed', difference(`3, '1', 0, '4', 100, 180`)],
  ['a look that ends before it begins', difference(`0, '0', 0, '4', 100, 99`)],
  ['a look at less than nothing', difference(`0, '0', 0, '-4', 100, 180`)],
  ['a look at an address that is not ours', difference(`0, '0', 0, '4', 100, 180`, 'c'.repeat(40))],
  ['a fraction', difference(`0, '0', 0, '4', 100.5, 180`)],
])('refuses %s', async (_, sql) => {
  const before = await contents()
  await expect(db.prepare(sql).run()).rejects.toThrow(/ABORT|constraint|SQLITE_CONSTRAINT|datatype/i)
  expect(await contents()).toEqual(before)
})

it.each([
  ['a turn', run(`cursor = 0, addresses = 1, recorded = '-12', held = '3', differing = 1`)],
  ['the last turn', run('cursor = 1, addresses = 2, finished_at = 12')],
  ['a turn after the end', run('cursor = 1', 2)],
  ['the next run', 'INSERT INTO reconciliation (cuy, started_at, through) VALUES (2, 20, 1)'],
  ['a difference that is told', 'UPDATE baseline SET told = 1'],
  ['a difference that changes', `UPDATE baseline SET known = '-8', told = 0`],
  ['a settled difference removed', 'DELETE FROM difference'],
])('takes %s', async (_, sql) => {
  const before = await contents()
  await db.prepare(sql).run()
  expect(await contents()).not.toEqual(before)
})
