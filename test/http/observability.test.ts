import { describe, expect, test } from 'vitest'
import { testSecret, testXpub } from '../support/configured.ts'
import { bearer, signHs256, tokenNow } from '../support/tokens.ts'
import { addressIn, payFinal, type RunningService, startService, usdtTo } from './service.ts'

/** What the log says of requests and ticks, without times. */
const costsIn = ({ lines }: RunningService, event: string) =>
  lines
    .map((line) => JSON.parse(line))
    .filter((line) => line.event === event)
    .map(({ route, status, nodeCalls, databaseQueries, rowsRead }) => ({
      ...(route === undefined ? {} : { route, status }),
      nodeCalls,
      databaseQueries,
      rowsRead,
    }))

/** A caller with 25 USDT in the wallet and one entry; the log is empty. */
async function withDeposit() {
  const service = await startService()
  const to = await addressIn(await service.get('/tron/generate'))
  const [txid = ''] = payFinal(service, usdtTo(to, 25_000_000n))
  await service.tick()
  service.lines.length = 0
  return { service, to, txid }
}

describe('the log line of a request', () => {
  test('is one, with members in one order', async () => {
    const { service } = await withDeposit()
    await service.get('/wallet/list')
    expect(service.lines).toHaveLength(1)
    expect(Object.keys(JSON.parse(service.lines[0] ?? ''))).toEqual([
      'level',
      'event',
      'requestId',
      'route',
      'method',
      'status',
      'durationMs',
      'nodeCalls',
      'nodeMs',
      'databaseQueries',
      'databaseMs',
      'rowsRead',
    ])
  })

  test.each([
    // One row of a wallet; a page and its count; the caller's newest address; then the nodes.
    ['/wallet/list', 200, { nodeCalls: 0, databaseQueries: 1, rowsRead: 1 }],
    ['/wallet/flow/list', 200, { nodeCalls: 0, databaseQueries: 1, rowsRead: 2 }],
    ['/tron/generate', 200, { nodeCalls: 0, databaseQueries: 1, rowsRead: 1 }],
    ['/tron/balance', 200, { nodeCalls: 1, databaseQueries: 1, rowsRead: 1 }],
    ['/health', 200, { nodeCalls: 0, databaseQueries: 1, rowsRead: 1 }],
    ['/wallet/list?cuy=1&cuy=1', 200, { nodeCalls: 0, databaseQueries: 1, rowsRead: 1 }],
    ['/tron/balance?cuy=x', 400, { nodeCalls: 0, databaseQueries: 0, rowsRead: 0 }],
  ])('tells what %s (%d) has cost', async (path, status, costs) => {
    const { service } = await withDeposit()
    await service.get(path)
    expect(costsIn(service, 'request')).toEqual([{ route: path.replace(/\?.*/, ''), status, ...costs }])
  })

  test('counts what a scan within the request has cost, and every statement of a batch', async () => {
    const { service } = await withDeposit()
    const requestsBefore = service.nodes.flatMap((node) => node.requests).length
    await service.get('/tron/recharge')
    const [line] = costsIn(service, 'request')
    expect(line?.nodeCalls).toBe(service.nodes.flatMap((node) => node.requests).length - requestsBefore)
    expect(line?.nodeCalls).toBeGreaterThan(0)
    expect(line?.databaseQueries).toBeGreaterThan(5)
    expect(line?.rowsRead).toBeGreaterThan(5)
  })

  test('is there for a crash, beside the line with its text', async () => {
    const { service } = await withDeposit()
    await service.db.prepare('ALTER TABLE wallet RENAME TO gone').run()
    expect((await service.get('/wallet/list')).status).toBe(500)
    expect(costsIn(service, 'request')).toEqual([
      { route: '/wallet/list', status: 500, nodeCalls: 0, databaseQueries: 1, rowsRead: 0 },
    ])
    expect(service.lines.map((line) => JSON.parse(line).event)).toEqual(['request crashed', 'request'])
  })
})

describe('the log line of a tick', () => {
  test('tells what it has cost', async () => {
    const { service } = await withDeposit()
    await service.tick()
    const [line, ...others] = costsIn(service, 'tick')
    expect(others).toEqual([])
    expect(line?.nodeCalls).toBeGreaterThan(0)
    expect(line?.databaseQueries).toBeGreaterThan(3)
  })
})

describe('no log line', () => {
  test('holds a token, a key, an address, a txid or anything else of a query or body, whatever is asked', async () => {
    const { service, to, txid } = await withDeposit()
    const token = await signHs256({ sub: '7', exp: tokenNow + 60, note: 'marked' }, testSecret)
    const own = await (await service.get('/tron/generate')).text()
    const address = /T\w{33}/.exec(own)?.[0] ?? 'none'
    const asked = [
      '/tron/generate?format=hex',
      '/tron/generate?fresh=1',
      `/tron/balance?address=${address}`,
      `/tron/balance?address=${'T'.repeat(34)}`,
      '/tron/recharge',
      `/tron/recharge?txid=${txid}`,
      `/tron/recharge?txid=${'cd'.repeat(32)}`,
      `/wallet/flow/list?osn=${txid}`,
      '/wallet/flow/list?osn=marked',
      '/marked',
      '/health?marked',
    ]
    for (const path of asked) {
      await service.get(path, null, { headers: bearer(token) })
      await service.get(path, null, { headers: { ...bearer(token), 'x-d1-bookmark': 'marked', cookie: 'marked' } })
      await service.get(path, null, { method: 'POST', body: 'marked', headers: { authorization: 'Bearer mar.ke.d' } })
    }
    await service.tick()
    expect(service.lines.length).toBeGreaterThan(3 * asked.length)
    const log = service.lines.join('\n')
    for (const secret of [token, testSecret, testXpub, address, to, txid, 'cdcdcd', 'marked', 'mar.ke', '.example']) {
      expect(log).not.toContain(secret)
    }
  })
})

describe('Server-Timing', () => {
  test.each(['/wallet/list', '/tron/balance', '/tron/recharge', '/health', '/x', '/tron/balance?cuy=x'])(
    'stands on the answer of %s, in milliseconds and without anything else',
    async (path) => {
      const { service } = await withDeposit()
      const timing = (await service.get(path)).headers.get('server-timing') ?? ''
      expect(timing).toMatch(/^total;dur=\d+, db;dur=\d+, node;dur=\d+$/)
      const [total = 0, database = 0, node = 0] = [...timing.matchAll(/\d+/g)].map(Number)
      expect(Math.max(database, node)).toBeLessThanOrEqual(total)
      const line = JSON.parse(service.lines.at(-1) ?? '')
      expect([line.durationMs, line.databaseMs, line.nodeMs]).toEqual([total, database, node])
    },
  )
})
