import { beforeAll, beforeEach, describe, expect, expectTypeOf, test } from 'vitest'
import { notConfigured } from '../../src/worker/http/errors.ts'
import type { EntryToPost, LedgerError, LedgerMethods } from '../../src/worker/rpc/ledger-methods.ts'
import {
  brokenDatabase,
  firstAddress,
  payCaller,
  type RunningService,
  read,
  secondAddress,
  startService,
} from '../http/service.ts'
import { ask, payoutsSetting, startPaying } from '../payouts/harness.ts'
import { usdtWith } from '../scan/harness.ts'

let service: RunningService
let ledger: LedgerMethods

/** A service where user 7 has 25 USDT. */
async function start(): Promise<void> {
  service = await startService()
  ledger = service.rpc
  await payCaller(service)
  await service.get('/tron/recharge')
}

const payment: EntryToPost = { uid: 7, cuy: 2, type: 4, osn: 'order-1', amt: '-2.5' }
const refused = (error: LedgerError) => ({ ok: false, error })
/** Passes a value that the types forbid but that a Worker in plain JavaScript can send. */
const untyped = (value: unknown) => value as never
/** The number 7 inside `depth` nested arrays. */
const nested = (depth: number): unknown => (depth === 0 ? 7 : [nested(depth - 1)])
/** An array that contains itself, which RPC can pass. */
const circular: unknown[] = []
circular.push(circular)

describe('post', () => {
  beforeEach(start)

  test('stores entries and answers like the HTTP route, with amounts as text', async () => {
    const posted = await ledger.post([payment], 'shop')
    const entry = { ...payment, id: 2, wid: 1, balance: '22.5', mark: '', created_at: expect.stringMatching(/Z$/) }
    expect(posted).toEqual({ ok: true, replayed: false, entries: [{ ...entry, by: 'shop' }] })
    const { body } = await read(await service.post([payment]))
    expect(body).toMatchObject({ data: { replayed: true, list: [{ id: 2, amt: -2.5, balance: 22.5, by: 'shop' }] } })
    expect(await ledger.post([payment], 'shop')).toEqual({ ...posted, replayed: true })
    const conflict = (reason: string, entry = 1) => ({ ok: false, error: { kind: 'conflict', reason, entry } })
    expect(await ledger.post([payment], 'other')).toMatchObject(conflict('backend-differs'))
    expect(await ledger.post([{ ...payment, amt: '-3' }], 'shop')).toMatchObject(conflict('content-differs'))
    const further = { ...payment, osn: 'order-2' }
    expect(await ledger.post([payment, further], 'shop')).toMatchObject(conflict('partly-known', 2))
  })

  test('takes a mark that is null as absent', async () => {
    const posted = await ledger.post([{ ...payment, mark: untyped(null) }], 'shop')
    expect(posted).toMatchObject({ ok: true, replayed: false, entries: [{ mark: '' }] })
    expect(await ledger.post([payment], 'shop')).toMatchObject({ ok: true, replayed: true })
    const nulls = { uid: null, cuy: null, type: null, osn: null, amt: null }
    for (const [member, value] of Object.entries(nulls)) {
      const entry = untyped({ ...payment, osn: 'b', [member]: value })
      expect(await ledger.post([entry], 'shop')).toMatchObject({ ok: false, error: { kind: 'bad-input', member } })
    }
  })

  test('has a type for each outcome', async () => {
    const posted = await ledger.post([payment], 'shop')
    if (posted.ok) expectTypeOf(posted.entries[0]?.amt).toEqualTypeOf<string | undefined>()
    else if (posted.error.kind === 'insufficient') expectTypeOf(posted.error.entry).toEqualTypeOf<number>()
    // @ts-expect-error: only the chain makes recharges
    const recharge: EntryToPost = { ...payment, type: 1 }
    expect(await ledger.post([recharge], 'shop')).toMatchObject({ ok: false, error: { kind: 'bad-input' } })
  })
})

describe('decideDeposits', () => {
  test('decides like the HTTP route, with amounts as text', async () => {
    service = await startService({ CURRENCIES: usdtWith({ reviewFrom: '20' }) })
    ledger = service.rpc
    const txid = await payCaller(service)
    await service.get('/tron/recharge')
    const decision = { txid, position: 0, decision: 'credit', why: 'looked at' } as const
    const decided = await ledger.decideDeposits([decision], 'office')
    const item = { txid, amt: '25', state: 'credited', uid: 7, decided: { decision: 'credit', by: 'office' } }
    expect(decided).toMatchObject({ ok: true, replayed: false, deposits: [item] })
    expect(await ledger.decideDeposits([decision], 'shop')).toEqual({ ...decided, replayed: true })
    const withNull = untyped({ ...decision, mark: null }) // absent, as over HTTP
    expect(await ledger.decideDeposits([withNull], 'shop')).toEqual({ ...decided, replayed: true })
    const refusal = { ...decision, decision: 'refuse' } as const
    const unknown = { ...decision, txid: 'ab'.repeat(32) }
    for (const [deposits, by, error] of [
      [[refusal], 'shop', { kind: 'conflict', deposit: 1 }],
      [[unknown], 'shop', { kind: 'not-found', deposit: 1 }],
      [[], 'shop', { kind: 'bad-input', member: 'deposits' }],
      [[decision], '', { kind: 'bad-input', member: 'by' }],
    ] as const) {
      expect(await ledger.decideDeposits(deposits, by)).toMatchObject({ ok: false, error })
    }
  })
})

describe('the reads', () => {
  beforeEach(start)

  test('have what the callers’ routes have', async () => {
    await ledger.post([payment], 'shop')
    const wallets = [
      { amt: '0', cuy: 1 },
      { amt: '22.5', cuy: 2 },
    ]
    expect(await ledger.wallets(7)).toEqual({ ok: true, list: wallets, count: 2 })
    expect(await ledger.entries({ uid: 7, type: 4, limit: 1, page: 1, from: '2026-01-01T00:00:00Z' })).toMatchObject({
      ok: true,
      list: [{ id: 2, amt: '-2.5', by: 'shop' }],
      count: 1,
    })
    expect(await ledger.entries({ uid: 7, before: 2, osn: undefined as never })).toMatchObject({
      list: [{ id: 1, type: 1, amt: '25', by: '' }],
      count: 2,
    })
    for (const options of [undefined, { fresh: false }]) {
      expect(await ledger.address(7, options)).toEqual({ ok: true, id: 1, address: firstAddress })
    }
    expect(await ledger.address(7, { fresh: true })).toEqual({ ok: true, id: 2, address: secondAddress })
  })

  test('have the events after one, with amounts as text', async () => {
    await ledger.post([payment], 'shop')
    const event = { id: 2, type: 'entry.posted', uid: 7, data: { entry: { id: 2, amt: '-2.5', by: 'shop' } } }
    expect(await ledger.events(1)).toMatchObject({ ok: true, list: [event], count: 1 })
    expect(await ledger.events(0, 1)).toMatchObject({
      list: [{ type: 'deposit.credited', data: { entry: { amt: '25' } } }],
    })
    expect(await ledger.events(2)).toEqual({ ok: true, list: [], count: 0 })
  })
})

describe('a refusal', () => {
  beforeAll(start)

  const uidExpected = { kind: 'bad-input', member: 'uid', why: 'a whole number from 1 to 9007199254740991' } as const

  const tooMuch = { ...payment, osn: 'b', amt: '-25' }
  test.each<[string, unknown, unknown, object]>([
    ['a wrong name', [payment], 'the shop', { kind: 'bad-input', member: 'by' }],
    ['no name', [payment], undefined, { kind: 'bad-input', member: 'by' }],
    ['no list', undefined, 'shop', { kind: 'bad-input', member: 'entries' }],
    ['a number for an amount', [{ ...payment, amt: -2.5 }], 'shop', { kind: 'bad-input', entry: 1, member: 'amt' }],
    ['a bigint for a uid', [{ ...payment, uid: 7n }], 'shop', { kind: 'bad-input', entry: 1, member: 'uid' }],
    [
      'more than the wallet has',
      [payment, tooMuch],
      'shop',
      { kind: 'insufficient', reason: 'insufficient', entry: 2 },
    ],
    [
      'more than a wallet can hold',
      [{ ...payment, type: 9, amt: '9007199254.740991' }],
      'shop',
      { kind: 'wallet-full', reason: 'wallet-full', entry: 1 },
    ],
  ])('of a post with %s changes nothing', async (_, entries, by, error) => {
    const why = expect.any(String)
    expect(await ledger.post(untyped(entries), untyped(by))).toEqual({ ok: false, error: { ...error, why } })
    expect(await ledger.wallets(7)).toMatchObject({ list: [{ amt: '0' }, { amt: '25' }] })
  })

  // Only another Worker can pass these values: over HTTP they would arrive as text. Other bad
  // values are in test/ledger/parse-post.test.ts.
  test.each<[string, unknown, string]>([
    ['nested deeply', { ...payment, uid: nested(500) }, 'uid'],
    ['that is a date', new Date(0), 'uid'],
    ['that is a map', new Map([['uid', 7]]), 'uid'],
    ['that contains itself', circular, 'entry'],
  ])('of a post with an entry %s stores nothing', async (_, entry, member) => {
    const posted = await ledger.post(untyped([{ ...payment, osn: 'first' }, entry]), 'shop')
    expect(posted).toMatchObject({ ok: false, error: { kind: 'bad-input', entry: 2, member } })
    expect(await ledger.entries({ uid: 7 })).toMatchObject({ count: 1 })
  })

  test.each([
    [-1, 10, 'after'],
    [0, 101, 'limit'],
    ['last', 10, 'after'],
  ])('is that of the events after %s with the limit %s', async (after, limit, member) => {
    expect(await ledger.events(untyped(after), limit)).toMatchObject({ error: { kind: 'bad-input', member } })
  })

  test.each([undefined, null, 0, -1, 1.5, 2 ** 53, Number.NaN, '', '07', {}, 7n, true])(
    'is that of the uid %s',
    async (uid) => {
      expect(await ledger.wallets(untyped(uid))).toEqual(refused(uidExpected))
      expect(await ledger.address(untyped(uid))).toEqual(refused(uidExpected))
      expect(await ledger.entries(untyped({ uid }))).toEqual(refused(uidExpected))
    },
  )

  test.each([1, '1', null])('is that of an address with %j for fresh', async (fresh) => {
    const error = { kind: 'bad-input', member: 'fresh', why: 'true or false' } as const
    expect(await ledger.address(7, untyped({ fresh }))).toEqual(refused(error))
  })

  test.each<[unknown, string, string]>([
    [undefined, 'query', 'an object with parameters'],
    ['uid=7', 'query', 'an object with parameters'],
    [{}, 'uid', uidExpected.why],
    [{ uid: 7, limit: 101 }, 'limit', 'a whole number from 1 to 100'],
    [{ uid: 7, limit: 1e21 }, 'limit', 'a whole number from 1 to 100'],
    [{ uid: 7, limit: [1] }, 'limit', 'a whole number from 1 to 100'],
    [{ uid: 7, page: 1, before: 3 }, 'page', 'not allowed with before'],
    [{ uid: 7, cuy: 9 }, 'cuy', 'one of 1 (TRX), 2 (USDT), given at most once'],
  ])('is that of the query %o', async (query, member, why) => {
    const error = { kind: 'bad-input', member, why: expect.stringContaining(why) } as const
    expect(await ledger.entries(untyped(query))).toMatchObject(refused(error))
  })
})

test.each(['waiting', 7, null, undefined, true, [['waiting']], new Date(0), new Map([['state', 'waiting']])])(
  'payouts are not listed for %j, which is no query: it would be all of them',
  async (query) => {
    const paying = await startService({ PAYOUTS: payoutsSetting })
    const error = { kind: 'bad-input', member: 'query', why: 'an object with parameters' } as const
    expect(await paying.rpc.payouts(untyped(query))).toEqual(refused(error))
    expect(await paying.rpc.payouts({})).toEqual({ ok: true, list: [], count: 0 })
  },
)

test('the option cell chooses nothing where there is one database, and no call is refused for it', async () => {
  const paying = await startPaying()
  const { rpc } = paying
  const ids = [(await ask(paying, { amt: '200' })).id]
  const cell = { cell: 1 }
  expect(await rpc.events(0, 1, cell)).toMatchObject({ ok: true, count: 1 })
  expect(await rpc.payouts(cell)).toMatchObject({ ok: true, count: 1 })
  expect(await rpc.approvePayouts(ids, 'office', cell)).toMatchObject({ ok: true, list: [{ state: 'approved' }] })
  const cancelled = await rpc.cancelPayouts(ids, 'not wanted', 'office', cell)
  expect(cancelled).toMatchObject({ ok: true, list: [{ state: 'cancelled' }] })
})

test.each<unknown>([0, 1, true, '', 'moved', 7n, [[]], [[1]], new Date(0), new Map([['attempts', 1]]), () => 1])(
  'options that are %o are refused by each method, and change nothing: a guard in them would be lost',
  async (value) => {
    const paying = await startPaying()
    const { rpc } = paying
    const { id } = await ask(paying, { amt: '200' })
    const options = untyped(value)
    const payout = { uid: 7, cuy: 2, amt: '1', to: 'TRZNYrx2RuWSDK26xqShVzxSUZDQYySQE4', osn: 'x' }
    const decision = { txid: 'ab'.repeat(32), position: 0, decision: 'credit', why: 'x' } as const
    const calls = {
      post: rpc.post([payment], 'shop', options),
      decideDeposits: rpc.decideDeposits([decision], 'shop', options),
      events: rpc.events(0, 1, options),
      checkpoint: rpc.checkpoint(options),
      wallets: rpc.wallets(7, options),
      address: rpc.address(7, options),
      askPayouts: rpc.askPayouts([payout], 'shop', options),
      approvePayouts: rpc.approvePayouts([id], 'office', options),
      cancelPayouts: rpc.cancelPayouts([id], 'not wanted', 'office', options),
    }
    const error = { kind: 'bad-input', member: 'options', why: 'an object with options' } as const
    for (const [method, answer] of Object.entries(calls)) {
      expect([method, await answer]).toEqual([method, refused(error)])
    }
    expect(await rpc.payouts({ uid: 7 })).toMatchObject({ count: 1, list: [{ state: 'waiting' }] })
  },
)

test.each([undefined, untyped(null), {}, Object.create(null)])('options may be %o', async (options) => {
  const paying = await startPaying()
  const { id } = await ask(paying, { amt: '200' })
  expect(await paying.rpc.approvePayouts([id], 'office', options)).toMatchObject({ ok: true })
})

describe('a failure', () => {
  beforeEach(start)

  test('of a use case has its kind, and the sentence and the word of the HTTP route', async () => {
    for (let i = 0; i < 20; i += 1) await ledger.address(8, { fresh: true })
    const response = await service.ledger('/ledger/address?uid=8&fresh=1')
    const { msg: why } = await response.json<{ msg: string }>()
    const reason = response.headers.get('x-reason')
    expect(reason).toBe('gap-limit')
    expect(await ledger.address(8, { fresh: true })).toEqual({ ok: false, error: { kind: 'gap-limit', reason, why } })
  })

  test('is a value, with its text only in the log', async () => {
    const broken = service.with({ DB: brokenDatabase() }).rpc
    const calls = [broken.post([payment], 'shop'), broken.wallets(7), broken.entries({ uid: 7 }), broken.address(7)]
    const internal = refused({ kind: 'internal', why: 'internal error' })
    expect(await Promise.all(calls)).toEqual([internal, internal, internal, internal])
    expect(service.lines.join('\n')).toContain('the database is away')
  })

  test('with the configuration is one kind: its word says whether it is wrong or another one than before', async () => {
    for (const [reason, changes] of [
      ['not-configured', { TRON_XPUB: 'x' }],
      ['configuration-differs', { TRON_CHAIN_ID: '0x1' }],
    ] as const) {
      const { rpc } = service.with(changes)
      const unconfigured = refused({ kind: 'not-configured', reason, why: notConfigured.msg })
      expect([await rpc.post([payment], 'shop'), await rpc.wallets(7)]).toEqual([unconfigured, unconfigured])
    }
  })

  test('does not come from a missing key for backends: only Workers of the account can bind the entrypoint', async () => {
    expect(await service.with({ BACKEND_JWT_SECRET: undefined }).rpc.wallets(7)).toMatchObject({ ok: true })
  })
})

test('a call leaves one line in the log, without amounts or names', async () => {
  await start()
  service.lines.length = 0
  await ledger.post([payment], 'shop')
  expect(service.lines.map((line) => JSON.parse(line))).toEqual([
    {
      level: 'info',
      event: 'rpc',
      method: 'post',
      outcome: 'ok',
      durationMs: expect.any(Number),
      databaseQueries: 4,
      databaseMs: expect.any(Number),
      rowsRead: expect.any(Number),
    },
  ])
})
