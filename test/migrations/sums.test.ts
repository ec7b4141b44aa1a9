import { beforeEach, describe, expect, it } from 'vitest'
import { a, contents, entry, expectRefusal, insert, or, posting, run, storeRows, transfer } from './rows.ts'

let db: D1Database

beforeEach(async () => {
  db = await storeRows() // a credit of 50 on day 0
})

const days = () => db.prepare('SELECT day, cuy, type, entries, high, low FROM day ORDER BY day, cuy, type').raw()
const totals = () => db.prepare('SELECT cuy, kind, number, part_4, part_5, part_6 FROM total ORDER BY cuy, kind').raw()

describe('the sums of entries', () => {
  it('follow each entry, by day, currency and type', async () => {
    await run(posting([entry(), entry({ type: 4, amount: -3, osn: 'y' })], { created_at: '86400000' }))
    await run(transfer('credited', { changed_at: '86400001', position: '1', native: '0' }))
    expect(await days()).toEqual([
      [0, 1, 1, 1, 0, 50],
      [1, 1, 1, 1, 0, 50],
      [1, 1, 4, 1, 0, -3],
      [1, 1, 9, 1, 0, 5],
    ])
    expect(await totals()).toEqual([[1, 'owed', 4, 0, 0, 102]])
  })

  it('are exact above 2^53, and back', async () => {
    const large = { amount: '9007199254740900', raw: `'9007199254740900'` }
    for (const position of [1, 2, 3]) {
      const other = {
        position: String(position),
        native: '0',
        to_address: `'${'b'.repeat(40)}'`,
        uid: '2',
        cuy: String(position),
      }
      await run(transfer('credited', { ...large, ...other }))
    }
    await run(posting([entry({ uid: 2, cuy: 1, type: 2, amount: -9007199254740900, osn: 'z' })]))
    await run(
      transfer('credited', { ...large, position: '7', native: '0', to_address: `'${'b'.repeat(40)}'`, uid: '2' }),
    )
    expect(await days()).toEqual([
      [0, 1, 1, 3, 18_014_398, 509_481_850],
      [0, 1, 2, 1, -9_007_199, -254_740_900],
      [0, 2, 1, 1, 9_007_199, 254_740_900],
      [0, 3, 1, 1, 9_007_199, 254_740_900],
    ])
    expect((await totals())[0]).toEqual([1, 'owed', 4, 0, 9_007, 199_254_740_950])
  })

  it.each(['IGNORE', 'REPLACE', 'FAIL'])('follow what is stored under OR %s', async (policy) => {
    await run(or(policy, posting([entry()])), or(policy, transfer('credited')))
    expect(await days()).toEqual([
      [0, 1, 1, 2, 0, 100],
      [0, 1, 9, 1, 0, 5],
    ])
    expect(await totals()).toEqual([[1, 'owed', 3, 0, 0, 105]])
  })

  it('do not change by a post that is refused', async () => {
    const before = await contents()
    await expect(db.prepare(posting([entry(), entry({ type: 4, amount: -56, osn: 'y' })])).run()).rejects.toThrow()
    expect(await contents()).toEqual(before)
  })
})

describe('the sums of readings', () => {
  const reading = (balance: string, difference = '0', differing = 0) =>
    `UPDATE holding SET balance = ${balance}, read_from = iif(${balance} IS NULL, NULL, 90), read_to = iif(${balance} IS NULL, NULL, 90),
      difference = '${difference}', differing = ${differing}`

  it('have the newest balance of each address, and the time of the newest reading', async () => {
    await run(transfer('moved', { from_address: `'${'b'.repeat(40)}'` })) // two addresses
    await run('UPDATE scan SET advanced_at = 70', reading(`'3${'0'.repeat(24)}'`))
    expect(await totals()).toEqual([
      [1, 'held', 2, 6, 0, 0],
      [1, 'owed', 1, 0, 0, 50],
    ])
    await run('UPDATE scan SET advanced_at = 80', reading('NULL'))
    expect(await totals()).toContainEqual([1, 'held', 0, 0, 0, 0])
    expect(await db.prepare(`SELECT changed_at FROM total WHERE kind = 'held'`).first('changed_at')).toBe(70)
  })

  it('have a difference once it is reported, with its sign', async () => {
    await run(reading(`'5'`, '-1000000000001', 2))
    expect((await totals()).map(([, kind]) => kind)).toEqual(['held', 'owed'])
    await run(reading(`'5'`, '-1000000000001', 3))
    expect(await totals()).toContainEqual([1, 'difference', 1, 0, -1, -1])
    await run(reading(`'5'`))
    expect(await totals()).toContainEqual([1, 'difference', 0, 0, 0, 0])
  })

  it('are not there for what was never read', async () => {
    expect(await totals()).toEqual([[1, 'owed', 1, 0, 0, 50]])
  })

  it.each([
    [
      'is stored with a reading',
      insert('holding', { cuy: '2', address: `'${a}'`, due_at: '1', balance: `'4'`, read_from: '1', read_to: '2' }),
    ],
    [
      'is stored with a difference',
      insert('holding', { cuy: '2', address: `'${a}'`, due_at: '1', difference: `'4'`, differing: '3' }),
    ],
  ])('know each holding: none %s', async (_, sql) => {
    await expectRefusal(sql, 'holding: it begins without a reading')
  })

  it('know each holding: none is deleted with a reading', async () => {
    await run(reading(`'5'`))
    await expectRefusal('DELETE FROM holding', 'holding: it ends without a reading')
    await run(reading('NULL'), 'DELETE FROM holding')
    expect(await totals()).toContainEqual([1, 'held', 0, 0, 0, 0])
  })
})

it.each(['day', 'total'])('no row of %s is deleted', async (table) => {
  await expectRefusal(`DELETE FROM ${table}`, `${table}: rows are never deleted`)
})
