import { expect, it } from 'vitest'
import type { BackendName } from '../../src/worker/common/ids.ts'
import type { WriteDatabase } from '../../src/worker/d1/database.ts'
import { postEntries } from '../../src/worker/ledger/post-entries.ts'
import { askOrders } from '../../src/worker/orders/ask.ts'
import { currencies } from '../support/currencies.ts'
import {
  after,
  ask,
  asked,
  askOne,
  balance,
  cancel,
  contextOf,
  day,
  events,
  expire,
  minute,
  openOrders,
  order,
  pay,
  read,
  sayOne,
  second,
  shop,
} from './harness.ts'

const trx = (n: number) => BigInt(n) * 1_000_000n

/** The database, where a rival acts just before the first statement that has this text. */
function withRival(db: WriteDatabase, text: string, act: () => Promise<unknown>): WriteDatabase {
  let isLeft = true
  const wrap = (statement: D1PreparedStatement, sql: string): D1PreparedStatement =>
    new Proxy(statement, {
      get: (target, name) => {
        if (name === 'bind') return (...values: unknown[]) => wrap(target.bind(...values), sql)
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        if (name !== 'run' || !sql.includes(text)) return member.bind(target)
        return async () => {
          if (isLeft) {
            isLeft = false
            await act()
          }
          return target.run()
        }
      },
    })
  const rivalled = { prepare: (sql: string) => wrap(db.prepare(sql), sql), batch: db.batch.bind(db) }
  return rivalled as unknown as WriteDatabase // safe: only these two methods are called
}

it('two orders that are asked for at once never share an address', async () => {
  const db = await openOrders()
  const answers = await Promise.all(['A', 'B', 'C', 'D'].map((name) => ask(db, [order(name)])))
  expect(new Set(answers.flat().map(({ address }) => address)).size).toBe(4)
  // The free address of an ended order is taken by a rival between reading and storing.
  const later = after(5 * day)
  const rivalled = withRival(db, 'INSERT INTO "payment_order"', () => ask(db, [order('E')], later))
  const [own] = await ask(rivalled, [order('F')], later)
  expect(own?.address).not.toBe((await read(db, { order: 'E' })).address)
})

it('an address that a rival takes as soon as it is issued is missing, and another one is issued', async () => {
  const db = await openOrders()
  let isLeft = true
  const batch = async (statements: D1PreparedStatement[]) => {
    const issued = await db.prepare('SELECT count(*) AS n FROM stored_address').first<number>('n')
    if (isLeft && issued === 1) {
      isLeft = false
      await ask(db, [order('E')])
    }
    return db.batch(statements)
  }
  // safe: only these two methods are called
  const rivalled = { prepare: (sql: string) => db.prepare(sql), batch } as unknown as WriteDatabase
  const [own] = await ask(rivalled, [order('F')])
  expect(isLeft).toBe(false)
  expect(own?.address).not.toBe((await read(db, { order: 'E' })).address)
})

it('the same order asked for at once is stored once, and another content is refused', async () => {
  const db = await openOrders()
  const rivalled = withRival(db, 'INSERT INTO "payment_order"', () => askOne(db))
  const same = await askOrders(contextOf(rivalled), [order('A')], shop, asked)
  expect(same).toMatchObject({ ok: true, value: { replayed: true } })
  const reasonOf = async (changes: object, by = shop) => {
    const answer = await askOrders(contextOf(db), [order('A', changes)], by, after(minute))
    return answer.ok ? answer.value.replayed : 'reason' in answer.error && answer.error.reason
  }
  expect(await reasonOf({})).toBe(true)
  expect(await reasonOf({ until: new Date(asked + day).toISOString() })).toBe(true)
  const other = { amt: '26', atLeast: '24', take: true, mark: 'x', return: 'https://shop.example/', cuy: 2 }
  for (const [name, value] of Object.entries(other)) expect(await reasonOf({ [name]: value })).toBe('content-differs')
  expect(await reasonOf({ until: new Date(asked + 2 * day).toISOString() })).toBe('content-differs')
  expect(await reasonOf({}, 'office' as BackendName)).toBe('backend-differs')
})

it('a cancellation beside a credit: whichever comes first holds', async () => {
  const db = await openOrders()
  const { address } = await askOne(db)
  const credit = () => pay(db, 1, { to: address, units: trx(10), madeAt: after(minute) })
  const rivalled = withRival(db, 'UPDATE "payment_order"', credit)
  expect(await cancel(rivalled, 'A', after(2 * minute))).toBe('order-credited')
  expect(await sayOne(db)).toBe('partly 10')
  const [other] = await ask(db, [order('B')])
  expect(await cancel(db, 'B', after(minute), 'a mistake')).toBe('cancelled')
  expect(await cancel(db, 'B', after(2 * minute))).toBe('cancelled')
  await pay(db, 2, { to: other?.address ?? address, units: trx(25), madeAt: after(2 * minute) })
  expect(await sayOne(db, 'B')).toBe('cancelled 0')
  expect(await balance(db)).toBe(35)
  expect(await events(db)).toEqual([
    'deposit.credited A',
    'order.partly A: partly 10',
    'order.cancelled B: cancelled 0',
    'deposit.credited B',
  ])
})

it('take beside spending: what the user has spent is not taken, and the event says so', async () => {
  const db = await openOrders()
  const { address } = await askOne(db, { take: true })
  await pay(db, 1, { to: address, units: trx(20), madeAt: after(minute) })
  const spend = (osn: string, amt: string) =>
    postEntries({ db, currencies }, [{ uid: 7, cuy: 1, type: 4, osn, amt }], shop, after(2 * minute))
  expect(await spend('A', '-1')).toMatchObject({ ok: false, error: { reason: 'key-in-use' } })
  expect(await spend('other', '-1')).toMatchObject({ ok: true })
  await pay(db, 2, { to: address, units: trx(5), madeAt: after(3 * minute) })
  expect(await sayOne(db)).toBe('paid 25')
  expect(await balance(db)).toBe(24)
  await pay(db, 3, { to: address, units: trx(50), madeAt: after(4 * minute) })
  expect(await sayOne(db)).toBe('paid 75') // what comes later is not taken, either
  expect(await spend('A', '-25')).toMatchObject({ ok: false, error: { reason: 'key-in-use' } })
})

it('an entry that has the key of an order to be asked for keeps it', async () => {
  const db = await openOrders()
  const first = await askOne(db, { order: 'first' })
  await pay(db, 1, { to: first.address, units: trx(25), madeAt: after(minute) })
  await postEntries({ db, currencies }, [{ uid: 7, cuy: 1, type: 4, osn: 'A', amt: '-1' }], shop, after(minute))
  const answer = await askOrders(contextOf(db), [order('A', { take: true })], shop, after(minute))
  expect(answer).toMatchObject({ ok: false, error: { kind: 'conflict', order: 1, reason: 'key-in-use' } })
  expect((await askOne(db)).state).toBe('open')
})

it('two ticks at once end an order once', async () => {
  const db = await openOrders()
  await ask(db, [order('A'), order('B', { until: new Date(asked + 2 * day).toISOString() })])
  const ended = await Promise.all([expire(db, after(day + second)), expire(db, after(day + second))])
  expect(ended.toSorted()).toEqual([0, 1])
  expect(await events(db)).toEqual(['order.expired A: expired 0'])
})

it('all orders of a request are stored or none', async () => {
  const db = await openOrders()
  const answer = await askOrders(
    contextOf(db),
    [order('A'), order('B', { until: '2020-01-01T00:00:00Z' })],
    shop,
    asked,
  )
  expect(answer).toMatchObject({ ok: false, error: { kind: 'bad-input', order: 2, member: 'until' } })
  expect(await db.prepare('SELECT count(*) AS n FROM payment_order').first('n')).toBe(0)
  await ask(db, [order('A')])
  const partly = await askOrders(contextOf(db), [order('A'), order('B')], shop, asked)
  expect(partly).toMatchObject({ ok: false, error: { order: 2, reason: 'partly-known' } })
})
