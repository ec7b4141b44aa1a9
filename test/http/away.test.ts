import { beforeEach, describe, expect, test } from 'vitest'
import { documentedOperations } from '../../src/worker/http/openapi/document.ts'
import { payoutsSetting } from '../payouts/harness.ts'
import { situations } from './openapi/situations.ts'
import { awayDatabase, awayError, brokenDatabase, postInit, type RunningService, startService } from './service.ts'

/**
 * The service over the same database, which is away once `leave` is called. Its settings are
 * compared before that, as in an isolate that has served.
 */
async function leaving(before: RunningService, broken = awayDatabase()) {
  let isAway = false
  const current = () => (isAway ? broken : before.bindings.DB) as D1Database
  const DB = {
    prepare: (sql: string) => current().prepare(sql),
    batch: (statements: D1PreparedStatement[]) => current().batch(statements),
    withSession: (start: string) => current().withSession(start),
  }
  const service = before.with({ DB })
  await service.get('/wallet/list')
  service.clock.seconds += 5 // values that requests share are older then
  const leave = () => {
    isAway = true
  }
  return { service, leave }
}

const operations = documentedOperations().map(({ method, path, operation }) => ({ method, path, operation }))

describe.each(operations)('$method $path', ({ method, path, operation: { examples } }) => {
  test('is 503 with a reason and Retry-After while the database is away', async () => {
    const [example] = examples
    if (example === undefined) throw new Error('an example of each route')
    const { service, leave } = await leaving(await situations[example.given]())
    leave()
    const init = example.request === undefined ? {} : postInit(example.request)
    const url = path + (example.query ?? '')
    const response = path.startsWith('/ledger/')
      ? await service.ledger(url, init, example.by === undefined ? {} : { sub: example.by })
      : await service.get(url, 7, init)
    expect({ method, status: response.status, reason: response.headers.get('x-reason') }).toEqual({
      method,
      status: 503,
      reason: 'database-unavailable',
    })
    expect(response.headers.get('retry-after')).toBe('10')
    expect(await response.json()).toEqual({ code: 503, msg: 'the database does not answer for now; try again later' })
  })
})

describe('while the database is away', () => {
  let service: RunningService
  beforeEach(async () => {
    service = await startService({ PAYOUTS: payoutsSetting })
  })

  test('every RPC method returns a value that says so', async () => {
    const { service: left, leave } = await leaving(service)
    leave()
    const { rpc } = left
    const payout = { uid: 7, cuy: 2, amt: '1', to: 'TRZNYrx2RuWSDK26xqShVzxSUZDQYySQE4', osn: 'x' }
    const calls: { readonly [Name in keyof typeof rpc]: () => Promise<unknown> } = {
      post: () => rpc.post([{ uid: 7, cuy: 2, type: 9, osn: 'x', amt: '1' }], 'shop'),
      decideDeposits: () =>
        rpc.decideDeposits([{ txid: 'ab'.repeat(32), position: 0, decision: 'credit', why: 'x' }], 'shop'),
      entries: () => rpc.entries({ uid: 7 }),
      events: () => rpc.events(0),
      checkpoint: () => rpc.checkpoint(),
      wallets: () => rpc.wallets(7),
      address: () => rpc.address(7),
      orders: () => rpc.orders({ uid: 7 }),
      askOrders: () => rpc.askOrders([{ uid: 7, cuy: 1, amt: '1', order: 'x' }], 'shop'),
      cancelOrders: () => rpc.cancelOrders([{ uid: 7, order: 'x' }], 'shop'),
      payouts: () => rpc.payouts({ uid: 7 }),
      askPayouts: () => rpc.askPayouts([payout], 'shop'),
      approvePayouts: () => rpc.approvePayouts([1], 'office'),
      cancelPayouts: () => rpc.cancelPayouts([1], 'x', 'shop'),
    }
    const why = 'the database does not answer for now; try again later'
    for (const [method, call] of Object.entries(calls)) {
      const error = { kind: 'database-unavailable', reason: 'database-unavailable', why }
      expect([method, await call()]).toEqual([method, { ok: false, error }])
    }
  })

  test('a log line has the text of the database, and is no crash', async () => {
    const { service: left, leave } = await leaving(service)
    leave()
    service.lines.length = 0
    await left.get('/wallet/list')
    await left.rpc.wallets(7)
    const events = service.lines.map((line) => JSON.parse(line))
    expect(events.filter(({ event }) => event === 'database-away')).toHaveLength(2)
    expect(events.filter(({ event }) => /crashed/.test(event))).toEqual([])
    expect(service.lines.join('\n')).toContain(awayError().message)
  })

  test('a bug stays a bare 500, and internal over RPC', async () => {
    const bug = brokenDatabase(new Error('D1_ERROR: no such column: balanse: SQLITE_ERROR'))
    const { service: left, leave } = await leaving(service, bug)
    leave()
    const response = await left.get('/wallet/list')
    expect([response.status, response.headers.get('x-reason'), response.headers.get('retry-after')]).toEqual([
      500,
      null,
      null,
    ])
    expect(await left.rpc.wallets(7)).toEqual({ ok: false, error: { kind: 'internal', why: 'internal error' } })
  })

  test('a post that was stored although the answer was lost is answered as the first time', async () => {
    const entries = [{ uid: 7, cuy: 2, type: 9, osn: 'x', amt: '1' }]
    const answers: { areLost: boolean } = { areLost: true }
    const losing = (db: D1Database): D1Database => {
      const batch = async (statements: D1PreparedStatement[]) => {
        const results = await db.batch(statements)
        if (answers.areLost && results.some(({ meta }) => meta.rows_written > 0)) throw awayError()
        return results
      }
      return { prepare: db.prepare.bind(db), batch, withSession: () => losing(db), getBookmark: () => null } as never
    }
    await service.get('/wallet/list', 7) // stores what the configuration means
    const unsure = service.with({ DB: losing(service.db) })
    const first = await unsure.post(entries)
    expect([first.status, first.headers.get('x-reason')]).toEqual([503, 'database-unavailable'])
    answers.areLost = false
    expect(await (await unsure.post(entries)).json()).toMatchObject({ code: 200, data: { replayed: true, count: 1 } })
  })
})
