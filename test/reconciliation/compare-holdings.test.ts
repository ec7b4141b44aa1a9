import { describe, expect, it } from 'vitest'
import { reservedUid } from '../../src/worker/common/ids.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { meterDatabase } from '../../src/worker/d1/sessions.ts'
import { createUsage } from '../../src/worker/platform/usage.ts'
import { withoutTriggers } from '../d1/fixtures.ts'
import {
  addressAt,
  alarm,
  dayMs,
  oneTrx,
  paid,
  sent,
  shortfall,
  shown,
  startReconciliation,
  surplus,
} from './harness.ts'

describe('an address', () => {
  it('is compared in each currency once a day, also where it never had a transfer', async () => {
    const service = await startReconciliation({ addresses: 3 })
    await service.minutes(10)
    const all = [0, 1, 2].map(addressAt)
    expect(service.queries).toEqual([
      { cuy: 1, addresses: all },
      { cuy: 2, addresses: all },
    ])
    service.state.now += dayMs - 20 * 60_000
    await service.minutes(5)
    expect(service.queries).toHaveLength(2)
    await service.wait(20)
    expect(service.queries).toHaveLength(4)
    expect(service.raised).toEqual([])
  })

  it('is compared within minutes where something of it was stored, and only in that currency', async () => {
    const service = await startReconciliation({ addresses: 3 })
    await service.minutes(10)
    service.queries.splice(0)
    service.setBalance(2, 1, 40n)
    await service.minutes(10, [paid(2, 1, 40n)])
    expect(service.queries).toEqual([{ cuy: 2, addresses: [addressAt(1)] }])
    expect(service.raised).toEqual([])
  })

  it('takes one request for 20 addresses, and each is compared once however many there are', async () => {
    const service = await startReconciliation({ addresses: 70 })
    await service.minutes(12)
    const asked = service.queries.filter(({ cuy }) => cuy === 1).map(({ addresses }) => addresses)
    expect(asked.map(({ length }) => length)).toEqual([20, 20, 20, 10])
    expect(new Set(asked.flat()).size).toBe(70)
  })
})

describe('addresses that are due', () => {
  it('are compared oldest due first: none waits for ever while others move, or are new', async () => {
    const service = await startReconciliation({ addresses: 60 })
    await service.slice()
    for (let minute = 0; minute < 40; minute += 1) {
      service.state.now += 60_000
      await service.store(Array.from({ length: 20 }, (_, index) => paid(1, index, oneTrx)))
      await service.slice() // a minute's allowance is one request, which compares one currency
    }
    const asked = new Set(service.queries.filter(({ cuy }) => cuy === 1).flatMap(({ addresses }) => addresses))
    const resting = Array.from({ length: 40 }, (_, i) => addressAt(20 + i))
    expect(resting.filter((address) => !asked.has(address))).toEqual([])
  })
})

describe('a surplus', () => {
  it('is reported once, exactly, after three readings, and ends when it is gone', async () => {
    const service = await startReconciliation({ addresses: 2 })
    service.setBalance(1, 1, 12n * oneTrx)
    await service.minutes(9, [paid(1, 1, 5n * oneTrx)])
    expect(service.raised).toEqual([])
    await service.wait(15)
    expect(service.raised).toEqual([alarm(surplus, 1, 1, 7n * oneTrx)])
    for (let day = 0; day < 2; day += 1) {
      service.state.now += dayMs
      await service.wait(15)
    }
    expect(service.raised).toHaveLength(1)
    expect(await service.raisedRows()).toEqual([`${surplus} ${JSON.stringify({ address: addressAt(1), cuy: 1 })}`])
    await service.minutes(1, [paid(1, 1, 7n * oneTrx)]) // a rescan finds the deposit
    await service.wait(20)
    expect(await service.raisedRows()).toEqual([])
    expect(service.raised).toHaveLength(1)
    expect(service.infos).toContainEqual(['reconciliation-resolved', { address: shown(1), cuy: 1, amount: '0' }])
  })

  it('is reported once where the object is killed before the judgement is stored', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(2, 0, 7n)
    let kills = 0
    const killing: typeof service.alarms = {
      ...service.alarms,
      raise: async (...fault) => {
        await service.alarms.raise(...fault)
        kills += 1
        throw new Error('killed')
      },
    }
    for (let minute = 0; minute < 25; minute += 1) {
      service.state.now += 60_000
      await service.store()
      await service.tick({ alarms: killing }).catch(() => undefined)
      await service.tick({ alarms: killing }).catch(() => undefined)
    }
    expect(kills).toBeGreaterThan(1)
    await service.minutes(5)
    expect(service.raised).toEqual([alarm(surplus, 2, 0, 7n)])
  })
})

describe('an address that is collected every ten minutes', () => {
  it('has its surplus reported within an hour, once and exactly, whatever its fees', async () => {
    const service = await startReconciliation({ addresses: 1 })
    /**
     * Pays 10 TRX in and sends them out again, minus the fee, which is burnt. The balance is the
     * same afterwards.
     */
    const collect = (fee: bigint) => service.minutes(10, [paid(1, 0, 10n * oneTrx), sent(1, 0, 10n * oneTrx - fee)])
    for (const fee of [1_100_000n, 345_000n]) await collect(fee)
    expect(service.raised).toEqual([])
    service.setBalance(1, 0, 7n * oneTrx)
    await service.minutes(7, [paid(1, 0, oneTrx)])
    for (const fee of [268_000n, 1_100_000n, 345_000n, 268_000n, 345_000n]) await collect(fee)
    expect(service.raised).toEqual([alarm(surplus, 1, 0, 6n * oneTrx)])
    await collect(268_000n)
    expect(service.raised).toHaveLength(1)
    expect((await service.holdings())[0]).toMatchObject({
      accepted: '-4039000',
      accepted_sent: 8,
      difference: '6000000',
      differing: 3,
    })
  })
})

describe('collecting', () => {
  it('is not reported: its fee is accepted at once, and later differences are measured from there', async () => {
    const service = await startReconciliation({ addresses: 1 })
    await service.minutes(1, [paid(1, 0, 100n * oneTrx)])
    service.setBalance(1, 0, oneTrx) // 98 TRX were sent and 1 TRX was burnt
    await service.minutes(1, [sent(1, 0, 98n * oneTrx)])
    await service.wait(20)
    expect(service.raised).toEqual([])
    expect((await service.holdings())[0]).toMatchObject({ accepted: '-1000000', accepted_sent: 1, differing: 0 })
    service.setBalance(1, 0, oneTrx - 1n)
    service.state.now += dayMs
    await service.wait(25)
    expect(service.raised).toEqual([alarm(shortfall, 1, 0, 1n)])
  })

  it('of tokens is not reported, nor is the TRX that it burnt', async () => {
    const service = await startReconciliation({ addresses: 1 })
    await service.minutes(1, [paid(2, 0, 70n), paid(1, 0, 30n * oneTrx)])
    service.setBalance(1, 0, 3n * oneTrx)
    await service.minutes(1, [sent(2, 0, 70n)])
    await service.wait(20)
    expect(service.raised).toEqual([])
  })
})

describe('a transfer under way', () => {
  it('is not reported: a deposit that is in the balance before it is scanned', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(1, 0, 5n * oneTrx)
    await service.minutes(2)
    await service.minutes(1, [paid(1, 0, 5n * oneTrx)])
    await service.wait(15)
    expect(service.raised).toEqual([])
    expect(await service.holdings()).toMatchObject([{ differing: 0, balance: '5000000' }, { cuy: 2 }])
  })

  it('never makes a reported amount inexact: a surplus of 6 TRX beside a deposit is 6 TRX', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(1, 0, 6n * oneTrx)
    await service.minutes(2)
    service.setBalance(1, 0, 36n * oneTrx) // paid in, but not scanned yet
    await service.minutes(3)
    await service.minutes(1, [paid(1, 0, 30n * oneTrx)])
    await service.wait(25)
    expect(service.raised).toEqual([alarm(surplus, 1, 0, 6n * oneTrx)])
    service.setBalance(1, 0, 0n) // sent out, with a fee of 1.1 TRX
    await service.minutes(1, [sent(1, 0, 36n * oneTrx - 1_100_000n)])
    await service.wait(25)
    expect(service.raised).toHaveLength(1)
    expect((await service.holdings())[0]).toMatchObject({
      accepted: '-1100000',
      accepted_sent: 1,
      difference: '6000000',
      differing: 3,
    })
  })

  it.each([3, 4])('is not reported where each reading lacks a deposit: one every %d minutes', async (period) => {
    const service = await startReconciliation({ addresses: 1 })
    for (let i = 1; i <= 10; i += 1) {
      service.setBalance(1, 0, BigInt(i) * oneTrx)
      await service.minutes(1, [paid(1, 0, oneTrx)])
      await service.minutes(period - 1)
    }
    expect(service.raised).toEqual([])
  })

  it('is not reported on an address with a deposit every minute, which is compared once it rests', async () => {
    const service = await startReconciliation({ addresses: 1 })
    for (let i = 1; i <= 30; i += 1) {
      service.setBalance(1, 0, BigInt(i + 1) * oneTrx) // one deposit more than the scan has stored
      await service.minutes(1, [paid(1, 0, oneTrx)])
    }
    expect(service.raised).toEqual([])
    service.setBalance(1, 0, 29n * oneTrx)
    await service.wait(25)
    expect(service.raised).toEqual([alarm(shortfall, 1, 0, oneTrx)])
  })

  it('is not reported: a payment that was seen in a block which could not be read', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(1, 0, 5n)
    await service.db
      .prepare(
        `INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw, native, state,
          reason, amount, seconds, created_at, changed_at)
        VALUES (unhex(?1), 0, 110, 1, 1, unhex(?2), unhex(?3), '5', 1, 'seen', NULL, 0, 57, 1, 1)`,
      )
      .bind('e'.repeat(64), 'f'.repeat(40), addressAt(0))
      .run()
    await service.wait(40)
    expect(service.raised).toEqual([])
    await service.db.prepare(`UPDATE stored_transfer SET state = 'dropped', version = version + 1`).run()
    service.state.now += dayMs
    await service.wait(25)
    expect(service.raised).toEqual([alarm(surplus, 1, 0, 5n)])
  })
})

describe('where it cannot be compared', () => {
  it('because balances cannot be read, the other currency goes on, and it is tried again', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(1, 0, 5n)
    service.failures.set(1, { kind: 'limited', whose: 'nodes', seconds: 60 })
    await service.minutes(8)
    expect(await service.holdings()).toMatchObject([
      { cuy: 1, balance: null },
      { cuy: 2, balance: '0' },
    ])
    expect(service.infos).toContainEqual(['comparison-delayed', { cuy: 1, why: 'limited' }])
    service.failures.clear()
    await service.wait(25)
    expect(service.raised).toEqual([alarm(surplus, 1, 0, 5n)])
  })

  it('because finality stalls, or the scan is halted or far behind, nothing is read', async () => {
    const service = await startReconciliation({ addresses: 1 })
    const { now, height } = service.state
    await service.tick({}, { finalizedAt: (now - 180_001) as never })
    await service.tick({}, { halted: 'block 141 does not follow' })
    await service.tick({}, { finalized: (height + 61) as never })
    expect(service.queries).toEqual([])
    await service.tick()
    expect(service.queries).toHaveLength(1)
  })
})

it('reads as many rows with 100,000 holdings that are due as with 1,000', async () => {
  const rowsOf = async (count: number) => {
    const service = await startReconciliation({ addresses: 0 })
    const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`
    await withoutTriggers(writable(service.db), [
      `${numbers} INSERT INTO stored_address SELECT i, 1, unhex(printf('%040x', i)), 0, 0, NULL, 0 FROM n`,
      `${numbers} INSERT INTO stored_holding (cuy, address_id, due_at) SELECT 1, i, 1 FROM n`,
      'INSERT INTO compared VALUES (1, 1, 1000000), (2, 1, 1000000)',
    ])
    const usage = createUsage()
    await service.slice({ db: meterDatabase(writable(service.db), usage, service.parts.clock) })
    expect(service.queries[0]?.addresses).toHaveLength(20)
    return usage.rowsRead
  }
  const [few, many] = [await rowsOf(1_000), await rowsOf(100_000)]
  expect(many).toBe(few)
  expect(many).toBeLessThan(400)
})

it('stores no judgement of a holding that has changed meanwhile', async () => {
  const service = await startReconciliation({ addresses: 1 })
  service.setBalance(2, 0, 7n)
  await service.minutes(1)
  await service.minutes(3)
  const alarms = { raise: async () => undefined, clear: async () => true }
  const chain: typeof service.parts.chain = {
    async balances(addresses, asset) {
      await service.store([paid(2, 0, 7n)])
      return await service.parts.chain.balances(addresses, asset)
    },
  }
  service.state.now += dayMs
  await service.store()
  await service.tick({ chain, alarms })
  await service.wait(25)
  expect(service.raised).toEqual([])
  expect((await service.holdings()).find(({ cuy }) => cuy === 2)).toMatchObject({ differing: 0, balance: '7' })
})

it('compares addresses that were reserved below the first one, after all others were', async () => {
  const service = await startReconciliation({ addresses: 0 })
  const columns = 'id, uid, address, issued_height, created_at'
  const issueAt = (index: number, uid: number) =>
    service.db
      .prepare(`INSERT INTO stored_address (${columns}) VALUES (?1 + 1, ?2, unhex(?3), ?4, 0)`)
      .bind(index, uid, addressAt(index), service.state.height)
      .run()
  await issueAt(2, 1)
  await service.minutes(10)
  expect(await service.holdings()).toHaveLength(2)
  for (const index of [1, 0]) await issueAt(index, reservedUid)
  await service.minutes(10)
  expect((await service.holdings()).map(({ address }) => address)).toEqual([...[0, 1, 2], ...[0, 1, 2]].map(addressAt))
})
