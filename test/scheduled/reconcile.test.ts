import { describe, expect, it } from 'vitest'
import { createReconciliationStore } from '../../src/d1/reconciliation-store.ts'
import { addressAt, cuy, height, ms } from '../d1/fixtures.ts'
import { addressIn, startService } from '../http/service.ts'
import { usdtAddress } from '../support/transaction-spec.ts'
import { alarm, dayMs, oneTrx, startReconciliation, surplus } from './reconciliation-harness.ts'

describe('a run', () => {
  it('stores and logs the recorded sum and the sum of balances of each currency', async () => {
    const service = await startReconciliation({ addresses: 3 })
    service.setBalance(1, 0, 5n * oneTrx)
    service.setBalance(1, 2, 7n * oneTrx)
    service.setBalance(2, 1, 9n)
    await service.scan({
      deposits: [
        service.deposited(1, 0, 5n * oneTrx),
        service.deposited(1, 2, 7n * oneTrx),
        service.deposited(2, 1, 9n),
      ],
    })
    await service.minutes(5)
    expect(await service.runs()).toMatchObject([
      { cuy: 1, addresses: 3, recorded: '12000000', on_chain: '12000000', differing: 0, cursor: 2, last_index: 2 },
      { cuy: 2, addresses: 3, recorded: '9', on_chain: '9', differing: 0, cursor: 2, last_index: 2 },
    ])
    expect(service.infos).toHaveLength(2)
    expect(service.infos).toEqual(
      expect.arrayContaining([
        ['reconciled', { cuy: 1, addresses: 3, recorded: '12000000', onChain: '12000000', differing: 0, seconds: 0 }],
        ['reconciled', { cuy: 2, addresses: 3, recorded: '9', onChain: '9', differing: 0, seconds: 0 }],
      ]),
    )
    expect(service.alarms).toEqual([])
    expect(await service.openDifferences()).toEqual([])
    expect(service.queries).toHaveLength(2)
  })

  it('starts a day after the start of the last one, and only where there are addresses', async () => {
    const empty = await startReconciliation({ addresses: 0 })
    await empty.minutes(2)
    expect(await empty.runs()).toEqual([])
    const service = await startReconciliation({ addresses: 1 })
    await service.tick()
    expect(await service.runs()).toHaveLength(2)
    service.time.now += dayMs - 120_000
    await service.minutes(1)
    expect(await service.runs()).toHaveLength(2)
    await service.minutes(1)
    expect(await service.runs()).toHaveLength(4)
    expect(service.queries).toHaveLength(4)
  })

  it('continues slice by slice over ticks and days and compares each address once', async () => {
    const service = await startReconciliation({ addresses: 250 })
    for (let index = 0; index < 250; index += 1) service.setBalance(2, index, 1n)
    await service.tick()
    expect(await service.runs()).toMatchObject([
      { addresses: 100, cursor: 99, finished_at: null },
      { addresses: 100, cursor: 99, finished_at: null, on_chain: '100' },
    ])
    service.time.now += 2 * dayMs
    await service.minutes(1)
    expect(await service.runs()).toMatchObject([{ addresses: 200, cursor: 199, finished_at: null }, { addresses: 200 }])
    service.time.now += 2 * dayMs
    await service.minutes(1)
    const [run, other] = await service.runs()
    expect(run).toMatchObject({ addresses: 250, differing: 0, finished_at: service.time.now })
    expect(other).toMatchObject({ addresses: 250, on_chain: '250', differing: 250, finished_at: service.time.now })
    const counts = service.queries.filter((one) => one.cuy === 1).map(({ count }) => count)
    expect(counts).toEqual([...new Array(12).fill(20), 10])
    await service.minutes(1) // more than a day after its start: the next run starts
    expect((await service.runs()).filter((one) => one.cuy === 1)).toHaveLength(2)
  })

  it('ends with the addresses that existed at its start', async () => {
    const service = await startReconciliation({ addresses: 120 })
    await service.tick()
    await service.db
      .prepare(
        'INSERT INTO address (derivation_index, uid, address, issued_height, created_at) VALUES (120, 1, ?1, 9000000000, 0)',
      )
      .bind(addressAt(120))
      .run()
    await service.minutes(2)
    expect(await service.runs()).toMatchObject([
      { addresses: 120, last_index: 119, finished_at: expect.any(Number) },
      { addresses: 120, last_index: 119, finished_at: expect.any(Number) },
    ])
  })

  it('counts nothing twice when ticks overlap', async () => {
    const service = await startReconciliation({ addresses: 30 })
    service.setBalance(2, 4, 3n)
    await Promise.all([service.tick(), service.tick()])
    expect((await service.runs()).map(({ cuy, addresses }) => [cuy, addresses])).toEqual([
      [1, 30],
      [2, 30],
    ])
    expect(service.queries.map(({ count }) => count)).toEqual([20, 20, 10, 10])
    for (let i = 0; i < 20; i += 1) {
      service.time.now += 60_000
      await service.scan()
      await Promise.all([service.tick(), service.tick(), service.tick()])
    }
    expect(await service.runs()).toMatchObject([
      { addresses: 30, on_chain: '0', differing: 0 },
      { addresses: 30, on_chain: '3', differing: 1 },
    ])
    expect(service.alarms).toEqual([alarm(surplus, 2, 4, 3n)])
  })

  it('tries a currency again whose balances cannot be read, and continues with the others', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(1, 0, 5n)
    service.failures.set(1, { kind: 'no-answer', why: 'node 1: silent' })
    await service.minutes(3)
    expect(await service.runs()).toMatchObject([
      { addresses: 0, cuy: 1, finished_at: null },
      { addresses: 1, cuy: 2 },
    ])
    expect(service.infos).toContainEqual(['reconciliation-delayed', { cuy: 1, why: 'no-answer' }])
    service.failures.clear()
    await service.minutes(20)
    expect(await service.runs()).toMatchObject([{ addresses: 1, on_chain: '5', differing: 1 }, { cuy: 2 }])
    expect(service.alarms).toEqual([alarm(surplus, 1, 0, 5n)])
  })

  it('reads no further currency once the requests of the invocation are used up', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.failures.set(1, { kind: 'out-of-budget' })
    service.failures.set(2, { kind: 'out-of-budget' })
    await service.tick()
    expect(service.queries).toHaveLength(1)
  })

  it('does nothing while finality is stalled, or the scan is halted or far behind', async () => {
    const service = await startReconciliation({ addresses: 1 })
    await service.scan()
    service.time.now += 200_000
    await service.tick()
    await service.scan()
    await service.stores.scanStore.halt('a', 'block 141 does not follow')
    await service.tick()
    await service.scan()
    await service.stores.scanStore.recordFinalized(height(241), ms(service.time.now))
    await service.tick()
    expect(service.queries).toEqual([])
    await service.scan()
    await service.tick()
    expect(service.queries).toHaveLength(2)
  })
})

it('runs in the tick of the whole service', async () => {
  const service = await startService()
  const address = await addressIn(await service.get('/tron/generate'))
  for (const node of service.nodes) {
    node.balances.set(address, 9n)
    node.balances.set(`${usdtAddress} ${address}`, 4n)
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
