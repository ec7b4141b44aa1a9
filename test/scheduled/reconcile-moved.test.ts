import { describe, expect, it } from 'vitest'
import { slicesPerTickMax } from '../../src/reconciliation/judge-reading.ts'
import { addressAt, deposit, ms, txid } from '../d1/fixtures.ts'
import { alarm, oneTrx, shortfall, startReconciliation, surplus } from './reconciliation-harness.ts'

/** Reconciliation whose first run is over: the next one is due in a day. */
async function startAfterRun(addresses: number) {
  const service = await startReconciliation({ addresses })
  const tickMax = Math.ceil((2 * addresses) / 20 / slicesPerTickMax)
  for (let i = 0; i < tickMax; i += 1) await service.tick()
  service.queries.splice(0)
  return service
}

describe('an address whose records changed', () => {
  it('by a deposit that the chain does not have is reported within minutes, and not after a day', async () => {
    const service = await startAfterRun(3)
    await service.scan({ deposits: [service.deposited(2, 1, 40n)] })
    await service.minutes(20)
    expect(service.alarms).toEqual([alarm(shortfall, 2, 1, 40n)])
    expect(await service.movedAddresses()).toEqual([])
  })

  it('by a movement is compared in the currencies that moved', async () => {
    const service = await startAfterRun(3)
    await service.scan({ deposits: [service.deposited(2, 0, 70n)], movements: service.sent(2, 0, 70n, 1) })
    service.setBalance(2, 1, 71n)
    service.setBalance(1, 1, 5n * oneTrx) // no record of it changed: the next run compares it
    await service.minutes(20)
    expect(service.alarms).toEqual([alarm(surplus, 2, 1, 1n)])
    expect(service.queries.every(({ cuy }) => cuy === 2)).toBe(true)
  })

  it('is compared as soon as every balance must include the change, and once', async () => {
    const service = await startAfterRun(1)
    await service.scan({ deposits: [service.deposited(1, 0, 5n)] })
    service.setBalance(1, 0, 5n)
    await service.tick()
    expect(service.queries).toEqual([])
    await service.minutes(1)
    expect(service.queries).toEqual([{ cuy: 1, count: 1 }])
    await service.minutes(10)
    expect(service.queries).toHaveLength(1)
  })

  it('by a deposit that was decided late is compared, too', async () => {
    const service = await startAfterRun(1)
    await service.minutes(5)
    await service.stores.deposits.credit([deposit({ txid: txid(999) })], ms(service.time.now))
    await service.minutes(20)
    expect(service.alarms).toEqual([alarm(shortfall, 1, 0, 5n)])
  })

  it('every minute is compared again and again, its last change included', async () => {
    const service = await startAfterRun(1)
    for (let i = 1; i <= 10; i += 1) {
      await service.scan({ deposits: [service.deposited(2, 0, 3n)] })
      service.setBalance(2, 0, BigInt(3 * i))
      service.time.now += 60_000
      await service.tick()
    }
    expect(service.queries.length).toBeGreaterThanOrEqual(4)
    service.setBalance(2, 0, 27n) // the last deposit is not on the chain
    await service.minutes(20)
    expect(service.alarms).toEqual([alarm(shortfall, 2, 0, 3n)])
    expect(await service.movedAddresses()).toEqual([])
  })

  it('is compared before the rest of the run', async () => {
    const service = await startReconciliation({ addresses: 250 })
    await service.scan({ deposits: [service.deposited(1, 249, 40n)] })
    await service.scan()
    const asked: string[] = []
    const chain: typeof service.parts.chain = {
      async balances(wanted, asset) {
        if (asset.kind === 'native') asked.push(...wanted)
        return service.parts.chain.balances(wanted, asset)
      },
    }
    await service.tick({ chain })
    expect(asked.slice(0, 3)).toEqual([addressAt(249), addressAt(0), addressAt(1)])
    expect(asked).not.toContain(addressAt(248))
    expect((await service.runs())[0]).toMatchObject({ addresses: 99, cursor: 98 })
  })

  it('leaves places to the run, however many others moved', async () => {
    const service = await startReconciliation({ addresses: 250 })
    const deposits = Array.from({ length: 250 }, (_, index) => service.deposited(1, index, 1n))
    for (let index = 0; index < 250; index += 1) service.setBalance(1, index, 1n)
    await service.scan({ deposits })
    await service.scan()
    await service.tick()
    expect((await service.runs())[0]).toMatchObject({ addresses: 20, differing: 0 })
    expect(await service.movedAddresses()).toHaveLength(250 - 5 * 16)
    await service.minutes(5)
    expect(await service.movedAddresses()).toEqual([])
    expect(service.alarms).toEqual([])
  })

  it('waits while a difference of it is examined, and is compared then', async () => {
    const service = await startReconciliation({ addresses: 1 })
    service.setBalance(2, 0, 9n)
    await service.tick()
    await service.scan({ deposits: [service.deposited(2, 0, 4n)] })
    service.setBalance(2, 0, 13n)
    await service.minutes(2)
    expect(await service.openDifferences()).toHaveLength(1)
    expect(await service.movedAddresses()).toHaveLength(1)
    await service.minutes(30)
    // The first reading could include the deposit already, so it is sure of 5 only: the comparison after it finds the rest.
    expect(service.alarms).toEqual([alarm(surplus, 2, 0, 5n), alarm(surplus, 2, 0, 9n)])
    expect(await service.movedAddresses()).toEqual([])
  })

  it('is compared later where its balance cannot be read', async () => {
    const service = await startAfterRun(1)
    await service.scan({ deposits: [service.deposited(1, 0, 5n)] })
    service.failures.set(1, { kind: 'no-answer', why: 'node 1: silent' })
    await service.minutes(5)
    expect(await service.movedAddresses()).toMatchObject([{ address: addressAt(0), cuy: 1, changes: 1 }])
    service.failures.clear()
    await service.minutes(20)
    expect(service.alarms).toEqual([alarm(shortfall, 1, 0, 5n)])
  })
})
