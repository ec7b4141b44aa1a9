import { describe, expect, test } from 'vitest'
import { bearer, signHs256, tokenNow } from '../support/tokens.ts'
import { testSecret, testXpub } from '../support/variables.ts'
import { addressIn, payFinal, type RunningService, startService, usdtTo } from './service.ts'

/**
 * The costs in the log lines of one kind, without the times. `event` is the kind, for example
 * `request`.
 */
const costsIn = ({ lines }: RunningService, event: string) =>
  lines
    .map((line) => JSON.parse(line))
    .filter((line) => line.event === event)
    .map(({ route, status, databaseQueries, rowsRead }) => ({
      ...(route === undefined ? {} : { route, status }),
      databaseQueries,
      rowsRead,
    }))

/** A service where user 7 has one ledger entry of 25 USDT, and an empty log. */
async function withDeposit() {
  const service = await startService()
  const to = await addressIn(await service.get('/tron/generate'))
  const [txid = ''] = payFinal(service, usdtTo(to, 25_000_000n))
  await service.tick()
  service.lines.length = 0
  return { service, to, txid }
}

describe('the log line of a request', () => {
  test('is one line with its members in one order', async () => {
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
      'databaseQueries',
      'databaseMs',
      'rowsRead',
    ])
  })

  test.each([
    // The rows read: /wallet/list the wallet; /wallet/flow/list the page's entry and what its count
    // needs; /tron/generate and /tron/balance the newest address; /health the scan and the payouts'
    // open transactions.
    ['/wallet/list', 200, { databaseQueries: 1, rowsRead: 1 }],
    ['/wallet/flow/list', 200, { databaseQueries: 2, rowsRead: 10 }],
    ['/tron/generate', 200, { databaseQueries: 1, rowsRead: 1 }],
    ['/tron/balance', 200, { databaseQueries: 1, rowsRead: 1 }],
    ['/health', 200, { databaseQueries: 1, rowsRead: 4 }],
    ['/wallet/list?cuy=1&cuy=1', 200, { databaseQueries: 1, rowsRead: 1 }],
    ['/tron/balance?cuy=x', 400, { databaseQueries: 0, rowsRead: 0 }],
  ])('has the cost of %s (%d)', async (path, status, costs) => {
    const { service } = await withDeposit()
    await service.get(path)
    expect(costsIn(service, 'request')).toEqual([{ route: path.replace(/\?.*/, ''), status, ...costs }])
  })
})

describe('no log line', () => {
  test('has a token, a key, an address, a txid or anything else from a query or body', async () => {
    const { service, to, txid } = await withDeposit()
    const token = await signHs256({ sub: '7', exp: tokenNow + 60, note: 'marked' }, testSecret)
    const own = await (await service.get('/tron/generate')).text()
    const address = /T\w{33}/.exec(own)?.[0] ?? 'none'
    const paths = [
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
    for (const path of paths) {
      await service.get(path, null, { headers: bearer(token) })
      await service.get(path, null, { headers: { ...bearer(token), 'x-d1-bookmark': 'marked', cookie: 'marked' } })
      await service.get(path, null, { method: 'POST', body: 'marked', headers: { authorization: 'Bearer mar.ke.d' } })
    }
    await service.tick()
    expect(service.lines.length).toBeGreaterThan(3 * paths.length)
    const log = service.lines.join('\n')
    for (const secret of [token, testSecret, testXpub, address, to, txid, 'cdcdcd', 'marked', 'mar.ke', '.example']) {
      expect(log).not.toContain(secret)
    }
  })
})
