import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ledgerStatementDocs } from '../../../src/worker/http/routes/ledger-statement.ts'
import { walletStatementDocs } from '../../../src/worker/http/routes/wallet-statement.ts'
import { statementRowsMax } from '../../../src/worker/ledger/statement.ts'
import { failed, payCaller, type RunningService, read, startService, wholeOf } from '../service.ts'

let service: RunningService
/** The time of the first entry, which is the deposit. */
let paidAt: string

/**
 * User 7 gets 25 USDT, then pays 2.5 and 1 USDT, one of them with a mark that a spreadsheet would
 * run as a formula. User 8 gets 4 TRX.
 */
async function start(): Promise<void> {
  service = await startService()
  await payCaller(service)
  await service.tick()
  const { data } = await (await service.get('/wallet/flow/list')).json<{ data: { list: { created_at: string }[] } }>()
  paidAt = data.list[0]?.created_at ?? ''
  const pay = (osn: string, amt: string, mark: string) => ({ uid: 7, cuy: 2, type: 4, osn, amt, mark })
  expect((await service.post([pay('order-1', '-2.5', '=1+1')])).status).toBe(200)
  expect((await service.post([pay('order-2', '-1', 'tea, "hot"')])).status).toBe(200)
  expect((await service.post([{ uid: 8, cuy: 1, type: 5, osn: 'gift', amt: '4' }])).status).toBe(200)
}

interface Statement {
  readonly from: string
  readonly to: string
  readonly until: string
  readonly balances: readonly { readonly cuy: number; readonly opening: number; readonly closing: number }[]
  readonly list: readonly { readonly id: number; readonly amt: number; readonly uid: number }[]
  readonly count: number
}
const statementOf = async (answer: Promise<Response>) => {
  const { status, body } = await read(await answer)
  expect(status).toBe(200)
  return (body as { data: Statement }).data
}
const month = () => paidAt.slice(0, 7)
const day = () => paidAt.slice(0, 10)

describe('GET /wallet/statement', () => {
  beforeAll(start)

  test('has the balances before and after a month, and the entries between, oldest first', async () => {
    const { until, list, ...rest } = await statementOf(service.get(`/wallet/statement?month=${month()}`))
    const next = new Date(`${month()}-01T00:00:00.000Z`)
    next.setUTCMonth(next.getUTCMonth() + 1)
    expect(rest).toEqual({
      from: `${month()}-01T00:00:00.000Z`,
      to: next.toISOString(),
      balances: [
        { cuy: 1, opening: 0, closing: 0 },
        { cuy: 2, opening: 0, closing: 21.5 },
      ],
      count: 3,
    })
    const now = service.clock.seconds * 1_000
    expect(Math.abs(Date.parse(until) - now)).toBeLessThan(60_000)
    const { data } = await (await service.get('/wallet/flow/list')).json<{ data: { list: { osn: string }[] } }>()
    const txid = data.list.at(-1)?.osn.slice(0, 64)
    const more = [{ what: 'deposit', txid }, { what: 'payment' }, { what: 'payment' }]
    expect(list).toEqual(data.list.reverse().map((one, i) => ({ ...one, ...more[i] })))
  })

  test('goes on after an entry, in one currency or in all, and is that of a day as well', async () => {
    const first = await statementOf(service.get(`/wallet/statement?month=${month()}&cuy=2&limit=2`))
    expect([first.list.map(({ amt }) => amt), first.count, first.balances.length]).toEqual([[25, -2.5], 3, 1])
    const after = first.list.at(-1)?.id
    const rest = await statementOf(service.get(`/wallet/statement?day=${day()}&cuy=2&after=${after}`))
    expect([rest.list.map(({ amt }) => amt), rest.count, rest.balances]).toEqual([
      [-1],
      3,
      [{ cuy: 2, opening: 0, closing: 21.5 }],
    ])
    expect(Date.parse(rest.to) - Date.parse(rest.from)).toBe(86_400_000)
    const now = await statementOf(service.get('/wallet/statement'))
    expect([now.from.slice(0, 7), now.count]).toEqual([month(), 3]) // the current month
    const before = await statementOf(service.get('/wallet/statement?month=2020-02'))
    expect([before.list, before.count, before.until]).toEqual([[], 0, '2020-03-01T00:00:00.000Z'])
  })

  test('shows nobody what is of another', async () => {
    const { list, balances } = await statementOf(service.get(`/wallet/statement?month=${month()}`, 8))
    expect([list.map(({ uid, amt }) => [uid, amt]), balances]).toEqual([
      [[8, 4]],
      [
        { cuy: 1, opening: 0, closing: 4 },
        { cuy: 2, opening: 0, closing: 0 },
      ],
    ])
  })

  test('is CSV where that is asked for, harmless to spreadsheets, its opening first and its closing at the end of the last page', async () => {
    const { text } = await wholeOf(await service.get(`/wallet/statement?month=${month()}&cuy=2&limit=2&format=csv`))
    const response = await service.get(`/wallet/statement?month=${month()}&cuy=2&limit=2&format=csv&after=2`)
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    const rest = await response.text()
    const lines = (text: string) => text.split('\r\n').map((line) => line.replaceAll(/"\d{4}-[^"]+Z"/g, '"at"'))
    const names = 'kind,id,uid,wid,osn,type,cuy,symbol,amt,balance,mark,created_at,what,to,txid'
    const quoted = (...fields: (string | number)[]) => fields.map((field) => (field === '' ? '' : `"${field}"`)).join()
    const osn = /"([0-9a-f]{64}:0)"/.exec(text)?.[1] ?? ''
    expect(lines(text)).toEqual([
      quoted(...names.split(',')),
      quoted('opening', '', '', '', '', '', 2, 'USDT', 0, '', '', 'at', '', '', ''),
      quoted('entry', 1, 7, 1, osn, 1, 2, 'USDT', 25, 25, 'deposit', 'at', 'deposit', '', osn.slice(0, 64)),
      quoted('entry', 2, 7, 1, 'order-1', 4, 2, 'USDT', -2.5, 22.5, "'=1+1", 'at', 'payment', '', ''),
      '',
    ])
    expect(lines(rest)).toEqual([
      quoted('entry', 3, 7, 1, 'order-2', 4, 2, 'USDT', -1, 21.5, 'tea, ""hot""', 'at', 'payment', '', ''),
      quoted('closing', '', '', '', '', '', 2, 'USDT', 21.5, '', '', 'at', '', '', ''),
      '',
    ])
  })

  const monthExpected = 'a month of UTC that has begun, such as 2026-11'
  test.each([
    ['month=2026-13', 'month', monthExpected],
    ['month=2026-1', 'month', monthExpected],
    ['month=', 'month', monthExpected],
    ['month=9999-12', 'month', monthExpected],
    ['month=2026-01&month=2026-02', 'month', `${monthExpected}, given once`],
    ['day=2026-02-29', 'day', 'a day of UTC that has begun, such as 2026-11-27'],
    ['day=2999-01-01', 'day', 'a day of UTC that has begun, such as 2026-11-27'],
    ['day=2026-01-01T00:00', 'day', 'a day of UTC that has begun, such as 2026-11-27'],
    ['month=2026-01&day=2026-01-01', 'day', 'not allowed with month'],
    ['month=2026-01&limit=1001', 'limit', `a whole number from 1 to ${statementRowsMax}`],
    ['month=2026-01&format=pdf', 'format', 'one of json, csv'],
    ['month=2026-01&after=-1', 'after', 'a whole number from 1 to 9007199254740991'],
  ])('refuses ?%s', async (query, field, takes) => {
    expect(await read(await service.get(`/wallet/statement?${query}`))).toEqual(failed(400, `${field}: ${takes}`))
  })
})

test('the documentation has the beginning of each table', async () => {
  await start()
  const query = `month=${month()}&cuy=2&format=csv`
  const [own, posted] = [
    await service.get(`/wallet/statement?${query}`),
    await service.ledger(`/ledger/statement?uid=7&${query}`),
  ]
  const tables = [await own.text(), await posted.text()]
  expect(tables.map((table) => table.split('\r\n').slice(0, 2).join('\r\n'))).toEqual(
    [walletStatementDocs().csv, ledgerStatementDocs().csv].map((table) => table.trimEnd()),
  )
})

describe('GET /ledger/statement', () => {
  beforeEach(start)

  test('is that of a user, with the name of the backend that posted each entry', async () => {
    const own = await statementOf(service.get(`/wallet/statement?month=${month()}`))
    const named = await statementOf(service.ledger(`/ledger/statement?uid=7&month=${month()}`))
    const posted = own.list.map((entry, index) => ({ ...entry, by: index === 0 ? '' : 'shop' }))
    expect({ ...named, until: '' }).toEqual({ ...own, list: posted, until: '' })
  })

  test('is the day of all users, whose sums can be more than one wallet can hold', async () => {
    await service.post([1, 2, 3].map((uid) => ({ uid, cuy: 1, type: 5, osn: 'much', amt: '9007199254.740991' })))
    const { text } = await wholeOf(await service.ledger(`/ledger/statement?day=${day()}&limit=3`))
    expect(text).toContain(
      '"balances":[{"cuy":1,"opening":0,"closing":27021597768.222973},{"cuy":2,"opening":0,"closing":21.5}]',
    )
    expect(text).toContain('"count":7}')
    const last = await statementOf(service.ledger(`/ledger/statement?day=${day()}&after=3`))
    expect(last.list.map(({ uid }) => uid)).toEqual([8, 1, 2, 3])
    const csv = await wholeOf(await service.ledger(`/ledger/statement?day=${day()}&format=csv`))
    expect(csv.text.split('\r\n')[0]).toBe(
      '"kind","id","uid","wid","osn","type","cuy","symbol","amt","balance","mark","created_at","what","to","txid","by"',
    )
    expect(csv.text.split('\r\n').filter((line) => line.startsWith('"closing"'))).toHaveLength(2)
    expect(csv.text).toContain('"shop"\r\n')
  })

  test('has a currency only for a user, and needs a token that reads', async () => {
    const query = `/ledger/statement?day=${day()}`
    expect(await read(await service.ledger(`${query}&cuy=2`))).toEqual(failed(400, 'cuy: only allowed with uid'))
    expect((await service.ledger(query, {}, { scope: 'ledger:post' })).status).toBe(403)
    expect((await service.get(query)).status).toBe(401)
    expect((await service.ledger(query, {}, { scope: 'ledger:read' })).status).toBe(200)
  })
})
