import { expect, it } from 'vitest'
import type { Address } from '../../src/worker/chain/address.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import { credited, growthOf, ms, seen, txid, uid, upTo } from '../d1/fixtures.ts'
import { after, ask, asked, day, finalize, minute, openOrders, order, sayOne, transferOf } from './harness.ts'

const none = '' as Address
const trx = (n: number) => BigInt(n) * 1_000_000n

/** Counts the rows that D1 reports as written. `take` returns the count since its last call. */
function counting(db: WriteDatabase) {
  let rows = 0
  const note = <Result extends D1Result>(result: Result): Result => {
    rows += result.meta.rows_written
    return result
  }
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(statement, {
      get: (target, name) => {
        if (name === 'run' || name === 'all') return async () => note(await target[name]())
        if (name === 'bind') return (...values: unknown[]) => wrap(target.bind(...values))
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  const counted = {
    prepare: (sql: string) => wrap(db.prepare(sql)),
    batch: async (statements: D1PreparedStatement[]) => (await db.batch(statements)).map(note),
  }
  const take = () => {
    const taken = rows
    rows = 0
    return taken
  }
  return { db: counted as unknown as WriteDatabase, take } // safe: only these two methods are called
}

it('an order writes four rows when it is made, and three with the deposit that pays it', async () => {
  const plain = await openOrders()
  const { db, take } = counting(plain)
  await ask(db, [order('first')], asked)
  expect(take()).toBeGreaterThan(4) // its address is new
  const [one] = await ask(db, [order('second', { amt: '50' })], after(3 * day))
  expect(take()).toBe(4)
  const [free] = await ask(db, [order('other', { uid: 8, amt: '75' })], after(3 * day))
  await finalize(plain, 160)
  const guard = 1 // the row of the scan, which the guard of a batch writes
  const store = async (n: number, to: Address, madeAt: UnixMs, owner: number) => {
    take()
    await storeTransfers(db, [transferOf(n, { to, units: trx(25), madeAt, uid: owner })], after(4 * day))
    return take() - guard
  }
  const [to, other, later] = [one?.address ?? none, free?.address ?? none, after(3 * day + minute)]
  // The first deposits make wallets, sums and the holdings of the addresses.
  await store(1, other, asked, 8)
  await store(2, to, later, 7)
  expect(await store(3, other, asked, 8)).toBe(12) // made before the order: an ordinary one
  expect(await store(4, to, later, 7)).toBe(12 + 3)
  expect(await sayOne(plain, 'second')).toBe('paid 50')
  expect(await sayOne(plain, 'other')).toBe('open 0')
})

it('an order takes at most 250 bytes more than its deposit, with all that belongs to it', async () => {
  const count = 1_000
  const db = await openOrders()
  const grown = await growthOf(db, count)
  const name = (n: number) => `order-${100_000 + n}`
  const users = upTo(count).map((n) => ({ uid: n + 1, cuy: 1, amt: '25' }))
  const askAll = async (round: number, at: number) => {
    const made: Address[] = []
    for (let i = 0; i < count; i += 20) {
      const list = users.slice(i, i + 20).map((user, j) => ({ ...user, order: name(round * count + i + j) }))
      for (const { address } of await ask(db, list, ms(at))) made.push(address)
    }
    return made
  }
  const scattered = (n: number) => ((n * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')
  const payAll = async (round: number, addresses: readonly Address[], madeAt: number) => {
    await finalize(db, 150)
    for (const verdict of [seen(), credited(trx(25))]) {
      const paid = addresses.map((to, n) => {
        const hash = `${scattered(n + round * count)}${'cd'.repeat(28)}` as Txid
        const height = verdict.state === 'seen' ? 250 : 150
        const payment = { to, units: trx(25), madeAt: ms(madeAt), uid: n + 1, height, verdict }
        return { ...transferOf(1, payment), txid: hash, uid: uid(n + 1) }
      })
      await storeTransfers(db, paid, ms(madeAt + 1))
    }
  }
  const first = await askAll(0, asked) // makes the addresses
  await payAll(0, first, asked - 1)
  await grown()
  await payAll(1, first, asked - 1)
  const deposit = await grown()
  const again = await askAll(1, after(3 * day))
  await payAll(2, again, after(3 * day + minute))
  const withOrder = await grown()
  expect(again).toEqual(first)
  expect(deposit).toBeLessThan(449)
  expect(withOrder - deposit).toBeLessThan(250)
  expect(txid(1)).toHaveLength(64)
}, 240_000)
