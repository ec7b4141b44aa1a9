import { beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase } from '../support/database.ts'

const a = 'a'.repeat(40)
const b = 'b'.repeat(40)
let db: D1Database

/** Two addresses, an unfinished run of currency 1, a finished run of currency 2, an accepted and an open difference, a taken lease, and an address that moved. */
beforeEach(async () => {
  db = await freshDatabase()
  await db.batch(
    [
      `INSERT INTO address (derivation_index, uid, address, issued_height, created_at) VALUES (0, 1, '${a}', 80, 5), (1, 2, '${b}', 80, 5)`,
      `INSERT INTO reconciliation (cuy, started_at, last_index) VALUES (1, 10, 1)`,
      `INSERT INTO reconciliation (cuy, started_at, finished_at, cursor, last_index, addresses)
        VALUES (2, 10, 11, 1, 1, 2)`,
      `INSERT INTO accepted_difference (address, cuy, fees, outgoing_count, confirmed, reported)
        VALUES ('${a}', 1, '-5', 2, '7', 0)`,
      `INSERT INTO open_difference (address, cuy, readings, amount, outgoing_count, balance, from_height, to_height)
        VALUES ('${b}', 1, 1, '-3', 0, '4', 100, 180)`,
      `INSERT INTO reconciliation_lease (id, lease, lease_until) VALUES (1, 'one', 50)`,
      `INSERT INTO moved_address (address, cuy, oldest_height, newest_height, changes) VALUES ('${b}', 2, 90, 95, 3)`,
    ].map((sql) => db.prepare(sql)),
  )
})

const tables = ['reconciliation', 'accepted_difference', 'open_difference', 'reconciliation_lease', 'moved_address']
const contents = () => Promise.all(tables.map(async (table) => db.prepare(`SELECT * FROM ${table}`).raw()))
const run = (set: string, id = 1) => `UPDATE reconciliation SET ${set} WHERE id = ${id}`
const accepted = (values: string, address = b) =>
  `INSERT INTO accepted_difference (address, cuy, fees, outgoing_count, confirmed, reported)
    VALUES ('${address}', 1, ${values})`
const moved = (values: string, address = a) =>
  `INSERT INTO moved_address (address, cuy, oldest_height, newest_height, changes) VALUES ('${address}', 1, ${values})`
const open = (values: string, address = a) =>
  `INSERT INTO open_difference (address, cuy, readings, amount, outgoing_count, balance, from_height, to_height)
    VALUES ('${address}', 1, ${values})`

it.each([
  [
    'a second unfinished run of a currency',
    'INSERT INTO reconciliation (cuy, started_at, last_index) VALUES (1, 20, 1)',
  ],
  ['a run replaced', 'INSERT OR REPLACE INTO reconciliation (id, cuy, started_at, last_index) VALUES (2, 2, 20, 1)'],
  ['a run deleted', 'DELETE FROM reconciliation WHERE id = 2'],
  [
    'the result of a tick that lost the lease',
    `INSERT INTO reconciliation_lease SELECT 1, NULL, 0 WHERE NOT EXISTS (SELECT 1 FROM reconciliation_lease WHERE lease = 'two')`,
  ],
  ['a lease without an owner', 'UPDATE reconciliation_lease SET lease = NULL'],
  ['a second lease', `INSERT INTO reconciliation_lease (id, lease, lease_until) VALUES (2, 'two', 50)`],
  ['an address counted twice', run('addresses = 1')],
  ['an address that is not counted', run('cursor = 0')],
  ['an address after the last one', run('cursor = 2, addresses = 3')],
  ['a run that goes back', run('cursor = 0, addresses = 1', 2)],
  ['an end before the last address', run('cursor = 0, addresses = 1, finished_at = 12')],
  ['an end before the start', run('cursor = 1, addresses = 2, finished_at = 9')],
  ['a run with another last index', run('last_index = 2')],
  ['a run with another currency', run('cuy = 3')],
  ['a finished run with another sum', run(`on_chain = '1'`, 2)],
  ['a finished run that is reopened', run('finished_at = NULL', 2)],
  ['more differing addresses than compared ones', run('cursor = 0, addresses = 1, differing = 2')],
  ['a sum that is not an integer', run(`recorded = '1e9'`)],
  ['a sum with a leading zero', run(`recorded = '-01'`)],
  ['minus zero', run(`recorded = '-0'`)],
  ['a negative sum of balances', run(`on_chain = '-1'`)],
  ['a positive fee', accepted(`'5', 0, '0', 1`)],
  ['fees that are not an integer', accepted(`'--5', 0, '0', 1`)],
  ['a confirmed difference that starts as reported', accepted(`'0', 0, '5', 1`)],
  ['no difference that starts as unreported', accepted(`'0', 0, '0', 0`)],
  ['a difference of an address that was never issued', accepted(`'0', 0, '5', 0`, 'c'.repeat(40))],
  ['a changed difference marked as reported', `UPDATE accepted_difference SET confirmed = '8', reported = 1`],
  ['a lower count of outgoing transactions', 'UPDATE accepted_difference SET outgoing_count = 1'],
  ['an accepted difference deleted', 'DELETE FROM accepted_difference'],
  ['readings without an amount', open(`1, '0', 0, '4', 100, 180`)],
  ['an amount without readings', open(`0, '1', 0, '4', 100, 180`)],
  ['more readings than are needed', open(`3, '1', 0, '4', 100, 180`)],
  ['a reading that ends before it starts', open(`0, '0', 0, '4', 100, 99`)],
  ['a negative balance', open(`0, '0', 0, '-4', 100, 180`)],
  ['a reading of an address that was never issued', open(`0, '0', 0, '4', 100, 180`, 'c'.repeat(40))],
  ['an address moved that was never issued', moved('90, 90, 1', 'c'.repeat(40))],
  ['an address that moved without a change', moved('90, 90, 0')],
  ['an oldest change above the newest one', moved('91, 90, 1')],
  ['a change below block 0', moved('-1, 90, 1')],
  ['a fraction of a height', moved('90.5, 91, 1')],
  ['a fraction', open(`0, '0', 0, '4', 100.5, 180`)],
])('refuses %s', async (_, sql) => {
  const before = await contents()
  await expect(db.prepare(sql).run()).rejects.toThrow(/ABORT|constraint|SQLITE_CONSTRAINT|datatype/i)
  expect(await contents()).toEqual(before)
})

it.each([
  ['a lease that another tick takes', `UPDATE reconciliation_lease SET lease = 'two', lease_until = 90`],
  ['a slice', run(`cursor = 0, addresses = 1, recorded = '-12', on_chain = '3', differing = 1`)],
  ['the last slice', run('cursor = 1, addresses = 2, finished_at = 12')],
  ['the next run', 'INSERT INTO reconciliation (cuy, started_at, last_index) VALUES (2, 20, 1)'],
  ['a reported difference', 'UPDATE accepted_difference SET reported = 1'],
  ['a changed difference', `UPDATE accepted_difference SET confirmed = '-8', reported = 0`],
  ['an open difference removed', 'DELETE FROM open_difference'],
])('accepts %s', async (_, sql) => {
  const before = await contents()
  await db.prepare(sql).run()
  expect(await contents()).not.toEqual(before)
})

const transfer = {
  deposit: (height: number, changes = '') =>
    `deposit (txid, position, height, block_hash, cuy, uid, from_address, to_address, raw, native, outcome, amount, created_at)
      VALUES ('${changes.padStart(64, '1')}', 0, ${height}, '${'1'.repeat(64)}', 1, 1, '${b}', '${a}', '5', 1, 'dust', 0, 7)`,
  movement: (height: number, changes = '') =>
    `movement (txid, position, height, block_hash, cuy, address, direction, raw)
      VALUES ('${changes.padStart(64, '1')}', 0, ${height}, '${'1'.repeat(64)}', 1, '${a}', 'out', '5')`,
}
const movedOfA = async () =>
  (await db.prepare(`SELECT oldest_height, newest_height, changes FROM moved_address WHERE address = '${a}'`).raw())[0]

describe.each(['deposit', 'movement'] as const)('a %s', (kind) => {
  it.each(['INSERT', 'INSERT OR IGNORE', 'INSERT OR REPLACE', 'INSERT OR FAIL'])(
    'moves its address in its currency, sent with %s',
    async (verb) => {
      await db.prepare(`${verb} INTO ${transfer[kind](90)}`).run()
      expect(await movedOfA()).toEqual([90, 90, 1])
      await db.prepare(`${verb} INTO ${transfer[kind](120, '2')}`).run()
      await db.prepare(`${verb} INTO ${transfer[kind](85, '3')}`).run()
      expect(await movedOfA()).toEqual([90, 120, 3])
      expect(await db.prepare('SELECT count(*) AS n FROM moved_address').first('n')).toBe(2)
    },
  )

  it('is refused where its address cannot be marked as moved', async () => {
    await db.prepare(moved('90, 90, 9007199254740991')).run()
    await expect(db.prepare(`INSERT OR IGNORE INTO ${transfer[kind](100)}`).run()).rejects.toThrow(
      'was not marked as moved',
    )
    expect(await db.prepare(`SELECT count(*) AS n FROM ${kind}`).first('n')).toBe(0)
  })
})

it('a movement of an address that was never issued is stored, and moves none', async () => {
  await db.prepare(`INSERT INTO ${transfer.movement(90).replace(`'${a}'`, `'${'c'.repeat(40)}'`)}`).run()
  expect(await db.prepare('SELECT count(*) AS n FROM movement').first('n')).toBe(1)
  expect(await db.prepare('SELECT count(*) AS n FROM moved_address').first('n')).toBe(1)
})
