import { beforeEach, describe, expect, test } from 'vitest'
import { read } from '../app-harness.ts'
import { addressIn, payFinal, type RunningService, startService, trxTo, usdtTo } from '../service.ts'

interface Entry {
  readonly id: number
  readonly osn: string
  readonly created_at: string
}

let service: RunningService
let txids: string[]

/** Three deposits of caller 7 and one of caller 8, the last ones a minute later than the first. */
beforeEach(async () => {
  service = await startService()
  const own = await addressIn(await service.get('/tron/generate', 7))
  const other = await addressIn(await service.get('/tron/generate', 8))
  const early = payFinal(service, trxTo(own, 1n), usdtTo(own, 25_000_000n))
  await service.tick()
  service.clock.seconds += 60
  const late = payFinal(service, usdtTo(own, 500_000n), usdtTo(other, 7n))
  await service.tick()
  txids = [...early, ...late]
})

const listed = async (query: string, uid = 7) => {
  const { status, body } = await read(await service.get(`/wallet/flow/list?${query}`, uid))
  const { data } = body as { data: { list: Entry[]; count: number } }
  return { status, list: data.list, ids: data.list.map((entry) => entry.id), count: data.count }
}

describe('GET /wallet/flow/list', () => {
  test('has the caller’s entries, newest first, each whole and in the documented order', async () => {
    const text = await (await service.get('/wallet/flow/list')).text()
    const times = [...text.matchAll(/"created_at":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/g)].map(
      (match) => match[1],
    )
    const entry = (id: number, wid: number, osn: string, cuy: number, amt: string, balance: string, at: number) =>
      `{"id":${id},"uid":7,"wid":${wid},"osn":"${osn}","type":1,"cuy":${cuy},"amt":${amt},"balance":${balance},` +
      `"mark":"deposit","created_at":"${times[at]}"}`
    const list = [
      entry(3, 2, `${txids[2]}:0`, 2, '0.5', '25.5', 0),
      entry(2, 2, `${txids[1]}:0`, 2, '25', '25', 1),
      entry(1, 1, `${txids[0]}`, 1, '0.000001', '0.000001', 2),
    ]
    expect(text).toBe(`{"code":200,"msg":"success","data":{"list":[${list.join()}],"count":3}}`)
  })

  test('has nothing for a caller without entries, and never somebody else’s', async () => {
    expect(await listed('', 9)).toEqual({ status: 200, list: [], ids: [], count: 0 })
    expect(await listed('', 8)).toMatchObject({ ids: [4], count: 1 })
    expect(await listed(`osn=${txids[3]}`)).toMatchObject({ ids: [], count: 0 })
    expect(await listed('wid=3')).toMatchObject({ ids: [], count: 0 })
    expect(await listed('uid=8')).toMatchObject({ ids: [3, 2, 1], count: 3 })
  })

  test.each([
    ['page=1&limit=2', [3, 2], 3],
    ['page=2&limit=2', [1], 3],
    ['page=3&limit=2', [], 3],
    ['page=9007199254740991&limit=100', [], 3],
    ['before=3', [2, 1], 3],
    ['before=3&limit=1', [2], 3],
    ['before=1', [], 3],
    ['before=9007199254740991', [3, 2, 1], 3],
    ['cuy=2', [3, 2], 2],
    ['cuy=1', [1], 1],
    ['wid=2', [3, 2], 2],
    ['type=1', [3, 2, 1], 3],
    ['type=2', [], 0],
    ['type=9&cuy=2', [], 0],
    ['cuy=2&limit=1', [3], 2],
  ])('?%s has the entries %j of %d', async (query, ids, count) => {
    expect(await listed(query)).toMatchObject({ status: 200, ids, count })
  })

  test('finds an entry by its osn, and all entries of a transaction by its txid in any form', async () => {
    expect(await listed(`osn=${txids[1]}:0`)).toMatchObject({ ids: [2], count: 1 })
    expect(await listed(`osn=${txids[1]}`)).toMatchObject({ ids: [2], count: 1 })
    expect(await listed(`osn=0x${txids[1]?.toUpperCase()}`)).toMatchObject({ ids: [2], count: 1 })
    expect(await listed(`osn=${txids[1]}:1`)).toMatchObject({ ids: [], count: 0 })
  })

  test('from includes its instant and to does not', async () => {
    const { list } = await listed('')
    const at = list[0]?.created_at ?? ''
    expect(await listed(`from=${at}`)).toMatchObject({ ids: [3], count: 1 })
    expect(await listed(`to=${at}`)).toMatchObject({ ids: [2, 1], count: 2 })
    expect(await listed(`from=${at}&to=${at}`)).toMatchObject({ ids: [], count: 0 })
  })

  test.each([
    ['limit=0', 'limit: a whole number from 1 to 100'],
    ['limit=101', 'limit: a whole number from 1 to 100'],
    ['limit=1&limit=1', 'limit: a whole number from 1 to 100, given once'],
    ['page=0', 'page: a whole number from 1 to 9007199254740991'],
    ['page=1&before=3', 'page: not together with before'],
    ['before=', 'before: a whole number from 1 to 9007199254740991'],
    ['cuy=9', 'cuy: one of 1 (TRX), 2 (USDT), given at most once'],
    ['wid=1e3', 'wid: a whole number from 1 to 9007199254740991'],
    ['type=6', 'type: one of 1, 2, 3, 4, 5, 9'],
    ['osn=', 'osn: a serial reference or txid of at most 200 plain characters'],
    ['from=2026-02-30T00:00:00Z', 'from: an instant such as 2026-11-01T00:00:00Z or 2026-11-01T08:00:00.000%2B08:00'],
    ['to=today', 'to: an instant such as 2026-11-01T00:00:00Z or 2026-11-01T08:00:00.000%2B08:00'],
  ])('refuses ?%s', async (query, msg) => {
    const response = await service.get(`/wallet/flow/list?${query}`)
    expect(await read(response)).toEqual({ status: 400, body: { code: 400, msg } })
  })
})

describe('entries in a currency that is no longer configured', () => {
  test('can’t be written, since their scale is not known: a 500, and the log says which', async () => {
    const flow = service.db.prepare('SELECT count(*) AS n FROM flow')
    expect(await flow.first('n')).toBe(4)
    const less = await startService({ CURRENCIES: [{ cuy: 1, symbol: 'TRX', decimals: 6 }] })
    await less.db.exec('INSERT INTO wallet (id, uid, cuy) VALUES (1, 7, 2)')
    await less.db.exec(
      "INSERT INTO flow (wallet, uid, cuy, type, osn, amount, balance, mark, created_at) VALUES (1, 7, 2, 9, 'a', 5, 5, '', 1)",
    )
    expect(await read(await less.get('/wallet/flow/list'))).toEqual({
      status: 500,
      body: { code: 500, msg: 'internal error' },
    })
    expect(less.lines.join('\n')).toContain('currency 2, which is not configured')
  })
})
