import { beforeAll, describe, expect, test } from 'vitest'
import { writable } from '../../../src/worker/d1/database.ts'
import { paramCharsMax } from '../../../src/worker/http/query.ts'
import { flowListQuery, pageRowsMax } from '../../../src/worker/http/routes/wallet-flow-list.ts'
import { osnCharsMax } from '../../../src/worker/ledger/entry.ts'
import { numbers, withoutTriggers } from '../../d1/fixtures.ts'
import { parseUrl } from '../../support/parse-url.ts'
import { addressIn, failed, payFinal, type RunningService, read, startService, trxTo, usdtTo } from '../service.ts'

interface Entry {
  readonly id: number
  readonly osn: string
  readonly created_at: string
}

let service: RunningService
let txids: string[]

/**
 * Starts a service with three deposits of user 7 and one of user 8. The last deposits come a minute
 * after the first.
 */
async function start(): Promise<void> {
  service = await startService()
  const own = await addressIn(await service.get('/tron/generate', 7))
  const other = await addressIn(await service.get('/tron/generate', 8))
  const early = payFinal(service, trxTo(own, 1n), usdtTo(own, 25_000_000n))
  await service.tick()
  service.clock.seconds += 60
  const late = payFinal(service, usdtTo(own, 500_000n), usdtTo(other, 7n))
  await service.tick()
  txids = [...early, ...late]
}

const listed = async (query: string, uid = 7) => {
  const { status, body } = await read(await service.get(`/wallet/flow/list?${query}`, uid))
  const { data } = body as { data: { list: Entry[]; count: number } }
  return { status, list: data.list, ids: data.list.map((entry) => entry.id), count: data.count }
}

describe('GET /wallet/flow/list', () => {
  beforeAll(start)

  test('has the entries of the caller, newest first, with all members in the documented order', async () => {
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

  test.each([
    ['page=1&limit=2', [3, 2], 3],
    ['page=2&limit=2', [1], 3],
    ['page=9007199254740991&limit=100', [], 3],
    ['before=3&limit=1', [2], 3],
    ['before=9007199254740991', [3, 2, 1], 3],
    ['cuy=2', [3, 2], 2],
    ['wid=2', [3, 2], 2],
    ['type=2', [], 0],
  ])('?%s has the entries %j of %d', async (query, ids, count) => {
    expect(await listed(query)).toMatchObject({ status: 200, ids, count })
  })

  test.each<[string, (at: string) => string]>([
    ['Python (isoformat)', (at) => at.replace('Z', '000+00:00')],
    ['Java (Instant)', (at) => at],
    ['Java (OffsetDateTime of nanoseconds)', (at) => at.replace('Z', '000000Z')],
    ['Go (RFC3339Nano)', (at) => at.replace(/\.?0*Z$/, 'Z')],
    ['Rust (chrono)', (at) => at.replace('Z', '+00:00')],
    ['C# (round-trip)', (at) => at.replace('Z', '0000Z')],
  ])('an entry’s own time, written back by %s, is that of the entry', async (_, write) => {
    const { list } = await listed('')
    const at = encodeURIComponent(write(list[0]?.created_at ?? ''))
    expect(await listed(`from=${at}`)).toMatchObject({ ids: [3], count: 1 })
    expect(await listed(`to=${at}`)).toMatchObject({ ids: [2, 1], count: 2 })
  })

  test('from includes its instant and to does not', async () => {
    const { list } = await listed('')
    const at = list[0]?.created_at ?? ''
    expect(await listed(`from=${at}`)).toMatchObject({ ids: [3], count: 1 })
    expect(await listed(`to=${at}`)).toMatchObject({ ids: [2, 1], count: 2 })
    expect(await listed(`from=${at}&to=${at}`)).toMatchObject({ ids: [], count: 0 })
  })
})

test('a page of entries past the newest 10,000 is refused, and before is named', async () => {
  await start()
  await withoutTriggers(writable(service.db), [
    `${numbers(10_000)} INSERT INTO stored_flow
      SELECT 100 + i, 2, 9, 'o' || i, NULL, 1, 1, '', created_at, 'shop', 2 + i, i
      FROM n, (SELECT max(created_at) AS created_at FROM stored_flow)`,
  ])
  const atEnd = { status: 200, count: 10_003 }
  const refusal = failed(400, 'page: at most 10000 entries deep; use before for older ones')
  expect(await listed('limit=100&page=100')).toMatchObject({
    ...atEnd,
    ids: Array.from({ length: 100 }, (_, i) => 200 - i),
  })
  expect(await listed('limit=1&page=10000')).toMatchObject({ ...atEnd, ids: [101] })
  for (const query of ['limit=100&page=101', 'limit=100&page=101&type=1', 'limit=1&page=10001']) {
    expect(await read(await service.get(`/wallet/flow/list?${query}`))).toEqual(refusal)
    expect(await read(await service.ledger(`/ledger/entries?uid=7&${query}`))).toEqual(refusal)
  }
  expect(await listed('limit=100&before=101')).toMatchObject({ ...atEnd, ids: [3, 2, 1] })
  expect(await listed('limit=100&page=101', 8)).toMatchObject({ status: 200, ids: [], count: 1 })
})

describe('the query', () => {
  const parse = (query: string) => parseUrl(flowListQuery, `?${query}`)
  const bad = (field: string, why: string) => ({ ok: false, error: { kind: 'bad-input', field, why } })
  const txid = 'ab'.repeat(32)

  test('has the first page of all entries as its default', () => {
    expect(parse('')).toEqual({ ok: true, value: {} })
    expect(parse('Limit=1&limit[]=2&unknown=')).toEqual({ ok: true, value: {} })
  })

  test('can have all filters at once', () => {
    const from = '2026-11-01T00:00:00Z'
    const to = '2026-11-02T00:00:00.001%2B02:00'
    expect(parse(`before=9&limit=${pageRowsMax}&cuy=2&wid=3&type=9&osn=${txid}:1&from=${from}&to=${to}`)).toEqual({
      ok: true,
      value: {
        cuy: 2,
        wid: 3,
        type: 9,
        osn: `${txid}:1`,
        from: Date.UTC(2026, 10, 1),
        to: Date.UTC(2026, 10, 1, 22, 0, 0, 1),
        before: 9,
        limit: pageRowsMax,
      },
    })
  })

  test.each([
    ['page=0', 'page', 'a whole number from 1 to 9007199254740991'],
    ['before=0', 'before', 'a whole number from 1 to 9007199254740991'],
    ['wid=0', 'wid', 'a whole number from 1 to 9007199254740991'],
    [`limit=${pageRowsMax + 1}`, 'limit', `a whole number from 1 to ${pageRowsMax}`],
    ['type=6', 'type', 'one of 1, 2, 3, 4, 5, 9'],
    ['type=recharge', 'type', 'one of 1, 2, 3, 4, 5, 9'],
    ['cuy=x', 'cuy', 'one of 1 (TRX), 2 (FINE), given at most once'],
    ['cuy=3', 'cuy', 'one of 1 (TRX), 2 (FINE), given at most once'],
  ])('is refused with ?%s', (query, field, why) => {
    expect(parse(query)).toEqual(bad(field, why))
  })

  test.each([
    [txid, txid],
    [`0x${txid.toUpperCase()}`, `0x${txid.toUpperCase()}`],
    [`${txid}:0`, `${txid}:0`],
    ['order%207', 'order 7'],
    ['x'.repeat(osnCharsMax), 'x'.repeat(osnCharsMax)],
  ])('can have the osn %s', (value, osn) => {
    expect(parse(`osn=${value}`)).toMatchObject({ ok: true, value: { osn } })
  })

  test.each([
    ['empty', ''],
    ['too long', 'x'.repeat(osnCharsMax + 1)],
    ['with a NUL', 'a%00b'],
    ['with a line end', 'a%0Ab'],
    ['with a letter beyond ASCII', '%C3%A9'],
  ])('is refused where the osn is %s', (_what, value) => {
    const why = `an osn or txid of at most ${osnCharsMax} printable ASCII characters`
    expect(parse(`osn=${value}`)).toEqual(bad('osn', why))
  })

  test.each([
    ['2026-11-01T00:00:00Z', Date.UTC(2026, 10, 1)],
    ['2026-11-01T00:00Z', Date.UTC(2026, 10, 1)],
    ['2026-11-01T00:00:00.5Z', Date.UTC(2026, 10, 1, 0, 0, 0, 500)],
    ['2026-11-01T00:00:00.123-03:30', Date.UTC(2026, 10, 1, 3, 30, 0, 123)],
    ['2026-11-01T00:00:00.000001Z', Date.UTC(2026, 10, 1)],
    ['2026-11-01T00:00:00.999999999Z', Date.UTC(2026, 10, 1, 0, 0, 0, 999)],
    ['2026-11-01T02:00:00.1239%2B02:00', Date.UTC(2026, 10, 1, 0, 0, 0, 123)],
    ['1969-12-31T23:59:59.9999Z', -1],
    ['2028-02-29T23:59:59.999Z', Date.UTC(2028, 1, 29, 23, 59, 59, 999)],
    ['0000-01-01T00:00:00Z', Date.parse('0000-01-01T00:00:00Z')],
  ])('can have the instant %s', (value, from) => {
    expect(parse(`from=${value}`)).toEqual({ ok: true, value: { from } })
  })

  test.each([
    ['empty', ''],
    ['a date', '2026-11-01'],
    ['without a zone', '2026-11-01T00:00:00'],
    ['with a plain + (a space in a query)', '2026-11-01T00:00:00+02:00'],
    ['on a day that does not exist', '2026-04-31T00:00:00Z'],
    ['on 29 February of a common year', '2026-02-29T00:00:00Z'],
    ['in month 13', '2026-13-01T00:00:00Z'],
    ['on day 0', '2026-11-00T00:00:00Z'],
    ['at hour 24', '2026-11-01T24:00:00Z'],
    ['at minute 60', '2026-11-01T00:60:00Z'],
    ['a leap second', '2026-12-31T23:59:60Z'],
    ['with zone 24:00', '2026-11-01T00:00:00%2B24:00'],
    ['with ten fractional digits', '2026-11-01T00:00:00.0000000000Z'],
    ['with a point and no digit', '2026-11-01T00:00:00.Z'],
    ['with a fraction of a minute', '2026-11-01T00:00.5Z'],
    ['in lower case', '2026-11-01t00:00:00z'],
    ['with a space for T', '2026-11-01%2000:00:00Z'],
    ['with a year of five digits', '12026-11-01T00:00:00Z'],
    ['a number', '1790000000000'],
    ['a word', 'yesterday'],
    ['too long', `${'0'.repeat(paramCharsMax)}2026-11-01T00:00:00Z`],
  ])('is refused where an instant is %s', (_what, value) => {
    const why = 'an ISO 8601 instant such as 2026-11-01T00:00:00Z or 2026-11-01T08:00:00.000%2B08:00'
    expect(parse(`from=${value}`)).toEqual(bad('from', why))
    expect(parse(`to=${value}`)).toEqual(bad('to', why))
  })
})
