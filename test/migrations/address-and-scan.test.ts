import { beforeEach, describe, expect, it } from 'vitest'
import { openStates } from '../../src/worker/common/payout-states.ts'
import { freshDatabase } from '../support/database.ts'
import { a, address, b, c, expectRefusal, or, run, scanRow, storeRows, t2 } from './rows.ts'

let db: D1Database

beforeEach(async () => {
  db = await storeRows()
})

describe('an address', () => {
  it.each([
    ['issued twice', address({ address: `'${a}'` }), 'address: already issued'],
    ['issued twice, by OR REPLACE', or('REPLACE', address({ address: `'${a}'` })), 'address: already issued'],
    [
      'issued twice, by an upsert',
      `${address({ address: `'${a}'` })} ON CONFLICT (address) DO UPDATE SET uid = 3`,
      'address: already issued',
    ],
    ['at an index that is taken', address({ id: '2' }), 'address: already issued'],
    ['at an index that is taken, by OR REPLACE', or('REPLACE', address({ id: '2' })), 'address: already issued'],
    ['at an index that leaves a gap', address({ id: '4' }), 'address: id must be the highest plus one'],
    ['at a negative index', address({ id: '0' }), 'address: id must be the highest plus one'],
    [
      'issued at a height below the finalized one',
      address({ issued_height: '119' }),
      'address: issued_height must not be below the finalized height',
    ],
    [
      'reserved at a height between that of the newest one and the finalized one',
      address({ uid: '9007199254740991', issued_height: '81' }),
      'address: issued_height must not be below the finalized height',
    ],
    [
      'of a caller at the height of the newest one, which is below the finalized one',
      address({ issued_height: '80' }),
      'address: issued_height must not be below the finalized height',
    ],
    [
      'put back though it is as old as the newest final block',
      address({ issued_height: '80', created_at: '4' }),
      'address: issued_height must not be below the finalized height',
    ],
    [
      'issued at no height',
      address({ issued_height: 'NULL' }),
      'NOT NULL constraint failed: stored_address.issued_height',
    ],
    ['with an id that is taken', or('REPLACE', address({ id: '1' })), 'address: already issued'],
    ['that is no hex', address({ address: `'0x${c.slice(2)}'` }), 'NOT NULL constraint failed: stored_address.address'],
    ['of 19 bytes', address({ address: `'${c.slice(2)}'` }), 'address_address'],
    ['with the prefix 41', address({ address: `'41${c}'` }), 'address_address'],
    ['whose unpaid ones are no list', address({ uid: '1', unpaid: `'1'` }), 'address_unpaid'],
    ['whose unpaid ones are no JSON', address({ unpaid: `'[1'` }), 'malformed JSON'],
    ['whose unpaid ones are an empty list', address({ unpaid: `'[]'` }), 'address_unpaid'],
    [
      "whose unpaid ones are another user's",
      address({ uid: '2', unpaid: `'[2,1]'` }),
      'address: unpaid must list older addresses of its user',
    ],
    [
      'whose unpaid ones are itself',
      address({ uid: '2', unpaid: `'[3]'` }),
      'address: unpaid must list older addresses of its user',
    ],
    [
      'whose unpaid ones are forgotten later',
      `UPDATE stored_address SET unpaid = '[1]' WHERE id = 2`,
      'address: rows are never changed',
    ],
    ['given to another caller', 'UPDATE stored_address SET uid = 2 WHERE id = 1', 'address: rows are never changed'],
    [
      'given to another caller by OR REPLACE',
      'UPDATE OR REPLACE stored_address SET id = 1 WHERE id = 2',
      'address: rows are never changed',
    ],
    ['deleted', 'DELETE FROM stored_address WHERE id = 2', 'address: rows are never deleted'],
  ])('%s is refused', async (_, sql, why) => {
    await expectRefusal(sql, why)
  })

  it('that is older than the newest final block is put back at the height that it had', async () => {
    await run(address({ issued_height: '79', created_at: '3' }))
    const stored = await db.prepare('SELECT uid, issued_height FROM address WHERE id = 3').first()
    expect(stored).toEqual({ uid: 3, issued_height: 79 })
  })

  it('below the first one is stored for no caller only, the next lower one each time', async () => {
    const reserved = (index: number, changes = {}) =>
      address({ id: `${index + 1}`, uid: '9007199254740991', ...changes })
    const isTaken = 'address: id must be the highest plus one'
    await freshDatabase()
    await run(scanRow, address({ id: '4' }))
    await expectRefusal(reserved(2, { address: `'${a}'`, uid: '3' }), isTaken)
    await expectRefusal(reserved(1, { address: `'${a}'` }), isTaken)
    await run(reserved(2, { address: `'${a}'` }), reserved(1, { address: `'${b}'` }))
    await run(address({ id: '5', address: `'${'d'.repeat(40)}'` }))
  })
})

describe("the scan's row", () => {
  it.each([
    ['with a lower position', 'UPDATE scan SET height = 99', 'scan: height must not decrease'],
    [
      'with a lower position, by OR REPLACE',
      'UPDATE OR REPLACE scan SET height = 99',
      'scan: height must not decrease',
    ],
    ['without a height', 'UPDATE scan SET height = NULL', 'CHECK constraint failed: scan_superseded'],
    [
      'without a height, by OR REPLACE',
      'UPDATE OR REPLACE scan SET height = NULL',
      'CHECK constraint failed: scan_superseded',
    ],
    [
      'with another hash at its height',
      `UPDATE scan SET hash = '${t2}'`,
      'scan: the hash of a stored block must not change',
    ],
    ['without its hash', 'UPDATE scan SET hash = NULL', 'scan: the hash of a stored block must not change'],
    ['with a lower finalized height', 'UPDATE scan SET finalized = 119', 'scan: finalized must not decrease'],
    ['above the finalized height', `UPDATE scan SET height = 121, hash = '${t2}'`, 'scan_height'],
    ['inserted twice', scanRow, 'scan: already started'],
    ['inserted twice, with another id', scanRow.replace('(1,', '(2,'), 'scan: already started'],
    ['replaced', or('REPLACE', scanRow).replace('100', '50'), 'scan: already started'],
    ['changed by an upsert', `${scanRow} ON CONFLICT (id) DO UPDATE SET height = 50`, 'scan: already started'],
    ['deleted', 'DELETE FROM scan', 'scan: the row is never deleted'],
    ['with another id', 'UPDATE scan SET id = 2', 'scan_id'],
  ])('%s is refused', async (_, sql, why) => {
    await expectRefusal(sql, why)
  })
})

it('a position whose block was not read has no hash, and gets one with the next block', async () => {
  await run('UPDATE scan SET height = 101, hash = NULL', `UPDATE scan SET height = 102, hash = '${t2}'`)
  expect(await db.prepare('SELECT height, hash FROM scan').first()).toEqual({ height: 102, hash: t2 })
})

describe('a stored setting', () => {
  const setting = (value: string) =>
    `INSERT INTO stored_setting (name, value, stored_at) VALUES ('TRON_CHAIN_ID', '${value}', 5)`
  it.each([
    ['replaced', or('REPLACE', setting('0x2')), 'stored_setting: already stored'],
    [
      'changed by an upsert',
      `${setting('0x2')} ON CONFLICT (name) DO UPDATE SET value = '0x2'`,
      'stored_setting: already stored',
    ],
    ['changed', `UPDATE stored_setting SET value = '0x2'`, 'stored_setting: rows are never changed'],
    ['deleted', 'DELETE FROM stored_setting', 'stored_setting: rows are never deleted'],
  ])('%s is refused', async (_, sql, why) => {
    await db.prepare(setting('0x1')).run()
    await expectRefusal(sql, why)
  })
})

describe('a stored currency', () => {
  const stored = (row: string) =>
    `INSERT INTO stored_currency (cuy, contract, decimals, scale, stored_at) VALUES (${row}, 5)`
  const change = (changes: string) => `UPDATE stored_currency SET ${changes}`
  beforeEach(() => run(stored(`3, '${a}', 8, 6`)))

  it('gets other decimals', async () => {
    await run(change('decimals = 18'))
    expect(await db.prepare('SELECT * FROM stored_currency').raw()).toEqual([[3, a, 18, 6, 5]])
  })

  it.each([
    ['another scale', change('scale = 4')],
    ['another contract', change(`contract = '${b}'`)],
    ['no contract', change('contract = NULL')],
    ['other decimals with another scale', change('decimals = 18, scale = 4')],
    ['another number', change('cuy = 4')],
  ])('does not get %s', async (_, sql) => {
    await expectRefusal(sql, 'stored_currency: only the decimals of a token are ever changed')
  })

  it('that is TRX gets no other decimals', async () => {
    await run(stored('1, NULL, 6, 6'))
    await expectRefusal(`${change('decimals = 8')} WHERE cuy = 1`, 'only the decimals of a token are ever changed')
  })

  it.each([
    ['replaced', or('REPLACE', stored(`3, '${a}', 18, 6`)), 'stored_currency: already stored'],
    [
      'changed by an upsert',
      `${stored(`3, '${a}', 18, 6`)} ON CONFLICT DO UPDATE SET decimals = 18`,
      'stored_currency: already stored',
    ],
    ['deleted', 'DELETE FROM stored_currency', 'stored_currency: rows are never deleted'],
    ["stored without a contract's form", stored(`4, 'x', 8, 6`), 'currency_contract'],
    ['stored with a scale above its decimals', stored(`4, NULL, 6, 7`), 'currency_scale'],
  ])('is not %s', async (_, sql, why) => {
    await expectRefusal(sql, why)
  })

  it('keeps its decimals for good once a deposit of it is credited', async () => {
    const credited = (cuy: number) =>
      `INSERT INTO day (day, cuy, type, entries, high, low) VALUES (1, ${cuy}, 1, 1, 0, 5)`
    await run(credited(2), change('decimals = 18'), credited(3))
    await expectRefusal(change('decimals = 8'), 'stored_currency: deposits of the currency are credited')
  })

  it.each(openStates)('with payouts that are %s, it gets no other decimals', async (state) => {
    const sum = (cuy: number, count: number) =>
      `INSERT INTO payout_sum (state, cuy, count, amount) VALUES ('${state}', ${cuy}, ${count}, ${count})`
    await run(sum(2, 1), sum(3, 0), change('decimals = 18'))
    await run('UPDATE payout_sum SET count = 1, amount = 1 WHERE cuy = 3')
    await expectRefusal(change('decimals = 8'), 'stored_currency: payouts of the currency are open')
  })
})

describe.each([
  [
    'kept_address',
    (value: number) =>
      `INSERT INTO kept_address (kind, address, height, stored_at) VALUES ('operator', '${a}', ${value}, 5)`,
    'height',
  ],
  [
    'agreed_decimals',
    (value: number) => `INSERT INTO agreed_decimals (contract, decimals, stored_at) VALUES ('${a}', ${value}, 5)`,
    'decimals',
  ],
])('%s', (table, stored, column) => {
  it.each([
    ['replaced', or('REPLACE', stored(8)), 'already stored'],
    ['changed by an upsert', `${stored(8)} ON CONFLICT DO UPDATE SET ${column} = 8`, 'already stored'],
    ['changed', `UPDATE ${table} SET ${column} = 8`, 'rows are never changed'],
    ['deleted', `DELETE FROM ${table}`, 'rows are never deleted'],
  ])('is not %s', async (_, sql, why) => {
    await run(stored(6))
    await expectRefusal(sql, `${table}: ${why}`)
  })
})

it.each([
  ['an operator without a height', `'operator', '${'a'.repeat(40)}', NULL`],
  ['a cell with a height', `'cell', '${'a'.repeat(40)}', 5`],
])('%s is not kept', async (_, row) => {
  await expectRefusal(
    `INSERT INTO kept_address (kind, address, height, stored_at) VALUES (${row}, 5)`,
    'kept_address_height',
  )
})

describe('an alarm', () => {
  const alarm = (kind: string, subject: string, at: number | string = 5, seenAt: number | string = at) =>
    `INSERT INTO alarm (kind, subject, raised_at, seen_at) VALUES ('${kind}', '${subject}', ${at}, ${seenAt})`
  it.each([
    ['stored twice', alarm('tick-failed', '{}'), 'UNIQUE constraint failed: alarm.kind, alarm.subject'],
    ['without a kind', alarm('', '{}'), 'CHECK constraint failed: alarm_kind'],
    ['of another form than a kind', alarm('Tick failed', '{}'), 'CHECK constraint failed: alarm_kind'],
    ['with a subject that is no JSON', alarm('tick-failed', 'node 1'), 'CHECK constraint failed: alarm_subject'],
    ['with a subject that is no object', alarm('tick-failed', '1'), 'CHECK constraint failed: alarm_subject'],
    [
      'with a long subject',
      alarm('tick-failed', `{"setting":"${'x'.repeat(200)}"}`),
      'CHECK constraint failed: alarm_subject',
    ],
    ['raised before 1970', alarm('scan-stalled', '{}', -1, 5), 'CHECK constraint failed: alarm_raised_at'],
    ['seen before 1970', alarm('scan-stalled', '{}', 5, -1), 'CHECK constraint failed: alarm_seen_at'],
    ['raised at no integer', alarm('scan-stalled', '{}', "'x'", 5), 'cannot store TEXT value in INTEGER column'],
  ])('%s is refused', async (_, sql, why) => {
    await db.prepare(alarm('tick-failed', '{}')).run()
    await expectRefusal(sql, why)
  })
})

it('no table refers to another: an export can be restored in any order', async () => {
  expect(await db.prepare(`SELECT name FROM sqlite_schema WHERE sql LIKE '%REFERENCES%'`).raw()).toEqual([])
})

it('every table is STRICT', async () => {
  const lax = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict = 0 AND type = 'table' AND name NOT GLOB '*_*'`
  expect(await db.prepare(lax).raw()).toEqual([])
  expect(await db.prepare('SELECT count(*) AS n FROM pragma_table_list WHERE strict = 1').first('n')).toBe(41)
})
