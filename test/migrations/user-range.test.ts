import { beforeAll, describe, expect, it } from 'vitest'
import { reservedUid } from '../../src/worker/common/ids.ts'
import { freshDatabase } from '../support/database.ts'

describe('the users of a database that shares them with others', () => {
  let db: D1Database
  const setRange = (first: number, last: number) =>
    db
      .prepare(
        'INSERT INTO user_range VALUES (1, ?, ?, 0) ON CONFLICT DO UPDATE SET first = excluded.first, last = excluded.last',
      )
      .bind(first, last)
      .run()
  const addWallet = (uid: number) =>
    db
      .prepare('INSERT INTO wallet (uid, cuy, balance, entry_count, newest_entry) VALUES (?, 1, 0, 0, 0)')
      .bind(uid)
      .run()
  const addAddress = (uid: number, id: number) =>
    db
      .prepare(
        `INSERT INTO stored_address (id, uid, address, issued_height, created_at) VALUES (?1, ?2, unhex(printf('%040x', ?1)), 0, 0)`,
      )
      .bind(id, uid)
      .run()
  beforeAll(async () => {
    db = await freshDatabase()
    await setRange(10, 20)
  })

  it.each([10, 20, reservedUid])(
    'are of the range, the first and the last included, and the owner of reserved addresses: %s',
    async (uid) => {
      await addWallet(uid)
    },
  )

  it.each([9, 21, reservedUid - 1])('are no others, whoever adds them: %s', async (uid) => {
    await expect(addWallet(uid)).rejects.toThrow('wallet: another database has its user')
    await expect(addAddress(uid, 1)).rejects.toThrow('address: another database has its user')
  })

  it.each([
    [11, 20],
    [10, 19],
    [21, 30],
    [30, reservedUid],
  ])('stay in the range when it changes: %s to %s', async (first, last) => {
    const refusal = 'user_range: the database has other users'
    await expect(setRange(first, last)).rejects.toThrow(refusal)
    const replace = `INSERT OR REPLACE INTO user_range VALUES (1, ${first}, ${last}, 0)`
    await expect(db.prepare(replace).run()).rejects.toThrow(refusal)
  })

  it.each([
    ['deleted', 'DELETE FROM user_range', 'user_range: the row is never deleted'],
    ['stored beside another range', 'INSERT INTO user_range VALUES (2, 30, 40, 0)', 'user_range_id'],
    ['without a user', 'UPDATE user_range SET first = 21', 'user_range_last'],
  ])('are those of one range, which is not %s', async (_, sql, why) => {
    await expect(db.prepare(sql).run()).rejects.toThrow(why)
  })

  it('can become more', async () => {
    await setRange(10, reservedUid)
    await addWallet(reservedUid - 1)
  })
})
