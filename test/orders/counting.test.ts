import { expect, it } from 'vitest'
import { ms } from '../d1/fixtures.ts'
import {
  after,
  ask,
  asked,
  askOne,
  balance,
  cancel,
  day,
  events,
  expire,
  hour,
  minute,
  openOrders,
  order,
  pay,
  sayOne,
  second,
  see,
} from './harness.ts'

const trx = (n: number) => BigInt(n) * 1_000_000n

it('an order is asked for, seen, partly paid and paid', async () => {
  const db = await openOrders()
  const { address } = await askOne(db)
  expect(await sayOne(db)).toBe('open 0')
  await see(db, 1, { to: address, units: trx(10), madeAt: after(minute) })
  expect(await sayOne(db)).toBe('open 0 seen 10')
  await see(db, 2, { to: address, units: trx(15), madeAt: after(2 * minute) })
  await pay(db, 1, { to: address, units: trx(10), madeAt: after(minute) })
  expect(await sayOne(db)).toBe('partly 10 seen 15')
  await pay(db, 2, { to: address, units: trx(15), madeAt: after(2 * minute) })
  expect(await sayOne(db)).toBe('paid 25')
  expect(await balance(db)).toBe(25)
  expect(await events(db)).toEqual([
    'deposit.seen A',
    'deposit.seen A',
    'deposit.credited A',
    'order.partly A: partly 10 seen 15',
    'deposit.credited A',
    'order.paid A: paid 25',
  ])
})

it('surplus counts within the hold, and makes no event of the order', async () => {
  const db = await openOrders()
  const { address } = await askOne(db)
  await pay(db, 1, { to: address, units: trx(30), madeAt: after(minute) })
  await pay(db, 2, { to: address, units: trx(5), madeAt: after(day) })
  expect(await sayOne(db)).toBe('paid 35')
  await pay(db, 3, { to: address, units: trx(5), madeAt: after(day + 2 * minute) })
  expect(await sayOne(db)).toBe('paid 35')
  expect(await balance(db)).toBe(40)
  expect(await events(db)).toEqual([
    'deposit.credited A',
    'order.paid A: paid 30',
    'deposit.credited A',
    'deposit.credited',
  ])
})

it('take posts what was asked for with the payment that completes it, and the surplus stays', async () => {
  const db = await openOrders()
  const { address } = await askOne(db, { take: true, atLeast: '24' })
  await pay(db, 1, { to: address, units: trx(20), madeAt: after(minute) })
  await pay(db, 2, { to: address, units: trx(7), madeAt: after(minute) })
  expect(await sayOne(db)).toBe('paid 27 taken')
  expect(await balance(db)).toBe(2)
  expect(await events(db)).toEqual([
    'deposit.credited A',
    'order.partly A: partly 20',
    'deposit.credited A',
    'entry.posted',
    'order.paid A: paid 27',
  ])
})

it('expired, it can still be paid: late goes by the block', async () => {
  const db = await openOrders()
  const { address } = await askOne(db)
  expect(await expire(db, after(day - second))).toBe(0)
  expect(await expire(db, after(day))).toBe(1)
  expect(await expire(db, after(day))).toBe(0)
  await pay(db, 1, { to: address, units: trx(5), madeAt: after(day), at: after(day + hour) })
  expect(await sayOne(db)).toBe('expired 5')
  await pay(db, 2, { to: address, units: trx(20), madeAt: after(day + 1), at: after(day + hour) })
  expect(await sayOne(db)).toBe('paid 25 late')
  expect(await events(db)).toEqual([
    'order.expired A: expired 0',
    'deposit.credited A',
    'order.partly A: expired 5',
    'deposit.credited A',
    'order.paid A: paid 25',
  ])
  expect(asked).toBeGreaterThan(0)
})

it.each([
  ['cancelled', hour],
  ['paid', hour],
  ['expired', day],
])('one that is %s holds its address for 24 hours more, and then the next order has it', async (state, ended) => {
  const db = await openOrders()
  const { address } = await askOne(db)
  if (state === 'cancelled') await cancel(db, 'A', after(ended))
  if (state === 'paid')
    await pay(db, 1, { to: address, units: trx(25), madeAt: after(hour - second), at: after(ended) })
  if (state === 'expired') await expire(db, after(ended))
  expect(await sayOne(db)).toContain(state)
  const next = async (reference: string, at: number) => (await ask(db, [order(reference)], ms(at)))[0]?.address
  expect(await next('B', after(ended + day - second))).not.toBe(address)
  expect(await next('C', after(ended + day))).toBe(address)
})
