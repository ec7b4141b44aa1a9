import { beforeEach, describe, expect, test } from 'vitest'
import type { LedgerMethods, OrderToAsk } from '../../src/worker/rpc/ledger-methods.ts'
import { startThreeCells, users } from '../cells/three-cells.ts'
import { payCaller, type RunningService, startService } from '../http/service.ts'
import { orderMembers, tea } from '../orders/answers.ts'

let service: RunningService
let ledger: LedgerMethods
beforeEach(async () => {
  service = await startService()
  ledger = service.rpc
  await payCaller(service)
  await service.get('/tron/recharge')
})

/** Passes a value that the types forbid but that a Worker in plain JavaScript can send. */
const untyped = (value: unknown) => value as never
const refused = (error: object) => ({ ok: false, error })
const key = { uid: 7, order: 'tea-1042' }

describe('orders over RPC', () => {
  test('are asked for, read and cancelled as over HTTP, with amounts as text', async () => {
    const order: OrderToAsk = { ...tea, atLeast: '24.5', mark: 'hot' }
    const asked = await ledger.askOrders([order], 'shop')
    expect(asked).toMatchObject({
      ...{ ok: true, replayed: false, count: 1 },
      list: [{ ...key, amt: '25', at_least: '24.5', seen: '0', credited: '0', mark: 'hot', by: 'shop', deposits: [] }],
    })
    const list = asked.ok ? asked.list : []
    expect(Object.keys(list[0] ?? {})).toEqual(orderMembers.filter((name) => !['return', 'paid_at'].includes(name)))
    expect(await ledger.askOrders([order], 'shop')).toEqual({ ...asked, replayed: true })
    expect(await ledger.orders({ uid: 7, order: 'tea-1042', state: 'open' })).toEqual({ ok: true, list, count: 1 })
    expect(await ledger.orders({ state: 'paid' })).toEqual({ ok: true, list: [], count: 0 })
    const cancelled = await ledger.cancelOrders([key], 'shop', { why: 'sold out' })
    expect(cancelled).toMatchObject({ ok: true, count: 1, list: [{ state: 'cancelled' }] })
    expect(await ledger.cancelOrders([key], 'shop')).toEqual(cancelled)
  })

  test('take null for what can be left out', async () => {
    const nulls = { atLeast: null, until: null, take: null, return: null, mark: null }
    expect(await ledger.askOrders([untyped({ ...tea, ...nulls })], 'shop')).toMatchObject({ ok: true })
    expect(await ledger.cancelOrders([key], 'shop', untyped({ why: null }))).toMatchObject({ ok: true })
  })

  test('are refused with the order, the member and the reason', async () => {
    const bad = { kind: 'bad-input', order: 1 }
    const ask = (changes: object) => ledger.askOrders([untyped({ ...tea, ...changes })], 'shop')
    expect(await ask({ amt: 25 })).toMatchObject(refused({ ...bad, member: 'amt' })) // over RPC amounts are texts
    expect(await ask({ atLeast: '26' })).toEqual(refused({ ...bad, member: 'atLeast', why: 'at most amt, 25' }))
    expect(await ask({ extra: 1 })).toMatchObject(refused({ ...bad, member: 'order' }))
    expect(await ledger.askOrders(untyped('tea'), 'shop')).toMatchObject(
      refused({ kind: 'bad-input', member: 'orders' }),
    )
    expect(await ledger.askOrders([tea], 'nobody at all')).toMatchObject(refused({ kind: 'bad-input', member: 'by' }))
    await ask({})
    expect(await ask({ amt: '26' })).toMatchObject(refused({ kind: 'conflict', order: 1, reason: 'content-differs' }))
    expect(await ledger.askOrders([tea], 'office')).toMatchObject(refused({ reason: 'backend-differs' }))
    const unknown = { kind: 'unknown-order', order: 1, why: 'its user has no such order' }
    expect(await ledger.cancelOrders([{ ...key, uid: 8 }], 'shop')).toEqual(refused(unknown))
    expect(await ledger.orders(untyped('all'))).toMatchObject(refused({ kind: 'bad-input', member: 'query' }))
    expect(await ledger.orders({ state: 'lost' })).toMatchObject(refused({ kind: 'bad-input', member: 'state' }))
  })

  test('say why no address can be issued', async () => {
    const off = service.with({ ISSUE_ADDRESSES: 'off' }).rpc
    const why = 'no new address is issued for now; addresses that were issued before stay valid'
    expect(await off.askOrders([tea], 'shop')).toEqual(refused({ kind: 'issuing-off', reason: 'issuing-off', why }))
  })
})

describe('orders of several databases', () => {
  beforeEach(async () => {
    service = await startThreeCells()
    ledger = service.rpc
  })
  const trx = (uid: number, order = 'tea-1042') => ({ uid, cuy: 1, amt: '25', order })

  test('are where their users are, and one request is about one database', async () => {
    for (const uid of users) expect((await service.send('/ledger/orders', { orders: [trx(uid)] })).status).toBe(200)
    const both = await service.send('/ledger/orders', { orders: [trx(users[0], 'a'), trx(users[1], 'a')] })
    expect([both.status, both.headers.get('x-reason')]).toEqual([422, 'other-cell'])
    const elsewhere = await service.send('/ledger/orders?cell=2', { orders: [trx(users[0], 'a')] })
    expect([elsewhere.status, elsewhere.headers.get('x-reason')]).toEqual([422, 'other-cell'])
    for (const uid of users) {
      const read = await service.ledger(`/ledger/orders?uid=${uid}`)
      expect(await read.json()).toMatchObject({ data: { count: 1, list: [{ uid }] } })
      const own = await service.get('/tron/orders', uid)
      expect(await own.json()).toMatchObject({ data: { count: 1, list: [{ uid }] } })
    }
    expect((await service.ledger('/ledger/orders')).status).toBe(400)
    expect(await (await service.ledger('/ledger/orders?cell=3')).json()).toMatchObject({
      data: { list: [{ uid: users[2] }] },
    })
  })

  test('are cancelled where their users are, over both doors', async () => {
    for (const uid of users) expect(await ledger.askOrders([trx(uid)], 'shop')).toMatchObject({ ok: true })
    const keys = users.map((uid) => ({ uid, order: 'tea-1042' }))
    expect(await ledger.cancelOrders(keys, 'shop')).toMatchObject(refused({ kind: 'other-cell', reason: 'other-cell' }))
    expect((await service.send('/ledger/orders/cancel', { orders: keys })).status).toBe(422)
    expect(await ledger.cancelOrders(keys.slice(1, 2), 'shop', { cell: 3 })).toMatchObject(
      refused({ kind: 'other-cell' }),
    )
    expect(await ledger.cancelOrders(keys.slice(1, 2), 'shop')).toMatchObject({ ok: true, list: [{ uid: users[1] }] })
    const third = await service.send('/ledger/orders/cancel', { orders: keys.slice(2) })
    expect(await third.json()).toMatchObject({ data: { list: [{ uid: users[2], state: 'cancelled' }] } })
    expect(await ledger.orders({ state: 'cancelled', cell: 2 })).toMatchObject({ ok: true, count: 1 })
    expect(await ledger.orders({ uid: users[0] })).toMatchObject({ ok: true, list: [{ state: 'open' }] })
    expect(await ledger.orders({})).toMatchObject(refused({ kind: 'bad-input', member: 'cell' }))
  })
})
