import { beforeEach, describe, expect, it } from 'vitest'
import { entry, expectRefusal, insert, or, posting, run, storeRows, transfer } from './rows.ts'

let db: D1Database

beforeEach(async () => {
  db = await storeRows() // a credit of 50 on day 0
})

// test/d1/sums.property.test.ts tests that the sums are exact, whatever is stored.

const days = () => db.prepare('SELECT day, cuy, type, entries, high, low FROM day ORDER BY day, cuy, type').raw()
const totals = () => db.prepare('SELECT cuy, kind, number, part_4, part_5, part_6 FROM total ORDER BY cuy, kind').raw()

describe('the sums of entries', () => {
  it.each(['IGNORE', 'REPLACE', 'FAIL'])('follow what is stored under OR %s', async (policy) => {
    await run(or(policy, posting([entry()])), or(policy, transfer('credited')))
    expect(await days()).toEqual([
      [0, 1, 1, 2, 0, 100],
      [0, 1, 9, 1, 0, 5],
    ])
    expect(await totals()).toEqual([
      [1, 'credited', 2, 0, 0, 100],
      [1, 'held', 1, 0, 0, 50],
      [1, 'refused', 1, 0, 0, 50],
    ])
  })
})

describe('the sums of readings', () => {
  const reading = (balance: string) =>
    `UPDATE stored_holding SET balance = ${balance}, read_from = iif(${balance} IS NULL, NULL, 90), read_to = iif(${balance} IS NULL, NULL, 90)`

  it('have the newest balance of each address, and the time of the newest reading', async () => {
    // a payment from `b` to `a`, so that both addresses are read
    await run(transfer('moved', { from_address: `'${'b'.repeat(40)}'` }))
    await run('UPDATE scan SET advanced_at = 70', reading(`'3${'0'.repeat(24)}'`))
    expect(await totals()).toContainEqual([1, 'read', 2, 6, 0, 0])
    await run('UPDATE scan SET advanced_at = 80', reading('NULL'))
    expect(await totals()).toContainEqual([1, 'read', 0, 0, 0, 0])
    expect(await db.prepare(`SELECT changed_at FROM total WHERE kind = 'read'`).first('changed_at')).toBe(70)
  })

  it.each([
    [
      'is stored with a reading',
      insert('stored_holding', {
        cuy: '2',
        address_id: '1',
        due_at: '1',
        balance: `'4'`,
        read_from: '1',
        read_to: '2',
      }),
    ],
    [
      'is stored with a difference',
      insert('stored_holding', { cuy: '2', address_id: '1', due_at: '1', difference: `'4'`, differing: '3' }),
    ],
  ])('know each holding: none %s', async (_, sql) => {
    await expectRefusal(sql, 'holding: it begins without a reading')
  })

  it('know each holding: none is deleted with a reading', async () => {
    await run(reading(`'5'`))
    await expectRefusal('DELETE FROM stored_holding', 'holding: it ends without a reading')
    await run(reading('NULL'), 'DELETE FROM stored_holding')
    expect(await totals()).toContainEqual([1, 'read', 0, 0, 0, 0])
  })
})

it.each(['day', 'total'])('no row of %s is deleted', async (table) => {
  await expectRefusal(`DELETE FROM ${table}`, `${table}: rows are never deleted`)
})
