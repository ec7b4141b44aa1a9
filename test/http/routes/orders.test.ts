import { beforeEach, describe, expect, test } from 'vitest'
import { followChain, orderMembers, tea } from '../../orders/answers.ts'
import { retiredUsdt } from '../../scan/harness.ts'
import {
  addressFrom,
  failed,
  payCaller,
  payFinal,
  postInit,
  type RunningService,
  read,
  startService,
  trxTo,
  usdtTo,
} from '../service.ts'

let service: RunningService
beforeEach(async () => {
  service = await startService()
  followChain(service)
  await payCaller(service)
  followChain(service)
  await service.get('/tron/recharge') // a scan, after which the decimals of USDT are known
})

const cake = { ...tea, order: 'cake-7', atLeast: '24', take: true, mark: 'a whole one' }
const postOrders = (orders: unknown, claims = {}) => service.ledger('/ledger/orders', postInit({ orders }), claims)
const ask = async (...orders: readonly object[]) => read(await postOrders(orders))
const cancel = async (body: object, claims = {}) => service.ledger('/ledger/orders/cancel', postInit(body), claims)
const key = { uid: 7, order: 'tea-1042' }

interface Listed {
  readonly id: number
  readonly uid: number
  readonly order: string
  readonly address: string
  readonly state: string
  readonly created_at: string
}
interface Told {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}
// our own answer
const listOf = ({ body }: { readonly body: unknown }) => (body as { data: { list: readonly Listed[] } }).data.list
const found = async (query: string) => {
  const answer = await read(await service.ledger(`/ledger/orders${query}`))
  expect(answer.status).toBe(200)
  return listOf(answer).map(({ uid, order }) => `${uid} ${order}`)
}
const asked = (list: readonly unknown[], replayed = false) => ({
  status: 200,
  body: { code: 200, msg: 'success', data: { list, count: list.length, replayed } },
})
/** Pays an order in USDT, and lets the service credit it. */
const pay = async ({ address }: { readonly address: string }, units: bigint) => {
  payFinal(service, usdtTo(addressFrom(address), units))
  followChain(service)
  await service.get('/tron/recharge')
}
const askOne = async (changes: object = {}) => {
  const [order] = listOf(await ask({ ...tea, ...changes }))
  if (order === undefined) throw new Error('the answer has no order')
  return order
}

describe('POST /ledger/orders', () => {
  test('answers with the orders in the order sent, each at an address of its own', async () => {
    const answer = await ask(tea, cake)
    const of = (changes: object) => expect.objectContaining({ state: 'open', ...changes })
    expect(answer).toEqual(
      asked([
        of({ order: 'tea-1042', amt: 25, at_least: 25 }),
        of({ order: 'cake-7', at_least: 24, mark: 'a whole one' }),
      ]),
    )
    const [one, two] = listOf(answer)
    const known = await read(await service.get('/tron/generate'))
    expect(new Set([one?.address, two?.address, (known.body as { data: Listed }).data.address]).size).toBe(3)
    expect(await found('')).toEqual(['7 cake-7', '7 tea-1042'])
  })

  test('answers with these members, in this order, and leaves out `return` and `paid_at` where there are none', async () => {
    const [order] = listOf(await ask({ ...tea, return: 'https://shop.example/orders/1042' }))
    expect(Object.keys(order ?? {})).toEqual(orderMembers.filter((name) => name !== 'paid_at'))
    expect(order).toMatchObject({
      ...{ uid: 7, cuy: 2, amt: 25, at_least: 25, order: 'tea-1042', seen: 0, credited: 0, late: false, taken: false },
      ...{ return: 'https://shop.example/orders/1042', mark: '', by: 'shop', deposits: [] },
    })
    expect(Object.keys(await askOne({ order: 'other' }))).not.toContain('return')
  })

  test('shows an order that was paid, with its deposit', async () => {
    const order = await askOne({ take: true })
    await pay(order, 26_000_000n)
    const [paid] = listOf(await read(await service.ledger('/ledger/orders?order=tea-1042')))
    expect(Object.keys(paid ?? {})).toEqual(orderMembers.filter((name) => name !== 'return'))
    expect(paid).toMatchObject({
      ...{ state: 'paid', seen: 0, credited: 26, late: false, taken: true },
      deposits: [{ txid: expect.stringMatching(/^[0-9a-f]{64}$/), position: 0, amt: 26, state: 'credited' }],
    })
    const { body } = await read(await service.ledger('/ledger/wallets?uid=7'))
    expect(body).toMatchObject({ data: { list: [{ amt: 0 }, { amt: 26 }] } }) // 25 from before, and 1 too much
  })

  test('gives the same request the same answer, also after the order has changed', async () => {
    const first = await ask(tea, cake)
    expect(await ask(tea, cake)).toEqual(asked(listOf(first), true))
    expect(await ask(cake, tea)).toEqual(asked(listOf(first).toReversed(), true))
    expect((await ask(tea)).body).toMatchObject({ data: { replayed: true, count: 1 } })
    expect(await ask({ ...tea, atLeast: '25.0', take: false, mark: '' }, cake)).toEqual(asked(listOf(first), true))
    const until = new Date(Date.parse(listOf(first)[0]?.created_at ?? '') + 86_400_000).toISOString()
    expect(await ask({ ...tea, until }, cake)).toEqual(asked(listOf(first), true))
    await cancel({ orders: [key] })
    service.clock.seconds += 40 * 86_400
    expect((await ask({ ...tea, until })).body).toMatchObject({
      data: { replayed: true, list: [{ state: 'cancelled' }] },
    })
  })

  test('stores one of 20 equal requests at once, and gives all the same orders', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(tea, cake)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map((answer) => JSON.stringify(listOf(answer)))).size).toBe(1)
    expect(answers.filter(({ body }) => !(body as { data: { replayed: boolean } }).data.replayed)).toHaveLength(1)
  })

  test.each([
    ['amt', { amt: '26' }],
    ['cuy', { cuy: 1 }],
    ['atLeast', { atLeast: '24' }],
    ['until', { until: '2100-01-01T00:00:00Z' }],
    ['take', { take: true }],
    ['return', { return: 'https://shop.example/' }],
    ['mark', { mark: 'hot' }],
  ])('refuses a known key with another %s', async (_, changes) => {
    await ask(tea)
    const refused = await postOrders([{ ...tea, ...changes }])
    expect(refused.headers.get('x-reason')).toBe('content-differs')
    expect(await read(refused)).toEqual(failed(409, 'order 1: its uid and order are known with another content'))
  })

  test('refuses what another backend has asked for, and orders of which only some are known', async () => {
    await ask(tea)
    const other = await postOrders([tea], { sub: 'office' })
    expect([other.status, other.headers.get('x-reason')]).toEqual([409, 'backend-differs'])
    const partly = await postOrders([tea, cake])
    expect([partly.status, partly.headers.get('x-reason')]).toEqual([409, 'partly-known'])
    expect(await found('')).toEqual(['7 tea-1042'])
  })

  test('takes amounts as numbers, digit by digit, and null for each member that can be left out', async () => {
    const sent = '{"orders":[{"uid":7,"cuy":2,"amt":9007199254.740991,"order":"tea-1042","atLeast":0.000001,'
    const body = `${sent}"until":null,"take":null,"return":null,"mark":null}]}`
    const { text, status } = await service
      .ledger('/ledger/orders', postInit(body))
      .then(async (response) => ({ status: response.status, text: await response.text() }))
    expect([status, text]).toEqual([200, expect.stringContaining('"amt":9007199254.740991,"at_least":0.000001,')])
    for (const member of ['uid', 'cuy', 'amt', 'order']) {
      expect(await ask({ ...cake, [member]: null })).toEqual(
        failed(400, expect.stringMatching(`^order 1: ${member}: `)),
      )
    }
  })

  test.each([
    [{ cuy: 9 }, /^cuy: one of 1 \(TRX\), 2 \(USDT\)$/],
    [{ amt: '0.0000001' }, /^amt: at most 6 decimals in USDT$/],
    [{ atLeast: '26' }, /^atLeast: at most amt, 25$/],
    [{ uid: Number.MAX_SAFE_INTEGER }, /^uid: a whole number from 1 to 9007199254740990$/],
    [{ until: '2020-01-01T00:00:00Z' }, /^until: a time to come, at most 30 days ahead$/],
    [{ until: '2100-01-01T00:00:00Z' }, /^until: a time to come, at most 30 days ahead$/],
    [{ return: 'http://shop.example/' }, /^return: an https URL/],
    [{ back: 'https://shop.example/' }, /^order: an object with uid, cuy, amt, order and optionally atLeast/],
  ])('refuses an order with %o, and stores none of the request', async (changes, why) => {
    const refused = await ask(tea, { ...cake, ...changes })
    expect(refused).toEqual(failed(400, expect.stringMatching(why.source.replace('^', '^order 2: '))))
    expect(await found('')).toEqual([])
  })

  test.each([
    ['retired', 'the currency takes no deposits any more'],
    ['decimals-unknown', 'nodes have not agreed on the decimals of its contract yet'],
    ['chain-forked', 'the nodes show another chain than the stored one'],
  ])('refuses a currency that takes no deposits now: %s', async (reason, why) => {
    if (reason === 'retired') service = service.with({ CURRENCIES: retiredUsdt })
    if (reason === 'decimals-unknown') service = await startService() // before its first scan
    if (reason === 'chain-forked') await service.db.prepare(`UPDATE scan SET halted = 'chain-forked'`).run()
    const refused = await postOrders([tea])
    expect(refused.headers.get('x-reason')).toBe(reason)
    expect(await read(refused)).toEqual(failed(409, `order 1: nothing can be paid in it now: ${why}`))
    expect(await found('')).toEqual([])
  })

  test('refuses more orders of a user than 1,000 that hold an address, until these are free again', async () => {
    await askOne()
    const rows = `WITH RECURSIVE n(i) AS (SELECT max(id) + 1 FROM stored_address
      UNION ALL SELECT i + 1 FROM n WHERE i < (SELECT max(id) FROM stored_address) + 999)`
    await service.db
      .prepare(
        `${rows} INSERT INTO stored_address (id, uid, address, issued_height, created_at, for_orders)
          SELECT i, 7, unhex(printf('%040x', i)), (SELECT finalized FROM scan), 5, 1 FROM n`,
      )
      .run()
    await service.db
      .prepare(
        `INSERT INTO payment_order (uid, cuy, reference, amount, at_least, address_id, after_height, until, take, mark,
            posted_by, created_at, held_until)
          SELECT 7, cuy, stored_address.id, amount, at_least, stored_address.id, after_height, until, 0, '', 'shop',
            payment_order.created_at, held_until
          FROM payment_order, stored_address WHERE for_orders = 1 AND address_id <> stored_address.id`,
      )
      .run()
    const refused = await postOrders([cake])
    expect(refused.headers.get('x-reason')).toBe('too-many-orders')
    const why = 'order 1: 1000 orders of its user hold an address, and 1000 may'
    expect(await read(refused)).toEqual(failed(409, why))
    expect((await ask({ ...cake, uid: 8 })).status).toBe(200)
    service.clock.seconds += 2 * 86_400
    expect((await ask(cake)).status).toBe(200)
  })

  test('gives no user an address for orders as their own', async () => {
    const first = await askOne({ uid: 9 })
    const own = await read(await service.get('/tron/generate', 9))
    expect(own).toMatchObject({ status: 200, body: { data: { address: expect.stringMatching(/^T/) } } })
    const { address } = (own.body as { data: Listed }).data // our own answer
    const second = await askOne({ uid: 9, order: 'other' })
    expect(new Set([address, first.address, second.address]).size).toBe(3)
    expect(await read(await service.get('/tron/generate', 9))).toEqual(own)
  })

  test('refuses a list that is empty, too long or none', async () => {
    const list = failed(400, 'orders: an array of 1 to 20 orders')
    const many = Array.from({ length: 21 }, (_, i) => ({ ...tea, order: `${i}` }))
    for (const orders of [[], many, {}, 'tea', null]) expect(await read(await postOrders(orders))).toEqual(list)
    expect((await ask(...many.slice(1))).status).toBe(200)
  })

  test('refuses the key of an entry where the order takes, and the other way round', async () => {
    const payment = { uid: 7, cuy: 2, type: 4, osn: 'tea-1042', amt: '-1' }
    await ask(cake)
    const posted = await service.post([{ ...payment, osn: 'cake-7' }])
    expect([posted.status, posted.headers.get('x-reason')]).toEqual([409, 'key-in-use'])
    expect((await service.post([payment])).status).toBe(200)
    const taking = await postOrders([{ ...tea, take: true }])
    expect([taking.status, taking.headers.get('x-reason')]).toEqual([409, 'key-in-use'])
    expect((await ask(tea)).status).toBe(200) // without `take` it needs no entry
  })

  test.each([
    ['ledger:read', 'ledger:post', 403],
    ['ledger:read ledger:pay ledger:approve ledger:sign', 'ledger:post', 403],
    ['ledger:post', '', 200],
  ])('answers a token with the scope "%s"', async (scope, missing, status) => {
    const msg = `the scope of the token must include ${missing}`
    for (const response of [await postOrders([tea], { scope }), await cancel({ orders: [key] }, { scope })]) {
      const { status: answered, body } = await read(response)
      expect([answered, status === 200 || (body as { msg: string }).msg]).toEqual([status, status === 200 || msg])
    }
  })

  test('is not for users, whose token is refused', async () => {
    for (const path of ['/ledger/orders', '/ledger/orders/cancel']) {
      expect((await service.get(path, 7, postInit({ orders: [tea] }))).status).toBe(401)
    }
    expect((await service.get('/ledger/orders')).status).toBe(401)
  })

  test('is followed by events of what has become of the orders', async () => {
    const order = await askOne({ take: true })
    await pay(order, 10_000_000n)
    await pay(order, 15_000_000n)
    await askOne({ order: 'cake-7' })
    await cancel({ orders: [{ uid: 7, order: 'cake-7' }], why: 'sold out' })
    const feed = await (await service.ledger('/ledger/events')).json<{ data: { list: Told[] } }>()
    const events = feed.data.list
    const told = events.filter(({ type }) => type.startsWith('order.'))
    expect(told.map(({ type, data }) => [type, data.order, data.state, data.credited])).toEqual([
      ['order.partly', 'tea-1042', 'partly', 10],
      ['order.paid', 'tea-1042', 'paid', 25],
      ['order.cancelled', 'cake-7', 'cancelled', 0],
    ])
    expect(Object.keys(told[1]?.data ?? {})).toEqual(orderMembers.filter((name) => name !== 'return'))
    expect(told[1]?.data).toMatchObject({ taken: true, deposits: [{ amt: 10 }, { amt: 15 }] })
    const credited = events.filter(({ type }) => type === 'deposit.credited').map(({ data }) => data.order)
    expect(credited).toEqual([undefined, 'tea-1042', 'tea-1042'])
    expect(events.find(({ type }) => type === 'entry.posted')?.data).toMatchObject({
      entry: { type: 4, osn: 'tea-1042', amt: -25, by: 'shop' },
    })
  })
})

describe('POST /ledger/orders/cancel', () => {
  test('cancels all or none, and answers alike when it is sent again', async () => {
    await ask(tea, cake)
    const both = { orders: [{ uid: 7, order: 'cake-7' }, key], why: 'sold out' }
    const first = await read(await cancel(both))
    expect(first).toMatchObject({ status: 200, body: { code: 200, data: { count: 2 } } })
    expect(listOf(first).map(({ order, state }) => `${order} ${state}`)).toEqual([
      'cake-7 cancelled',
      'tea-1042 cancelled',
    ])
    expect(await read(await cancel({ ...both, why: null }))).toEqual(first)
    const unknown = await read(await cancel({ orders: [key, { uid: 8, order: 'tea-1042' }] }))
    expect(unknown).toEqual(failed(404, 'order 2: its user has no such order'))
  })

  test('is refused once something is credited, and changes none of the request then', async () => {
    const order = await askOne()
    await ask(cake)
    await pay(order, 1_000_000n)
    const refused = await cancel({ orders: [{ uid: 7, order: 'cake-7' }, key] })
    expect(refused.headers.get('x-reason')).toBe('order-credited')
    expect(await read(refused)).toEqual(failed(409, 'order 2: a deposit counts for it'))
    expect(await found('?state=open')).toEqual(['7 cake-7'])
  })

  test.each([
    [{ orders: [] }, 'orders: an array of 1 to 20 orders'],
    [{ orders: [key, key] }, 'order 2: order: another one for each order of a user'],
    [{ orders: [{ ...key, why: 'x' }] }, 'order 1: order: an object with uid and order, and nothing else'],
    [{ orders: [key], by: 'x' }, 'body: an object with orders and optionally why, and nothing else'],
    [[key], 'body: an object with orders and optionally why, and nothing else'],
    [{ orders: [key], why: ' ' }, expect.stringMatching(/^why: 1 to 200 characters that can be read/)],
  ])('refuses the body %j', async (body, msg) => {
    await ask(tea)
    expect(await read(await cancel(body))).toEqual(failed(400, msg))
    expect(await found('?state=open')).toEqual(['7 tea-1042'])
  })
})

describe('GET /ledger/orders', () => {
  test('selects by each parameter and by several, newest first, in pages', async () => {
    const mine = await askOne()
    await ask(cake, { ...tea, uid: 8 }, { ...tea, uid: 8, order: 'coffee' })
    await pay(mine, 1_000_000n)
    expect(await found('')).toEqual(['8 coffee', '8 tea-1042', '7 cake-7', '7 tea-1042'])
    expect(await found('?uid=7')).toEqual(['7 cake-7', '7 tea-1042'])
    expect(await found('?order=tea-1042')).toEqual(['8 tea-1042', '7 tea-1042'])
    expect(await found('?order=tea-1042&uid=8')).toEqual(['8 tea-1042'])
    expect(await found('?state=partly')).toEqual(['7 tea-1042'])
    expect(await found('?state=open&uid=7')).toEqual(['7 cake-7'])
    expect(await found('?state=open')).toEqual(['8 coffee', '8 tea-1042', '7 cake-7'])
    expect(await found('?state=partly&uid=8')).toEqual([])
    expect(await found(`?address=${mine.address}`)).toEqual(['7 tea-1042'])
    expect(await found(`?address=${mine.address}&uid=8`)).toEqual([])
    expect(await found(`?address=${mine.address}&state=partly&order=tea-1042`)).toEqual(['7 tea-1042'])
    expect(await found('?uid=9')).toEqual([])
    expect(await found('?limit=1')).toEqual(['8 coffee'])
    expect(await found('?limit=2&before=4')).toEqual(['8 tea-1042', '7 cake-7'])
    expect(await found('?uid=7&before=2')).toEqual(['7 tea-1042'])
    const { body } = await read(await service.ledger('/ledger/orders?limit=1&uid=7'))
    expect(body).toMatchObject({ data: { count: 2 } })
  })

  test.each([
    ['state=lost', 'state: one of open, partly, paid, expired, cancelled'],
    ['order=', 'order: a reference of at most 200 printable ASCII characters'],
    ['address=T1', expect.stringMatching(/^address: a Tron address/)],
    ['limit=101', 'limit: a whole number from 1 to 100'],
    ['before=0', expect.stringMatching(/^before: /)],
    ['uid=7&uid=8', expect.stringMatching(/^uid: .* given once$/)],
  ])('refuses ?%s', async (query, msg) => {
    expect(await read(await service.ledger(`/ledger/orders?${query}`))).toEqual(failed(400, msg))
  })

  test('needs ledger:read', async () => {
    const response = await service.ledger('/ledger/orders', {}, { scope: 'ledger:post' })
    expect(await read(response)).toEqual(failed(403, 'the scope of the token must include ledger:read'))
  })
})

describe('GET /tron/orders', () => {
  test("shows the caller's own orders, without the name of the backend", async () => {
    await ask(tea, { ...cake, uid: 8 })
    const own = await read(await service.get('/tron/orders'))
    expect(listOf(own).map(({ order }) => order)).toEqual(['tea-1042'])
    expect(Object.keys(listOf(own)[0] ?? {})).toEqual(
      orderMembers.filter((name) => !['by', 'paid_at', 'return'].includes(name)),
    )
    expect(listOf(await read(await service.get('/tron/orders?order=cake-7')))).toEqual([])
    expect(listOf(await read(await service.get('/tron/orders?order=cake-7', 8)))).toHaveLength(1)
    expect(listOf(await read(await service.get('/tron/orders?uid=8')))).toHaveLength(1) // `uid` is no parameter here
    expect(listOf(await read(await service.get('/tron/orders?state=paid')))).toEqual([])
  })

  test('shows what was seen and is not final', async () => {
    const order = await askOne()
    service.chain.add([usdtTo(addressFrom(order.address), 10_000_000n), trxTo(addressFrom(order.address), 5n)])
    followChain(service)
    await service.tick()
    expect(listOf(await read(await service.get('/tron/orders')))[0]).toMatchObject({
      ...{ state: 'open', seen: 10, credited: 0 },
      deposits: [{ amt: 10, state: 'seen', position: 0 }],
    })
  })
})
