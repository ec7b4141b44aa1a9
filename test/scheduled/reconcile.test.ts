import { describe, expect, it } from 'vitest'
import { createReconciliationStore } from '../../src/d1/reconciliation-store.ts'
import { addressAt, cuy } from '../d1/entries.ts'
import { addressIn, startService } from '../http/service.ts'
import { usdt } from '../support/chain-builder.ts'
import { alarm, dayMs, oneTrx, openBooks, surplus } from './reconciliation-harness.ts'

describe('a run', () => {
  it('records for each currency what the books and the addresses hold, and says so once', async () => {
    const books = await openBooks({ addresses: 3 })
    books.hold(1, 0, 5n * oneTrx)
    books.hold(1, 2, 7n * oneTrx)
    books.hold(2, 1, 9n)
    await books.scan({ deposits: [books.paid(1, 0, 5n * oneTrx), books.paid(1, 2, 7n * oneTrx), books.paid(2, 1, 9n)] })
    await books.minutes(5)
    expect(await books.runs()).toMatchObject([
      { cuy: 1, addresses: 3, recorded: '12000000', held: '12000000', differing: 0, cursor: 2, through: 2 },
      { cuy: 2, addresses: 3, recorded: '9', held: '9', differing: 0, cursor: 2, through: 2 },
    ])
    expect(books.infos).toHaveLength(2)
    expect(books.infos).toEqual(
      expect.arrayContaining([
        ['reconciled', { cuy: 1, addresses: 3, recorded: '12000000', held: '12000000', differing: 0, seconds: 0 }],
        ['reconciled', { cuy: 2, addresses: 3, recorded: '9', held: '9', differing: 0, seconds: 0 }],
      ]),
    )
    expect(books.alarms).toEqual([])
    expect(await books.differences()).toEqual([])
    expect(books.asked).toHaveLength(2)
  })

  it('starts a day after the last one started, and not without addresses', async () => {
    const empty = await openBooks({ addresses: 0 })
    await empty.minutes(2)
    expect(await empty.runs()).toEqual([])
    const books = await openBooks({ addresses: 1 })
    await books.tick()
    expect(await books.runs()).toHaveLength(2)
    books.time.now += dayMs - 120_000
    await books.minutes(1)
    expect(await books.runs()).toHaveLength(2)
    await books.minutes(1)
    expect(await books.runs()).toHaveLength(4)
    expect(books.asked).toHaveLength(4)
  })

  it('goes on slice by slice over ticks and days, and compares each address once', async () => {
    const books = await openBooks({ addresses: 45 })
    for (let index = 0; index < 45; index += 1) books.hold(1, index, 1n)
    await books.scan({ deposits: Array.from({ length: 45 }, (_, index) => books.paid(1, index, 1n)) })
    await books.tick()
    expect(await books.runs()).toMatchObject([{ addresses: 20, cursor: 19, finished_at: null }, { addresses: 20 }])
    books.time.now += 2 * dayMs
    await books.minutes(1)
    expect(await books.runs()).toMatchObject([{ addresses: 40, cursor: 39, finished_at: null }, { addresses: 40 }])
    books.time.now += 2 * dayMs
    await books.minutes(1)
    const [run] = await books.runs()
    expect(run).toMatchObject({ addresses: 45, recorded: '45', held: '45', differing: 0, finished_at: books.time.now })
    expect(books.asked.filter((one) => one.cuy === 1).map(({ count }) => count)).toEqual([20, 20, 5])
    await books.minutes(1) // more than a day after its start: the next one begins
    expect((await books.runs()).filter((one) => one.cuy === 1)).toHaveLength(2)
  })

  it('is not prolonged by addresses that are issued meanwhile', async () => {
    const books = await openBooks({ addresses: 25 })
    await books.tick()
    await books.db
      .prepare('INSERT INTO address (idx, uid, hex, created_at) VALUES (25, 1, ?1, 0)')
      .bind(addressAt(25))
      .run()
    await books.minutes(2)
    expect(await books.runs()).toMatchObject([
      { addresses: 25, through: 24, finished_at: expect.any(Number) },
      { addresses: 25, through: 24, finished_at: expect.any(Number) },
    ])
  })

  it('counts nothing twice when two ticks overlap', async () => {
    const books = await openBooks({ addresses: 30 })
    books.hold(2, 4, 3n)
    await Promise.all([books.tick(), books.tick()])
    expect((await books.runs()).map(({ cuy, addresses }) => [cuy, addresses])).toEqual([
      [1, 20],
      [2, 20],
    ])
    for (let i = 0; i < 20; i += 1) {
      books.time.now += 60_000
      await books.scan()
      await Promise.all([books.tick(), books.tick(), books.tick()])
    }
    expect(await books.runs()).toMatchObject([
      { addresses: 30, held: '0', differing: 0 },
      { addresses: 30, held: '3', differing: 1 },
    ])
    expect(books.alarms).toEqual([alarm(surplus, 2, 4, 3n)])
  })

  it('tries a currency again that no node shows, and goes on with the others', async () => {
    const books = await openBooks({ addresses: 1 })
    books.hold(1, 0, 5n)
    books.trouble.set(1, { kind: 'no-answer', why: 'node 1: silent' })
    await books.minutes(3)
    expect(await books.runs()).toMatchObject([
      { addresses: 0, cuy: 1, turns: 0, finished_at: null },
      { addresses: 1, cuy: 2 },
    ])
    expect(books.infos).toContainEqual(['reconciliation-delayed', { cuy: 1, why: 'no-answer' }])
    books.trouble.clear()
    await books.minutes(20)
    expect(await books.runs()).toMatchObject([{ addresses: 1, held: '5', differing: 1 }, { cuy: 2 }])
    expect(books.alarms).toEqual([alarm(surplus, 1, 0, 5n)])
  })

  it('asks no further currency once the invocation’s requests are used up', async () => {
    const books = await openBooks({ addresses: 1 })
    books.trouble.set(1, { kind: 'out-of-budget' })
    books.trouble.set(2, { kind: 'out-of-budget' })
    await books.tick()
    expect(books.asked).toHaveLength(1)
  })

  it('does nothing while finality stands still or the scan is halted', async () => {
    const books = await openBooks({ addresses: 1 })
    await books.scan()
    books.time.now += 200_000
    await books.tick()
    await books.scan()
    await books.writer.halt('a', 'block 141 does not follow')
    await books.tick()
    expect(books.asked).toEqual([])
    await books.minutes(1)
    expect(books.asked).toHaveLength(2)
  })
})

it('runs in the tick of the whole service, after a scan that ended caught up', async () => {
  const service = await startService()
  const address = await addressIn(await service.get('/tron/generate'))
  for (const node of service.nodes) {
    node.balances.set(address, 9n)
    node.balances.set(`${usdt} ${address}`, 4n)
  }
  for (let i = 0; i < 20; i += 1) {
    service.chain.addEmpty(20)
    service.clock.seconds += 60
    await service.tick()
  }
  const alarms = service.lines.map((line) => JSON.parse(line)).filter((line) => line.alarm !== undefined)
  expect(alarms.sort((a, b) => a.cuy - b.cuy)).toMatchObject([
    { alarm: surplus, cuy: 1, amount: '9' },
    { alarm: surplus, cuy: 2, amount: '4' },
  ])
  expect(await createReconciliationStore(service.db).unreported(cuy(1))).toEqual([])
})
