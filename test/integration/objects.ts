import { describe, expect, it } from 'vitest'
import type { Uid } from '../../src/worker/common/ids.ts'
import { type DevnetService, startDevnetService } from './service.ts'

const userOne = 1 as Uid // safe: a valid user

/**
 * `untilWallet` and `untilEvents` wait for what the alarms of the service's objects do by
 * themselves.
 */
const untilWallet = (service: DevnetService, item: string) =>
  expect.poll(async () => (await service.get('/wallet/list', 1)).text).toContain(item)
const untilEvents = (service: DevnetService, types: readonly string[]) =>
  expect.poll(async () => (await service.events()).map(({ type }) => type)).toEqual(types)
const entriesOf = async (service: DevnetService) => (await service.get('/wallet/flow/list', 1)).text

describe('the scanner', () => {
  it('is woken by the cron, scans by its alarm, and sets the next one', async () => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    await service.pay(to, '3', 'TRX')
    await service.mine()
    await service.cron()
    await untilWallet(service, '{"amt":3,"cuy":1}')
    await expect.poll(() => service.nextAlarm()).toBeGreaterThan(Date.now())
  })

  it('credits a deposit that it saw before it was evicted, by its alarm alone', async () => {
    const service = await startDevnetService({ SCAN_EVERY_SECONDS: 10 })
    const to = await service.addressOf(1)
    await service.pay(to, '2', 'USDT')
    await service.mine(1)
    await service.cron()
    await untilEvents(service, ['deposit.seen'])
    await expect.poll(() => service.nextAlarm()).toBeGreaterThan(Date.now())
    await service.evict()
    await service.mine(2)
    await untilWallet(service, '{"amt":2,"cuy":2}')
    expect(await entriesOf(service)).toContain('"count":1')
  })

  it('credits once where two of them overlap', async () => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    for (const amount of ['1', '2', '4']) {
      await service.pay(to, amount, 'USDT')
      await service.mine(20)
    }
    const calls = ['scanner', 'predecessor'].map((name) => service.scanner(name).scanNow(userOne))
    for (const answer of await Promise.all(calls)) expect(answer.ok).toBe(true)
    await untilWallet(service, '{"amt":7,"cuy":2}')
    expect(await entriesOf(service)).toContain('"count":3')
  })

  it('makes one scan for hundreds of recharges at once, or two, since one had begun before the others asked', async () => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    const callAll = async (calls: number) => {
      await service.pay(to, '1', 'USDT')
      await service.mine()
      const before = await service.nodeRequests()
      await Promise.all(Array.from({ length: calls }, () => service.scanner().scanNow(userOne)))
      return (await service.nodeRequests()) - before
    }
    const byOne = await callAll(1)
    await service.evict() // otherwise the service would answer from the last scan, which is recent enough
    expect(byOne).toBeGreaterThan(0)
    expect(await callAll(250)).toBeLessThanOrEqual(3 * byOne) // a tick of the scanner can happen meanwhile
    expect((await service.get('/wallet/list', 1)).text).toContain('{"amt":2,"cuy":2}')
  })
})

describe('an endpoint', () => {
  it('gets the events of a deposit in their order, signed, without waiting for the next scan', async () => {
    const service = await startDevnetService()
    const to = await service.addressOf(1)
    await service.cron()
    await expect.poll(() => service.nextAlarm()).toBeGreaterThan(Date.now())
    const txid = await service.pay(to, '5', 'USDT')
    await service.mine(1)
    await service.evict() // otherwise the service would answer from the last scan, which is recent enough
    await service.get('/tron/recharge', 1)
    await untilEvents(service, ['deposit.seen'])
    await service.mine(2)
    expect((await service.get(`/tron/recharge?txid=${txid}`, 1)).status).toBe(200)
    await untilEvents(service, ['deposit.seen', 'deposit.credited'])
    expect(JSON.stringify((await service.events())[1])).toContain(txid)
  })
})
