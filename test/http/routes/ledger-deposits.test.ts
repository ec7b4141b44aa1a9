import { beforeAll, describe, expect, test } from 'vitest'
import { addressExpected, uidExpected } from '../../../src/worker/http/query.ts'
import {
  addressIn,
  failed,
  firstAddress,
  oneEndpoint,
  payFinal,
  type RunningService,
  read,
  renewFinal,
  requestsOf,
  secondAddress,
  startService,
  trxTo,
  usdtTo,
} from '../service.ts'

interface Item {
  readonly id: number
  readonly uid: number
  readonly txid: string
}

let service: RunningService
let txids: readonly string[]

beforeAll(async () => {
  service = await startService()
  const own = await addressIn(await service.get('/tron/generate'))
  const other = await addressIn(await service.get('/tron/generate', 8))
  txids = payFinal(service, trxTo(own, 1n), usdtTo(other, 3_000_000n), usdtTo(own, 4n))
  await service.tick()
})

const listed = async (query: string) => {
  const { status, body } = await read(await service.ledger(`/ledger/deposits${query}`))
  const { list, count } = (body as { data: { list: Item[]; count: number } }).data
  return { status, ids: list.map(({ id }) => id), count, list }
}

describe('GET /ledger/deposits', () => {
  test.each([
    ['', [3, 2, 1], 3],
    ['?limit=2', [3, 2], 3],
    ['?before=3&limit=1', [2], 3],
    ['?uid=7', [3, 1], 2],
    ['?uid=8&state=credited', [2], 1],
    ['?uid=9', [], 0],
    ['?cuy=2', [3, 2], 2],
    ['?state=credited&cuy=1', [1], 1],
    ['?state=held', [], 0],
    [`?address=${secondAddress}`, [2], 1],
    [`?address=${firstAddress}&before=3`, [1], 2],
    [`?txid=${'ab'.repeat(32)}`, [], 0],
  ])('at %s are %j of %d', async (query, ids, count) => {
    expect(await listed(query)).toMatchObject({ status: 200, ids, count })
  })

  test('has the item of the caller with the user as its last member, and asks no node', async () => {
    const before = requestsOf(service)
    const { list } = await listed(`?txid=0x${txids[1]?.toUpperCase()}`)
    const own = await read(await service.get('/tron/deposits', 8))
    const { list: items } = (own.body as { data: { list: Item[] } }).data
    expect(list).toEqual([{ ...items[0], uid: 8 }])
    expect(Object.keys(list[0] ?? {}).at(-1)).toBe('uid')
    expect(requestsOf(service)).toBe(before)
  })

  test.each([
    ['uid=0', 'uid', uidExpected],
    ['uid=9007199254740992', 'uid', uidExpected],
    ['txid=25', 'txid', '64 hex digits, optionally prefixed with 0x'],
    ['address=T', 'address', addressExpected],
    [`address=${firstAddress.slice(0, -1)}1`, 'address', addressExpected],
    ['address=42'.padEnd(50, '0'), 'address', addressExpected],
    [`address=${firstAddress}&uid=7`, 'uid', 'not allowed with address'],
    [`address=${firstAddress}&state=held`, 'state', 'not allowed with address'],
    [`address=${firstAddress}&cuy=1`, 'cuy', 'not allowed with address'],
    [`txid=${'ab'.repeat(32)}&address=${firstAddress}`, 'address', 'not allowed with txid'],
    [`txid=${'ab'.repeat(32)}&uid=7`, 'uid', 'not allowed with txid'],
  ])('are not listed by ?%s', async (query, field, why) => {
    expect(await read(await service.ledger(`/ledger/deposits?${query}`))).toEqual(failed(400, `${field}: ${why}`))
  })
})

describe('GET /ledger/address?address=', () => {
  const hex = '41e2e1a54926527fbb4e4420de4c6bab82beaee24d'
  const nobodys = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'

  test.each([
    [firstAddress, { uid: 7, id: 1, address: firstAddress, frozen: [] }],
    [hex, { uid: 7, id: 1, address: firstAddress, frozen: [] }],
    [`${firstAddress}&format=hex`, { uid: 7, id: 1, address: hex, frozen: [] }],
    [secondAddress, { uid: 8, id: 2, address: secondAddress, frozen: [] }],
  ])('of %s has its user', async (query, data) => {
    const { status, body } = await read(await service.ledger(`/ledger/address?address=${query}`))
    expect([status, body]).toEqual([200, { code: 200, msg: 'success', data }])
  })

  test('of another address is 404, and creates none', async () => {
    expect(await read(await service.ledger(`/ledger/address?address=${nobodys}`))).toEqual(
      failed(404, 'no such address'),
    )
    expect(await service.db.prepare('SELECT count(*) AS n FROM address').first('n')).toBe(2)
  })

  test('is no question for a further one', async () => {
    const refused = await read(await service.ledger(`/ledger/address?address=${firstAddress}&fresh=0`))
    expect(refused).toEqual(failed(400, 'fresh: not allowed with address'))
  })
})

describe('GET /ledger/summary', () => {
  test('has sums, days, and the words of each alarm, and its subject as people know it', async () => {
    await renewFinal(service)
    const subject = { address: 'e2e1a54926527fbb4e4420de4c6bab82beaee24d', cuy: 1 }
    await service.db
      .prepare(`INSERT INTO alarm VALUES ('reconciliation-surplus', ?, 0, 9), ('scan-stalled', '{}', 0, 0)`)
      .bind(JSON.stringify(subject))
      .run()
    const before = requestsOf(service)
    const { status, body } = await read(await service.ledger('/ledger/summary'))
    const { data } = body as { data: Record<string, never> & { currencies: { days: unknown[] }[] } }
    expect(status).toBe(200)
    expect(data).toMatchObject({
      currencies: [
        { cuy: 1, symbol: 'TRX', owed: 0.000001, unexplained: 0, differing: 0 },
        { cuy: 2, symbol: 'USDT', owed: 3.000004 },
      ],
      newest_event: 3,
      differences: [],
      alarms: [
        {
          kind: 'reconciliation-surplus',
          subject: { cuy: 1, address: firstAddress },
          since: '1970-01-01T00:00:00.000Z',
        },
        {
          kind: 'scan-stalled',
          subject: {},
          urgency: 'now',
          raised: expect.stringMatching(/three minutes/),
          remedy: expect.any(String),
        },
      ],
      transfers: { seen: 0, held: 0, held_for: [] },
      database: { bytes: expect.any(Number), limit: 10_000_000_000, full_on: null },
      scan: { status: 'ok', msg: null, finalized_at: expect.stringMatching(/^2026-/) },
    })
    expect(data.currencies[1]?.days.at(-1)).toMatchObject({
      deposits: 2,
      sum: 3.000004,
      entries: [{ type: 1, count: 2 }],
    })
    expect(requestsOf(service)).toBe(before)
  })
})

test('GET /ledger/summary has the size of the database, and the day on which it is full', async () => {
  await service.db
    .prepare('INSERT INTO size VALUES (?, 0)')
    .bind(Math.floor((service.clock.seconds * 1_000) / 86_400_000) - 1)
    .run()
  const { body } = await read(await service.ledger('/ledger/summary'))
  const { database } = (body as { data: { database: { bytes: number; full_on: string } } }).data
  expect(database.bytes).toBeGreaterThan(4096)
  const days = Math.floor((10_000_000_000 - database.bytes) / database.bytes)
  expect(database.full_on).toBe(new Date(service.clock.seconds * 1_000 + days * 86_400_000).toISOString().slice(0, 10))
})

test('GET /ledger/summary has what addresses hold once they were compared, and each endpoint with its delay', async () => {
  const hooked = await startService(oneEndpoint)
  payFinal(hooked, usdtTo(await addressIn(await hooked.get('/tron/generate')), 5n))
  await hooked.tick()
  await hooked.db.batch([
    hooked.db.prepare(
      `UPDATE stored_holding SET balance = '7000001', read_from = 1, read_to = 1, differing = 3, difference = '-2' WHERE cuy = 2`,
    ),
    hooked.db.prepare(
      `INSERT INTO alarm SELECT 'reconciliation-shortfall', json_object('address', address, 'cuy', cuy), 5000, 5000 FROM holding WHERE cuy = 2`,
    ),
  ])
  const { body } = await read(await hooked.ledger('/ledger/summary'))
  expect(body).toMatchObject({
    data: {
      currencies: [{}, { held: 7.000001, held_at: expect.stringMatching(/^2026-/), compared: 1 }],
      differences: [{ cuy: 2, address: firstAddress, amt: -0.000002, since: '1970-01-01T00:00:05.000Z' }],
      endpoints: [{ number: 1, behind_seconds: expect.any(Number), failing_since: null, last_failure: null }],
    },
  })
})
