import { expect, it } from 'vitest'
import type { Address } from '../../src/worker/chain/address.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { storeTransfers } from '../../src/worker/deposits/store/transfers.ts'
import { measure, numbers, refused, stranger, upTo, withoutTriggers } from '../d1/fixtures.ts'
import {
  after,
  ask,
  asked,
  askOne,
  balance,
  cancel,
  events,
  finalize,
  hour,
  minute,
  openOrders,
  order,
  pay,
  read,
  sayOne,
  second,
  see,
  transferOf,
} from './harness.ts'

const trx = (amount: number) => BigInt(amount) * 1_000_000n

/** Stores credited deposits of 1 sun to an order: the transfers `first` + 1, `first` + 2, … */
async function storeDust(db: WriteDatabase, orderId: number, to: Address, count: number, first: number) {
  await withoutTriggers(db, [
    `${numbers(count)} INSERT INTO stored_transfer
        (id, txid, position, height, cuy, uid, from_address, to_address, raw, native, state, amount,
        created_at, changed_at)
      SELECT ${first} + i, unhex(printf('%064x', ${first} + 1000000 + i)), 0, 140, 1, 7,
        unhex('${stranger}'), unhex('${to}'), '1', 1, 'credited', 1, 5, 5 FROM n`,
    `${numbers(count)} INSERT INTO order_deposit SELECT ${orderId}, ${first} + i, ${asked + minute} FROM n`,
    `UPDATE payment_order SET credited = ${count}, newest_entry = 1, state = 'partly' WHERE id = ${orderId}`,
  ])
}

/** Credits deposits in one batch, and returns how many rows that read and wrote. */
async function rowsOfCredits(db: WriteDatabase, to: Address, first: number, amounts: readonly bigint[]) {
  await finalize(db, 150)
  const transfers = amounts.map((units, i) =>
    transferOf(first + i, { height: 150, to, units, madeAt: after(2 * minute) }),
  )
  const { rows, result } = await measure(db, (measured) => storeTransfers(measured, transfers, after(hour)))
  expect(result).toBe('stored')
  return rows
}

it('a credit that pays an order reads no deposit of another order', async () => {
  const db = await openOrders()
  const [one, other, last] = await ask(db, [order('A'), order('B'), order('C')])
  if (one === undefined || other === undefined || last === undefined) throw new Error('three orders were asked for')
  const before = await rowsOfCredits(db, one.address, 2, [trx(25)])
  await storeDust(db, other.id, other.address, 20_000, 100)
  expect(await rowsOfCredits(db, last.address, 3, [trx(25)])).toBeLessThan(before + 100)
})

it('a credit to an order that stays short reads at most the newest of its deposits', async () => {
  const db = await openOrders()
  const [one] = await ask(db, [order('A', { amt: '1000' })])
  if (one === undefined) throw new Error('an order was asked for')
  await pay(db, 1, { to: one.address, units: trx(1), madeAt: after(minute) })
  await storeDust(db, one.id, one.address, 20_000, 100)
  expect(await rowsOfCredits(db, one.address, 30_000, [1n])).toBeLessThan(500)
  const rows = await rowsOfCredits(
    db,
    one.address,
    40_000,
    upTo(100).map(() => 1n),
  )
  expect(rows).toBeLessThan(100 * 500)
})

it('an order that was asked for below a wrong final height counts after the correction', async () => {
  const db = await openOrders()
  await finalize(db, 10_000)
  const { address } = await askOne(db)
  const corrected = `INSERT INTO correction (finalized, reason, created_at) VALUES (130, 'wrong', ${asked + second})`
  await db.prepare(corrected).run()
  await pay(db, 1, { to: address, units: trx(25), madeAt: after(minute), height: 150 })
  expect(await balance(db)).toBe(25)
  expect(await sayOne(db)).toBe('paid 25')
})

it('refused dust hides nothing that is seen', async () => {
  const db = await openOrders()
  const { address } = await askOne(db)
  await see(db, 1, { to: address, units: trx(25), madeAt: after(minute) })
  for (const n of upTo(60)) {
    await see(db, 100 + n, { to: address, units: 1n, madeAt: after(minute) })
    await pay(db, 100 + n, { to: address, units: 1n, madeAt: after(minute), verdict: refused })
  }
  expect(await sayOne(db)).toBe('open 0 seen 25')
  expect((await read(db)).deposits).toHaveLength(1)
})

it('the event of a cancelled order shows nothing as seen, as its list does', async () => {
  const db = await openOrders()
  const { address } = await askOne(db)
  await see(db, 1, { to: address, units: trx(25), madeAt: after(minute) })
  await cancel(db, 'A', after(2 * minute))
  expect(await sayOne(db)).toBe('cancelled 0')
  expect(await events(db)).toEqual(['deposit.seen A', 'order.cancelled A: cancelled 0'])
})

it('in one batch, each of several deposits to two orders counts', async () => {
  const db = await openOrders()
  const [one, other] = await ask(db, [order('A', { take: true }), order('B', { take: true })])
  if (one === undefined || other === undefined) throw new Error('two orders were asked for')
  await finalize(db, 150)
  const amounts = [10, 20, 15, 5, 7, 1]
  const transfers = amounts.map((amount, i) => {
    const { address } = i % 2 === 0 ? one : other
    return transferOf(1 + i, { height: 150, to: address, units: trx(amount), madeAt: after(minute) })
  })
  expect(await storeTransfers(db, transfers, after(hour))).toBe('stored')
  expect([await sayOne(db, 'A'), await sayOne(db, 'B')]).toEqual(['paid 32 taken', 'paid 26 taken'])
  expect(await balance(db)).toBe(8)
})

it('a currency that has orders alone is in use, so it cannot leave the configuration', async () => {
  const db = await openOrders()
  const isUsed = 'SELECT count(*) AS used FROM total WHERE cuy = 1' // what `isUsed` of stored settings reads
  expect(await db.prepare(isUsed).first('used')).toBe(0)
  await askOne(db)
  expect(await db.prepare(isUsed).first('used')).toBe(1)
})
