import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  failed,
  oneEndpoint,
  payCaller,
  postInit,
  type RunningService,
  read,
  startService,
  wholeOf,
} from '../service.ts'

let service: RunningService

async function start(): Promise<void> {
  service = await startService()
  await payCaller(service)
  await service.get('/tron/recharge')
}

const payment = { uid: 7, cuy: 2, type: 4, osn: 'order-1', amt: '-2.5' }
const item = {
  id: 2,
  uid: 7,
  wid: 1,
  osn: 'order-1',
  type: 4,
  cuy: 2,
  amt: -2.5,
  balance: 22.5,
  mark: '',
  created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
  by: 'shop',
}
const answer = (list: readonly unknown[], replayed = false) => ({
  status: 200,
  body: { code: 200, msg: 'success', data: { list, count: list.length, replayed } },
})
const postText = async (text: string) => read(await service.ledger('/ledger/entries', postInit(text)))
const amounts = async (uid = 7) => {
  const { body } = await read(await service.ledger(`/ledger/wallets?uid=${uid}`))
  return (body as { data: { list: { amt: number }[] } }).data.list.map(({ amt }) => amt)
}

describe('POST /ledger/entries', () => {
  beforeEach(start)

  test('stores an entry under the name of the backend, and shows it to the caller without that', async () => {
    expect(await read(await service.post([payment]))).toEqual(answer([item]))
    const { by, ...own } = item
    expect(await read(await service.get('/wallet/flow/list?limit=1'))).toMatchObject({
      body: { data: { list: [own], count: 2 } },
    })
    const { text } = await wholeOf(await service.get('/wallet/flow/list'))
    expect(text).not.toContain('"by"')
  })

  test('gives the same post the same answer, in the order sent', async () => {
    const refund = { ...payment, type: 5, amt: '1' }
    const first = { ...item, balance: 22.5 }
    const second = { ...item, id: 3, type: 5, amt: 1, balance: 23.5 }
    expect(await read(await service.post([payment, refund]))).toEqual(answer([first, second]))
    expect(await read(await service.post([refund, payment]))).toEqual(answer([second, first], true))
    expect(await amounts()).toEqual([0, 23.5])
  })

  test('does not give another backend the answer to a post of the same keys', async () => {
    await service.post([payment])
    const other = await service.ledger('/ledger/entries', postInit({ entries: [payment] }), { sub: 'other' })
    expect(other.headers.get('x-reason')).toBe('backend-differs')
    expect(await read(other)).toEqual(failed(409, 'entry 1: another backend has posted its uid, cuy, osn and type'))
    expect(await amounts()).toEqual([0, 22.5])
  })

  test('repeats a post although the wallet no longer has the money', async () => {
    await service.post([{ ...payment, amt: '-25' }])
    expect(await read(await service.post([{ ...payment, amt: '-25' }]))).toMatchObject(answer([{ balance: 0 }], true))
  })

  const isKnown = 'its uid, cuy, osn and type are known with another amount or mark'
  const isNew = 'new, while other entries of the post are known: nothing was stored'
  const tooMuch = { ...payment, osn: 'order-2', amt: '-1000' }

  test.each([
    ['another amount', [{ ...payment, amt: '-3' }], `entry 1: ${isKnown}`],
    ['another mark', [{ ...payment, mark: 'x' }], `entry 1: ${isKnown}`],
    ['a further entry', [payment, { ...payment, osn: 'order-2' }], `entry 2: ${isNew}`],
    ['a further entry that the wallet cannot pay', [tooMuch, payment], `entry 1: ${isNew}`],
  ])('refuses a known key with %s, before balances are looked at', async (_, entries, msg) => {
    await service.post([payment])
    expect(await read(await service.post(entries))).toEqual(failed(409, msg))
    expect(await amounts()).toEqual([0, 22.5])
  })

  const all = { ...payment, osn: 'b', amt: '-22.6' }
  const loan = [
    { ...payment, amt: '-30' },
    { ...payment, type: 5, amt: '30' },
  ]
  const full = 'holds 25, 9007199254.740991 do not fit: a wallet can hold at most 9007199254.740991'

  test.each([
    ['more than it holds', [{ ...payment, amt: '-25.000001' }], 2, 'holds 25, 25.000001 are needed'],
    ['more than the entries before leave', [payment, all], 3, 'holds 22.5, 22.6 are needed'],
    ['more in between than a later entry gives back', loan, 2, 'holds 25, 30 are needed'],
    ['more than 2^53−1 units', [{ ...payment, type: 9, amt: '9007199254.740991' }], 2, full],
  ])('refuses to leave a wallet with %s', async (_, entries, number, why) => {
    const refused = await service.post([{ ...payment, uid: 8, type: 5, amt: '1' }, ...entries])
    expect(await read(refused)).toEqual(failed(422, `entry ${number}: wallet of user 7 in USDT ${why}`))
    expect([...(await amounts()), ...(await amounts(8))]).toEqual([0, 25, 0, 0])
  })

  test('names the entry and the member of a wrong one, and stores nothing', async () => {
    const entries = [payment, payment, { ...payment, amt: '1' }].map((one, i) => ({ ...one, osn: `${i}` }))
    expect(await read(await service.post(entries))).toEqual(failed(400, 'entry 3: amt: negative for type 4'))
    expect(await read(await service.post([]))).toEqual(failed(400, 'entries: an array of 1 to 20 entries'))
    expect(await amounts()).toEqual([0, 25])
  })

  test('stores one of 50 equal posts at once and gives all the same list', async () => {
    const responses = await Promise.all(Array.from({ length: 50 }, () => service.post([payment])))
    const texts = await Promise.all(responses.map((response) => response.text()))
    expect(new Set(texts.map((text) => text.replace(/"replayed":\w+/, ''))).size).toBe(1)
    expect(texts.filter((text) => text.includes('"replayed":false'))).toHaveLength(1)
    expect(await amounts()).toEqual([0, 22.5])
  })

  test('takes exactly what a wallet has, however many posts ask at once', async () => {
    const posts = Array.from({ length: 40 }, (_, i) => service.post([{ ...payment, osn: `${i}`, amt: '-1' }]))
    const statuses = (await Promise.all(posts)).map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(25).fill(200), ...Array(15).fill(422)])
    expect(await amounts()).toEqual([0, 0])
  })
})

describe('after a post', () => {
  const bodies = (running: RunningService) => running.hooks.map(({ body }) => JSON.parse(body).data.entry.osn)

  test('the endpoints are woken, by HTTP and by RPC, and not by a refusal', async () => {
    const running = await startService(oneEndpoint)
    await running.tick() // the tick registers the endpoint
    await running.post([{ ...payment, type: 5, amt: '1' }])
    await running.deliver()
    expect(bodies(running)).toEqual(['order-1'])
    await running.rpc.post([{ uid: 7, cuy: 2, type: 5, osn: 'order-2', amt: '1' }], 'shop')
    await running.deliver()
    expect(bodies(running)).toEqual(['order-1', 'order-2'])
    expect((await running.post([{ ...payment, amt: '-9' }])).status).toBe(422)
    await running.deliver()
    expect(bodies(running)).toHaveLength(2)
  })
})

describe('an amount as a JSON number', () => {
  beforeEach(start)

  test.each([
    ['-2.5', '-2.5', '22.5'],
    ['-0.000001', '-0.000001', '24.999999'],
    ['-2.50', '-2.5', '22.5'],
  ])('of %s is read digit by digit', async (number, amt, balance) => {
    const text = `{"entries":[{"uid":7,"cuy":2,"type":4,"osn":"n","amt":${number}}]}`
    expect((await wholeOf(await service.ledger('/ledger/entries', postInit(text)))).text).toContain(
      `"amt":${amt},"balance":${balance},`,
    )
  })

  test('keeps every digit of the largest', async () => {
    const text = '{"entries":[{"uid":8,"cuy":2,"type":5,"osn":"n","amt":9007199254.740991}]}'
    expect((await wholeOf(await service.ledger('/ledger/entries', postInit(text)))).text).toContain(
      '"amt":9007199254.740991,"balance":9007199254.740991,',
    )
  })
})

describe('a number in a post', () => {
  beforeAll(start)

  test.each(['-2.5e0', '-0.00000099999999999999999999', '-9007199254.740992', '-0', '-1e400'])(
    'that is the amount %s is refused',
    async (number) => {
      const text = `{"entries":[{"uid":7,"cuy":2,"type":4,"osn":"n","amt":${number}}]}`
      expect(await postText(text)).toEqual(failed(400, expect.stringMatching(/^entry 1: amt: /)))
    },
  )

  test.each(['7.0000000000000000001', '0.7e1', '9007199254740991.4', '9007199254740993', '-7', '1e400'])(
    'that is the uid %s is refused',
    async (uid) => {
      const text = `{"entries":[{"uid":${uid},"cuy":2,"type":5,"osn":"n","amt":1}]}`
      expect(await postText(text)).toEqual(failed(400, expect.stringMatching(/^entry 1: uid: /)))
    },
  )
})
