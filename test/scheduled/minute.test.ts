import { describe, expect, it, vi } from 'vitest'
import { addressIn, dropTransfer, type RunningService, startService, usdtTo } from '../http/service.ts'

/** The requests to nodes of each tick so far. */
const nodeCallsIn = (service: RunningService) =>
  service.lines.flatMap((line) => {
    const { event, nodeCalls } = JSON.parse(line) as { event?: string; nodeCalls?: number }
    return event === 'tick' && nodeCalls !== undefined ? [nodeCalls] : []
  })

const eventTypes = async ({ db }: RunningService) =>
  (await db.prepare('SELECT type FROM event ORDER BY id').raw<[string]>()).map(([type]) => type)

describe('a tick', () => {
  // Blocks are 3 s apart. test/bench/README.md has these numbers for a day.
  it.each([
    [10, 3, 7],
    [20, 7, 7],
    [60, 20, 10],
  ])('every %i s takes a known number of requests at two nodes', async (seconds, blocks, requests) => {
    const service = await startService()
    await service.get('/tron/generate')
    await service.tick()
    for (let i = 0; i < 8; i += 1) {
      service.clock.seconds += seconds
      service.chain.addEmpty(blocks)
      await service.tick()
    }
    expect(new Set(nodeCallsIn(service).slice(-3))).toEqual(new Set([requests]))
  })

  it('sees a transfer without a question about it, and credits it when it is final', async () => {
    const service = await startService()
    const to = await addressIn(await service.get('/tron/generate'))
    await service.tick()
    service.chain.add([usdtTo(to, 1n)])
    service.clock.seconds += 20
    await service.tick()
    expect(await eventTypes(service)).toEqual(['deposit.seen'])
    service.chain.addEmpty(19)
    service.clock.seconds += 60
    await service.tick()
    expect(await eventTypes(service)).toEqual(['deposit.seen', 'deposit.credited'])
  })

  it('drops a transfer that is not in the chain after all', async () => {
    const service = await startService()
    await dropTransfer(service)
    expect(await eventTypes(service)).toEqual(['deposit.seen', 'deposit.dropped'])
  })
})

describe('one invocation of the cron', () => {
  /** A service with an endpoint; its answers come from this machine. */
  async function startWithEndpoint() {
    const service = await startService({
      SCAN_EVERY_SECONDS: 60,
      HOOK: `whsec_${btoa('s'.repeat(32))}`,
      WEBHOOKS: [{ url: 'https://hooks.example/', secretVar: 'HOOK' }],
    })
    return service
  }

  it('delivers what its ticks have stored', async () => {
    const service = await startWithEndpoint()
    const to = await addressIn(await service.get('/tron/generate'))
    await service.minute()
    service.chain.add([usdtTo(to, 1n)])
    service.clock.seconds += 60
    await service.minute()
    expect(service.hooks.map(({ body }) => JSON.parse(body) as object)).toMatchObject([{ id: 1, type: 'deposit.seen' }])
  })

  it('scans while an endpoint gives no response', async () => {
    const service = await startWithEndpoint()
    const to = await addressIn(await service.get('/tron/generate'))
    await service.minute()
    service.chain.add([usdtTo(to, 1n)])
    service.chain.addEmpty(19)
    await service.post([{ uid: 7, cuy: 1, type: 9, osn: 'before', amt: '1' }])
    const respond = service.hangHooks()
    service.clock.seconds += 60
    const minute = service.minute()
    const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000 })
    await eventually(() => expect(service.hooks).toHaveLength(1))
    await eventually(async () => expect(await eventTypes(service)).toContain('deposit.credited'))
    expect(service.hooks).toHaveLength(1)
    respond()
    await minute
    expect(service.hooks).toHaveLength(2)
  })

  it('delivers nothing while the configuration differs from what is stored', async () => {
    const service = await startWithEndpoint()
    await service.get('/tron/generate')
    await service.post([{ uid: 7, cuy: 1, type: 9, osn: 'start', amt: '1' }])
    await service.with({ TRON_CHAIN_ID: '0x1' }).minute()
    expect(service.hooks).toEqual([])
  })

  it('removes old events, and none that is younger than EVENTS_KEEP_DAYS', async () => {
    const service = (await startService()).with({ SCAN_EVERY_SECONDS: 60, EVENTS_KEEP_DAYS: 2 })
    await service.get('/tron/generate')
    await service.post([{ uid: 7, cuy: 1, type: 9, osn: 'start', amt: '1' }])
    service.clock.seconds += 2 * 86_400 - 60
    await service.minute()
    expect(await eventTypes(service)).toEqual(['entry.posted'])
    service.clock.seconds += 120
    await service.minute()
    expect(await eventTypes(service)).toEqual([])
  })
})
