import { expect, it } from 'vitest'
import type { Address } from '../../src/worker/chain/address.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import type { BackendName } from '../../src/worker/common/ids.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import { storePost } from '../../src/worker/ledger/store/posts.ts'
import { amount, block, credited, cuy, growthOf, ms, nth, openDatabase, seen, uid, upTo } from './fixtures.ts'

/**
 * Counts the rows that D1 reports as written. `take` returns the count since its last call. With
 * `guards` 1 it subtracts the one row, that of the scan, which the guard of a batch of transfers
 * writes.
 */
function counting(db: WriteDatabase) {
  let rows = 0
  const counted = {
    prepare: (sql: string) => db.prepare(sql),
    async batch(statements: D1PreparedStatement[]) {
      const results = await db.batch(statements)
      for (const { meta } of results) rows += meta.rows_written
      return results
    },
  }
  const guard = 1
  return {
    db: counted as WriteDatabase, // safe: storing calls only these two methods
    take(guards: 0 | 1) {
      const taken = rows - guards * guard
      rows = 0
      return taken
    },
  }
}

const post = (db: WriteDatabase, n: number, owner = 1) =>
  storePost(
    db,
    [{ uid: uid(owner), cuy: cuy(1), type: 9, osn: `order-${n}`, amount: amount(1n), mark: 'two cups' }],
    'shop' as BackendName,
    ms(20),
  )

it('a deposit writes 17 rows if it was seen first, else 12, and a posted entry 6', async () => {
  const { db, take } = counting(await openDatabase([1]))
  const store = async (n: number, verdict = credited()) => {
    await storeTransfers(db, [nth(n, verdict, { block: block(110) })], ms(10))
    return take(1)
  }
  await store(1) // creates the wallet, the row of the day and the sums, which later deposits only update
  const first = await store(2, seen())
  expect(first + (await store(2))).toBe(17)
  expect(await store(3)).toBe(12)
  await post(db, 1)
  take(0)
  await post(db, 2)
  expect(take(0)).toBe(6)
})

it('a deposit takes less than 449 bytes with all that belongs to it, a posted entry 142, and the user of a deposit 206', async () => {
  const count = 1_500
  const db = await openDatabase()
  const grown = await growthOf(db, count)
  const scattered = (n: number) => (n * 2_654_435_761) % 4_294_967_296
  const insert = db.prepare(
    'INSERT INTO stored_address (id, uid, address, issued_height, created_at) VALUES (?, ?, unhex(?), 120, 0)',
  )
  const addressOf = (n: number) => `${scattered(n).toString(16).padStart(8, '0')}${'ab'.repeat(16)}` as Address
  await db.batch(upTo(count).map((n) => insert.bind(n + 1, n + 1, addressOf(n))))
  await db.prepare('UPDATE scan SET finalized = 130').run()
  const pay = async (round: number) => {
    for (const verdict of [seen(), credited(25_000_000n)]) {
      const paid = upTo(count).map((n) => {
        const hash = `${scattered(n + round * count)
          .toString(16)
          .padStart(8, '0')}${'cd'.repeat(28)}`
        const changes = { txid: hash as Txid, uid: uid(n + 1), to: addressOf(n), raw: 25_000_000n, block: block(125) }
        return nth(1, verdict, changes)
      })
      await storeTransfers(db, paid, ms(10))
    }
  }
  await pay(0)
  const user = await grown()
  await pay(1)
  const deposit = await grown()
  for (const n of upTo(count)) await post(db, n, n + 1)
  const entry = await grown()
  expect(deposit).toBeLessThan(449)
  expect(user - deposit).toBeLessThan(206)
  expect(entry).toBeLessThan(142)
}, 120_000)
