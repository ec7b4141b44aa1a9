import { describe, expect, it } from 'vitest'
import { readingsNeeded } from '../../src/reconciliation/judge-reading.ts'
import { addressAt, block, deposit, ms, pending, txid } from '../d1/fixtures.ts'
import { alarm, dayMs, oneTrx, shortfall, shown, startReconciliation, surplus } from './reconciliation-harness.ts'

describe('a surplus', () => {
  it('of TRX that a contract sent is reported once, with its address, after three readings', async () => {
    const service = await startReconciliation({ addresses: 2 })
    service.setBalance(1, 1, 12n * oneTrx)
    await service.scan({ deposits: [service.deposited(1, 1, 5n * oneTrx)] })
    await service.tick()
    expect(await service.openDifferences()).toMatchObject([{ address: addressAt(1), readings: 0, balance: '12000000' }])
    for (let readings = 1; readings < readingsNeeded; readings += 1) {
      await service.minutes(4)
      expect(await service.openDifferences()).toMatchObject([{ readings, amount: '7000000' }])
    }
    expect(service.alarms).toEqual([])
    await service.minutes(4)
    expect(service.alarms).toEqual([alarm(surplus, 1, 1, 7n * oneTrx)])
    expect(await service.openDifferences()).toEqual([])
    await service.day()
    await service.day()
    expect(service.alarms).toHaveLength(1)
    expect((await service.runs()).filter(({ cuy }) => cuy === 1)).toMatchObject([
      { differing: 1 },
      { differing: 1 },
      { differing: 1 },
    ])
  })

  it('that grows is read again and reported with its new amount', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(1, 0, 7n)
    await service.minutes(20)
    service.setBalance(1, 0, 10n)
    await service.day()
    await service.day()
    expect(service.alarms).toEqual([alarm(surplus, 1, 0, 7n), alarm(surplus, 1, 0, 10n)])
  })

  it('is confirmed with the smallest amount of its readings', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(2, 0, 9n)
    await service.minutes(2)
    service.setBalance(2, 0, 4n)
    await service.minutes(4)
    service.setBalance(2, 0, 6n)
    await service.minutes(6)
    expect(service.alarms).toEqual([alarm(surplus, 2, 0, 4n)])
  })

  it('that is gone at the next reading is not reported', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(1, 0, 7n)
    await service.minutes(2)
    service.setBalance(1, 0, 0n)
    await service.minutes(20)
    expect(service.alarms).toEqual([])
    expect(await service.openDifferences()).toEqual([])
  })

  it('that is credited later is reported as resolved, without an alarm', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(1, 0, 7n)
    await service.minutes(20)
    await service.stores.deposits.credit([deposit({ txid: txid(999), block: block(3), raw: 7n })], ms(service.time.now))
    await service.day()
    expect(service.alarms).toEqual([alarm(surplus, 1, 0, 7n)])
    expect(service.infos).toContainEqual(['reconciliation-resolved', { address: shown(0), cuy: 1, amount: '0' }])
    expect(await service.acceptedDifferences()).toMatchObject([{ confirmed: '0', reported: 1 }])
  })

  it('is reported by the next tick when a tick is killed before its report', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(1, 0, 7n)
    const killed = new Error('killed')
    const fail = () => {
      throw killed
    }
    const logger = { ...service.parts.logger, alarm: fail }
    let kills = 0
    for (let i = 0; i < 20; i += 1) {
      service.time.now += 60_000
      await service.scan()
      await service.tick({ logger }).catch((cause: unknown) => {
        expect(cause).toBe(killed)
        kills += 1
      })
    }
    expect(kills).toBeGreaterThan(0)
    expect(service.alarms).toEqual([])
    await service.minutes(3)
    expect(service.alarms).toEqual([alarm(surplus, 1, 0, 7n)])
  })

  it('on very many addresses does not stop the run', async () => {
    const service = await startReconciliation({ addresses: 60 })
    for (let index = 0; index < 60; index += 1) service.setBalance(2, index, 1n)
    await service.minutes(8)
    expect(await service.runs()).toMatchObject([{ addresses: 60 }, { addresses: 60, on_chain: '60', differing: 60 }])
    await service.minutes(40)
    const reported = service.alarms.map(([, fields]) => fields.address)
    expect(reported).toHaveLength(60)
    expect(new Set(reported).size).toBe(60)
    expect(Math.max(...service.queries.map(({ count }) => count))).toBeLessThanOrEqual(20)
  })
})

describe('a transfer under way', () => {
  it('is not reported: a deposit that is not final yet', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(1, 0, 5n * oneTrx)
    await service.tick()
    expect(await service.openDifferences()).toHaveLength(1)
    await service.scan({ deposits: [service.deposited(1, 0, 5n * oneTrx)] })
    const before = service.queries.length
    await service.minutes(4)
    expect(await service.openDifferences()).toEqual([])
    // Judged without another reading: this is the comparison after the deposit.
    expect(service.queries.slice(before)).toEqual([{ cuy: 1, count: 1 }])
    expect(service.alarms).toEqual([])
  })

  it('is not reported on an address with a deposit every minute', async () => {
    const service = await startReconciliation({ addresses: 1 })
    for (let i = 1; i <= 30; i += 1) {
      service.setBalance(1, 0, BigInt(i + 1) * oneTrx) // always one deposit ahead of the scan
      service.time.now += 60_000
      await service.scan({ deposits: [service.deposited(1, 0, oneTrx)] })
      await service.tick()
      if (i % 10 === 0) service.time.now += dayMs
    }
    expect(service.alarms).toEqual([])
  })

  it('is not reported: an outgoing transfer that is not final yet', async () => {
    const service = await startReconciliation({ addresses: 1 })
    await service.scan({ deposits: [service.deposited(2, 0, 50n)] })
    service.setBalance(2, 0, 0n)
    await service.minutes(2)
    await service.scan({ movements: service.sent(2, 0, 50n) })
    await service.minutes(20)
    expect(service.alarms).toEqual([])
    expect(await service.openDifferences()).toEqual([])
  })

  it('is not reported: a pending deposit, whether it is found worthless later or not', async () => {
    const service = await startReconciliation({ addresses: 2 })
    const one = { ...pending({ block: block(101), raw: 5n }), txid: txid(500) }
    const fake = { ...pending({ block: block(101), raw: 8n, to: addressAt(1) }), txid: txid(501) }
    await service.scan({ candidates: [one, fake] })
    service.setBalance(1, 0, 5n)
    await service.minutes(20)
    expect(service.alarms).toEqual([])
    await service.stores.pending.remove([fake])
    await service.day()
    expect(service.alarms).toEqual([])
    await service.stores.pending.remove([one]) // by mistake: this one is money
    await service.day()
    expect(service.alarms).toEqual([alarm(surplus, 1, 0, 5n)])
  })
})

describe('collecting funds', () => {
  it('is not reported: its fee is accepted, and later differences are measured from there', async () => {
    const service = await startReconciliation({ addresses: 1 })
    await service.scan({ deposits: [service.deposited(1, 0, 100n * oneTrx)] })
    await service.scan({ movements: service.sent(1, 0, 98n * oneTrx) })
    service.setBalance(1, 0, oneTrx) // 1 TRX was burnt
    await service.minutes(20)
    expect(service.alarms).toEqual([])
    expect(await service.acceptedDifferences()).toMatchObject([{ fees: '-1000000', outgoing_count: 1, confirmed: '0' }])
    expect(service.queries.filter((one) => one.cuy === 1)).toHaveLength(1) // a fee needs no further reading
    await service.day()
    expect(service.alarms).toEqual([])
    service.setBalance(1, 0, oneTrx - 1n)
    await service.day()
    expect(service.alarms).toEqual([alarm(shortfall, 1, 0, 1n)])
  })

  it('of tokens is not reported, nor is the TRX that it burnt', async () => {
    const service = await startReconciliation({ addresses: 1 })
    await service.scan({ deposits: [service.deposited(2, 0, 70n), service.deposited(1, 0, 30n * oneTrx)] })
    await service.scan({ movements: [...service.sent(2, 0, 70n), ...service.sent(1, 0, 0n)] })
    service.setBalance(1, 0, 3n * oneTrx)
    await service.minutes(20)
    await service.day()
    expect(service.alarms).toEqual([])
    expect(await service.runs()).toMatchObject([
      { cuy: 1, recorded: '30000000', on_chain: '3000000' },
      { cuy: 1, differing: 0 },
      { cuy: 2, recorded: '0', on_chain: '0', differing: 0 },
      { cuy: 2, differing: 0 },
    ])
  })

  it('explains no more than one fee for each transaction', async () => {
    const service = await startReconciliation({ addresses: 2 })
    await service.scan({ deposits: [service.deposited(1, 0, 900n * oneTrx), service.deposited(1, 1, 900n * oneTrx)] })
    await service.scan({
      movements: [...service.sent(1, 0, oneTrx), ...service.sent(1, 1, oneTrx), ...service.sent(1, 1, oneTrx)],
    })
    service.setBalance(1, 0, 899n * oneTrx - 201n * oneTrx)
    service.setBalance(1, 1, 898n * oneTrx - 400n * oneTrx)
    await service.minutes(20)
    expect(service.alarms).toEqual([alarm(shortfall, 1, 0, 201n * oneTrx)])
  })

  it('without a fee leaves no unused fee that could hide a later loss', async () => {
    const service = await startReconciliation({ addresses: 1 })
    await service.scan({ deposits: [service.deposited(1, 0, 500n * oneTrx)] })
    await service.scan({ movements: service.sent(1, 0, 400n * oneTrx) })
    await service.scan()
    await service.scan()
    service.setBalance(1, 0, 100n * oneTrx)
    await service.minutes(1)
    expect(await service.acceptedDifferences()).toMatchObject([{ fees: '0', outgoing_count: 1, confirmed: '0' }])
    service.setBalance(1, 0, 99n * oneTrx)
    await service.day()
    expect(service.alarms).toEqual([alarm(shortfall, 1, 0, oneTrx)])
  })

  it('into another address of the service changes no sum', async () => {
    const service = await startReconciliation({ addresses: 2 })
    await service.scan({ deposits: [service.deposited(2, 0, 70n), service.deposited(1, 0, 30n * oneTrx)] })
    await service.scan({ movements: [...service.sent(2, 0, 70n, 1), ...service.sent(1, 0, 20n * oneTrx, 1)] })
    service.setBalance(2, 1, 70n)
    service.setBalance(1, 0, 9n * oneTrx)
    service.setBalance(1, 1, 20n * oneTrx)
    await service.minutes(20)
    expect(service.alarms).toEqual([])
    expect(await service.runs()).toMatchObject([
      { cuy: 1, recorded: '30000000', on_chain: '29000000' },
      { cuy: 2, recorded: '70', on_chain: '70', differing: 0 },
    ])
  })
})

describe('a shortfall', () => {
  it('without an outgoing transfer is reported, in any currency', async () => {
    const service = await startReconciliation({ addresses: 3 })
    await service.scan({ deposits: [service.deposited(1, 1, 5n * oneTrx), service.deposited(2, 2, 40n)] })
    service.setBalance(1, 1, 4n * oneTrx)
    service.setBalance(2, 2, 15n)
    await service.minutes(20)
    await service.day()
    expect(service.alarms).toHaveLength(2)
    expect(service.alarms).toContainEqual(alarm(shortfall, 1, 1, oneTrx))
    expect(service.alarms).toContainEqual(alarm(shortfall, 2, 2, 25n))
  })

  it('of a token is never explained by fees', async () => {
    const service = await startReconciliation({ addresses: 1 })
    await service.scan({ deposits: [service.deposited(2, 0, 40n)] })
    await service.scan({ movements: service.sent(2, 0, 10n) })
    service.setBalance(2, 0, 29n)
    await service.minutes(20)
    expect(service.alarms).toEqual([alarm(shortfall, 2, 0, 1n)])
  })
})

it('compares amounts of any size to the last digit', async () => {
  const service = await startReconciliation({ addresses: 1 })
  const large = 10n ** 30n + 1n
  const deposits = Array.from({ length: 1500 }, () => service.deposited(2, 0, large))
  await service.scan({ deposits })
  service.setBalance(2, 0, 1500n * large + 1n)
  await service.minutes(20)
  expect(service.alarms).toEqual([alarm(surplus, 2, 0, 1n)])
  expect((await service.runs()).find(({ cuy }) => cuy === 2)).toMatchObject({
    recorded: '1500000000000000000000000000001500',
    on_chain: '1500000000000000000000000000001501',
  })
})

it('never changes the balance of a wallet', async () => {
  const service = await startReconciliation({ addresses: 1 })
  service.setBalance(1, 0, 7n)
  await service.minutes(20)
  expect(service.alarms).toHaveLength(1)
  expect(await service.stores.ledger.balances(deposit().uid)).toEqual([])
})
