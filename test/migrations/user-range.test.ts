import { beforeAll, describe, expect, it } from 'vitest'
import { reservedUid } from '../../src/worker/common/ids.ts'
import { freshDatabase } from '../support/database.ts'

describe('the users of a database that shares them with others', () => {
  let db: D1Database
  const setRange = (range: string) =>
    db
      .prepare(`INSERT INTO stored_setting VALUES ('CELLS', ?, 0) ON CONFLICT DO UPDATE SET value = excluded.value`)
      .bind(range)
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
    await setRange('10-20')
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

  it.each(['11-20', '10-19', '21-30', `30-${reservedUid}`])('stay in the range when it changes: %s', async (range) => {
    await expect(setRange(range)).rejects.toThrow('stored_setting: the database has other users')
  })

  it('can become more', async () => {
    await setRange(`10-${reservedUid}`)
    await addWallet(reservedUid - 1)
  })
})
