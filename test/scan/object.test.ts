import { describe, expect, it, vi } from 'vitest'
import type { UnixMs } from '../../src/worker/common/time.ts'
import {
  alarmsIn,
  brokenDatabase,
  payFinal,
  type RunningService,
  requestsOf,
  startService,
  usdtTo,
} from '../http/service.ts'
import { recordDatabase } from '../support/recorded-database.ts'
import { alarmsOf, balancesOf, finalizedIn, stateOf, tickLater, withAddress, withDeposit } from './harness.ts'

const nowOf = ({ clock }: RunningService) => clock.seconds * 1000
/** Seconds until the scanner's alarm, which is the next tick. */
const dueIn = (service: RunningService) => Math.round(((service.scannerHost.alarmAt ?? 0) - nowOf(service)) / 1000)

describe('the cron', () => {
  it('starts the scanner where it never ran, and leaves a set alarm as it is', async () => {
    const service = await startService()
    await service.cron()
    expect(dueIn(service)).toBeLessThanOrEqual(5)
    await service.tick()
    const { alarmAt } = service.scannerHost
    await service.cron()
    expect(service.scannerHost.alarmAt).toBe(alarmAt)
  })

  it('is not waited for by the first address, which starts a scan at once', async () => {
    const service = await startService()
    service.scannerHost.alarmAt = (nowOf(service) + 15_000) as UnixMs // as after a tick that failed
    await service.get('/tron/generate')
    expect(dueIn(service)).toBe(0)
    await service.tick()
    expect(await stateOf(service)).toMatchObject({ caughtUpAt: expect.toSatisfy((at: number) => at > 0) })
    const { alarmAt } = service.scannerHost
    await service.get('/tron/generate', 8)
    expect(service.scannerHost.alarmAt).toBe(alarmAt)
  })

  it('sets an alarm anew that is late or lies too far ahead', async () => {
    const service = await startService()
    await service.tick()
    service.clock.seconds += 300
    await service.cron()
    expect(dueIn(service)).toBeLessThanOrEqual(5)
    service.scannerHost.alarmAt = (nowOf(service) + 3_600_000) as UnixMs
    await service.cron()
    expect(dueIn(service)).toBeLessThanOrEqual(5)
  })
})

describe('the alarm of the scanner', () => {
  it('sets the next one where nodes fail', async () => {
    const { service } = await withDeposit()
    for (const node of service.nodes) node.script = () => ({ kind: 'status', status: 500 })
    await service.tick()
    expect(dueIn(service)).toBeGreaterThan(15)
    expect(dueIn(service)).toBeLessThan(25)
  })

  it('sets the next one for an interval ahead at most, also if the clock steps back ten minutes within a tick', async () => {
    const { service } = await withDeposit()
    service.clock.seconds += 600
    let isAhead = true
    for (const node of service.nodes) {
      node.script = () => {
        if (isAhead) service.clock.seconds -= 600
        isAhead = false
        return null
      }
    }
    await service.tick()
    expect(isAhead).toBe(false)
    expect(dueIn(service)).toBeLessThanOrEqual(20)
  })

  it('sets the next one where the database fails, with an alarm that ends when it is well', async () => {
    const { service } = await withDeposit()
    const broken = service.with({ DB: brokenDatabase() })
    for (let i = 0; i < 2; i += 1) await tickLater(broken)
    expect(dueIn(service)).toBeGreaterThan(15)
    expect(alarmsIn(service)).toEqual(['tick-failed'])
    await service.tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    await broken.tick()
    expect(alarmsOf(service, 'tick-failed').length).toBeGreaterThanOrEqual(1)
  })

  it('that comes twice at once is one tick', async () => {
    const { service } = await withDeposit()
    await service.tick()
    const once = async (ticks: number) => {
      service.clock.seconds += 20
      const before = requestsOf(service)
      await Promise.all(Array.from({ length: ticks }, () => service.tick()))
      return requestsOf(service) - before
    }
    expect(await once(2)).toBeLessThanOrEqual((await once(1)) + 1)
  })

  it('goes on in a new instance whose predecessor ended within a tick', async () => {
    const { service } = await withDeposit()
    for (const node of service.nodes)
      node.script = () => ({ kind: 'delayed', wait: () => new Promise(() => undefined) })
    const lost = service.tick()
    lost.catch(() => undefined)
    for (const node of service.nodes) node.script = () => null
    await service.with({}).cron()
    expect(dueIn(service)).toBeLessThanOrEqual(5)
    await service.with({}).tick()
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })
})

describe('a question whose read of the database hangs', () => {
  it.each<[string, (txid: string) => string]>([
    ['what became of a transaction', (txid) => `/ledger/transaction?txid=${txid}`],
    ['the credit of a transaction', (txid) => `/tron/recharge?txid=${txid}`],
  ])('about %s is begun anew for whoever asks when it is lost', async (_, pathOf) => {
    const { service, txid } = await withDeposit()
    const { db, hang, begun } = recordDatabase(service.db)
    const isolate = service.with({ DB: db, EVENTS_KEEP_DAYS: 80 })
    const path = pathOf(txid)
    const ask = () => (path.startsWith('/ledger/') ? isolate.ledger(path) : isolate.get(path))
    await isolate.tick() // compares the configuration with the database
    await isolate.get('/wallet/list')
    const before = begun.count
    const release = hang()
    const first = ask()
    await vi.waitUntil(() => begun.count > before)
    hang()() // only what has begun hangs
    service.clock.seconds += 15
    expect((await ask()).status).toBe(200)
    release()
    expect((await first).status).toBe(200)
  })
})

describe('two instances that overlap', () => {
  it('credit each deposit once, and the position never goes back', async () => {
    const { service, own } = await withAddress()
    const others = [service, service.with({}), service.with({})]
    for (let round = 1; round <= 3; round += 1) {
      payFinal(service, ...Array.from({ length: 5 }, () => usdtTo(own, 1_000_000n)))
      service.clock.seconds += 20
      await Promise.all(others.map((one) => one.tick()))
      expect((await stateOf(service)).height).toBe(finalizedIn(service))
      expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 * round })
    }
    expect(alarmsIn(service)).toEqual([])
  })

  it('credit once where one asks for a transaction and the other scans it', async () => {
    const { service, txid } = await withDeposit()
    const other = service.with({})
    const [response] = await Promise.all([other.get(`/tron/recharge?txid=${txid}`), service.tick()])
    expect(response.status).toBe(200)
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
    const { count } = (await service.db.prepare('SELECT count(*) AS count FROM flow').first<{ count: number }>()) ?? {}
    expect(count).toBe(1)
  })
})
