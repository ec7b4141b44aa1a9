import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { formatBase58 } from '../../../src/worker/chain/address.ts'
import { wrongMethod } from '../../../src/worker/http/errors.ts'
import {
  addressIn,
  failed,
  firstAddress,
  payFinal,
  type RunningService,
  read,
  secondAddress,
  startService,
  trxTo,
} from '../service.ts'

let service: RunningService

/** User 7 has a deposit of 3.5 TRX and a payment of 1 TRX; user 8 has an adjustment. */
async function start(): Promise<void> {
  service = await startService()
  payFinal(service, trxTo(await addressIn(await service.get('/tron/generate')), 3_500_000n))
  await service.get('/tron/recharge')
  await service.post([{ uid: 7, cuy: 1, type: 4, osn: 'order 1', amt: '-1' }])
  await service.post([{ uid: 8, cuy: 1, type: 9, osn: 'start', amt: '9' }])
}

const dataOf = async (response: Response) => {
  const { status, body } = await read(response)
  return { status, data: (body as { data: Record<string, unknown> }).data }
}
const uidExpected = 'uid: a whole number from 1 to 9007199254740991'

describe('GET /ledger/entries', () => {
  beforeAll(start)

  test('has the entries that the user sees, each with the name of its backend, empty for a recharge', async () => {
    const own = await dataOf(await service.get('/wallet/flow/list'))
    const { data } = await dataOf(await service.ledger('/ledger/entries?uid=7'))
    const list = own.data.list as object[]
    expect(data).toEqual({
      list: [
        { ...list[0], by: 'shop' },
        { ...list[1], by: '' },
      ],
      count: 2,
    })
    expect(Object.keys((data.list as object[])[0] ?? {}).at(-1)).toBe('by')
  })

  test.each([
    ['', [3, 2, 1], 3],
    ['?limit=1', [3], 3],
    ['?before=3&limit=1', [2], 3],
    ['?before=1', [], 3],
  ])('has those of all users without a user: %s', async (query, ids, count) => {
    const { data } = await dataOf(await service.ledger(`/ledger/entries${query}`))
    expect([(data.list as { id: number }[]).map(({ id }) => id), data.count]).toEqual([ids, count])
  })

  test.each([
    ['?osn=order%201', [2], 1],
    ['?osn=start&limit=1', [3], 1],
    ['?osn=start&before=3', [], 1],
    ['?osn=order', [], 0],
  ])('has those of an order, whoever its user is: %s', async (query, ids, count) => {
    const { data } = await dataOf(await service.ledger(`/ledger/entries${query}`))
    expect([(data.list as { id: number }[]).map(({ id }) => id), data.count]).toEqual([ids, count])
  })

  test('has no recharge by its osn without a user: GET /ledger/deposits has that by its transaction', async () => {
    const all = await dataOf(await service.ledger('/ledger/entries?uid=7&type=1'))
    const [{ osn }] = all.data.list as [{ osn: string }]
    expect((await dataOf(await service.ledger(`/ledger/entries?uid=7&osn=${osn}`))).data.count).toBe(1)
    expect((await dataOf(await service.ledger(`/ledger/entries?osn=${osn}`))).data.count).toBe(0)
    expect((await dataOf(await service.ledger(`/ledger/deposits?txid=${osn}`))).data.count).toBe(1)
  })

  test.each([
    ['limit=1&page=2', [1], 2],
    ['before=2', [1], 2],
    ['type=4', [2], 1],
    ['osn=order%201', [2], 1],
    ['cuy=2', [], 0],
    ['wid=2', [], 0],
    ['to=2026-01-01T00:00:00Z', [], 0],
  ])('takes the parameters of the caller’s list: %s', async (query, ids, count) => {
    const { data } = await dataOf(await service.ledger(`/ledger/entries?uid=7&${query}`))
    expect([(data.list as { id: number }[]).map(({ id }) => id), data.count]).toEqual([ids, count])
  })

  test.each([
    ['?uid=0', uidExpected],
    ['?uid=9007199254740992', uidExpected],
    ['?type=4', 'type: only allowed with uid'],
    ['?osn=order%201&type=4', 'type: only allowed with uid'],
    ['?osn=order%201&page=1', 'page: only allowed with uid'],
    ['?osn=', 'osn: an osn or txid of at most 200 printable ASCII characters'],
    ['?uid=7&limit=101', 'limit: a whole number from 1 to 100'],
    ['?uid=7&page=1&before=3', 'page: not allowed with before'],
    ['?uid=7&cuy=9', 'cuy: one of 1 (TRX), 2 (USDT), given at most once'],
  ])('refuses "%s"', async (query, msg) => {
    expect(await read(await service.ledger(`/ledger/entries${query}`))).toEqual(failed(400, msg))
  })
})

test('GET /ledger/entries finds an osn as it was posted, in the form of a txid too, as the caller’s list does', async () => {
  await start()
  for (const osn of [`0x${'ab'.repeat(32)}`, 'AB'.repeat(32)]) {
    await service.post([{ uid: 7, cuy: 1, type: 5, osn, amt: '1' }])
    const { data } = await dataOf(await service.ledger(`/ledger/entries?uid=7&osn=${osn}`))
    expect(data).toMatchObject({ list: [{ osn }], count: 1 })
    expect((await dataOf(await service.get(`/wallet/flow/list?osn=${osn}`))).data).toMatchObject({ list: [{ osn }] })
    expect(await service.rpc.entries({ uid: 7, osn })).toMatchObject({ list: [{ osn }], count: 1 })
  }
})

describe('GET /ledger/wallets', () => {
  beforeAll(start)

  test('has the balances of the named user', async () => {
    const list = (amt: number) => ({
      list: [
        { amt, cuy: 1 },
        { amt: 0, cuy: 2 },
      ],
      count: 2,
    })
    for (const [uid, amt] of [
      [7, 2.5],
      [8, 9],
      [9, 0],
    ] as const) {
      expect((await dataOf(await service.ledger(`/ledger/wallets?uid=${uid}`))).data).toEqual(list(amt))
    }
    expect(await read(await service.ledger('/ledger/wallets'))).toEqual(failed(400, uidExpected))
  })
})

describe('GET /ledger/addresses', () => {
  beforeAll(start)

  test('has all addresses of a user, newest first, page by page, and issues none', async () => {
    const issued: string[] = []
    for (const query of ['', '?fresh=1', '?fresh=1']) {
      issued.unshift(formatBase58(await addressIn(await service.get(`/tron/generate${query}`))))
    }
    const list = async (query: string) => {
      const { data } = await dataOf(await service.ledger(`/ledger/addresses?uid=${query}`))
      return [(data.list as { address: string }[]).map(({ address }) => address), data.count]
    }
    expect(await list('7')).toEqual([issued, 3])
    expect(await list('7&limit=1')).toEqual([issued.slice(0, 1), 3])
    const { data } = await dataOf(await service.ledger('/ledger/addresses?uid=7&limit=2'))
    const before = (data.list as { id: number }[]).at(-1)?.id
    expect(await list(`7&before=${before}`)).toEqual([issued.slice(2), 3])
    expect(await list('8')).toEqual([[], 0])
  })
})

describe('GET /ledger/address', () => {
  beforeEach(start)

  test('has the address of the named user, and creates the first one', async () => {
    expect((await dataOf(await service.ledger('/ledger/address?uid=7'))).data).toEqual({ id: 1, address: firstAddress })
    expect((await dataOf(await service.ledger('/ledger/address?uid=8'))).data).toEqual({
      id: 2,
      address: secondAddress,
    })
    expect((await dataOf(await service.get('/tron/generate', 8))).data).toEqual({ id: 2, address: secondAddress })
  })

  test('is only shown to a token that only reads: it issues none, and a user without one is 404', async () => {
    const reading = (query: string) => service.ledger(`/ledger/address?${query}`, {}, { scope: 'ledger:read' })
    expect((await dataOf(await reading('uid=7&format=hex'))).data).toMatchObject({ id: 1 })
    expect(await read(await reading('uid=8'))).toEqual(failed(404, 'no such address'))
    expect((await reading('uid=7&fresh=1')).status).toBe(403)
    expect(await service.db.prepare('SELECT count(*) AS n FROM address').first('n')).toBe(1)
  })

  test('issues a further one, in any form', async () => {
    const { data } = await dataOf(await service.ledger('/ledger/address?uid=7&fresh=1&format=hex'))
    expect(data).toEqual({ id: 2, address: expect.stringMatching(/^41[0-9a-f]{40}$/) })
    expect(await read(await service.ledger('/ledger/address?uid=7&fresh=2'))).toEqual(failed(400, 'fresh: one of 0, 1'))
  })
})

describe('another method', () => {
  beforeAll(start)

  test.each([
    ['PUT', '/ledger/entries', ['GET', 'HEAD', 'POST']],
    ['OPTIONS', '/ledger/entries', ['GET', 'HEAD', 'POST']],
    ['POST', '/ledger/wallets', ['GET', 'HEAD']],
    ['GET', '/ledger/deposits/decide', ['POST']],
    ['OPTIONS', '/ledger/deposits/decide', ['POST']],
    ['DELETE', '/ledger/address', ['GET']],
  ] as const)('%s %s is 405, with CORS and without', async (method, path, methods) => {
    for (const one of [service, service.with({ CORS_ORIGINS: '*' })]) {
      const response = await one.ledger(path, { method })
      expect(response.headers.get('allow')).toBe(methods.join(', '))
      expect(await read(response)).toEqual(failed(405, wrongMethod(methods).msg))
    }
  })
})
