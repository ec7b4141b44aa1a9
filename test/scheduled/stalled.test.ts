import { describe, expect, it } from 'vitest'
import { addressIn, payFinal, type RunningService, startService, usdtTo } from '../http/service.ts'

const alarmsIn = (service: RunningService, kind: string) =>
  service.lines.filter((line) => line.includes(`"alarm":"${kind}"`)).length

/** Ticks with a minute between them, in each of which the chain grows. */
async function minutes(service: RunningService, count: number) {
  for (let i = 0; i < count; i += 1) {
    service.clock.seconds += 60
    service.chain.addEmpty(20)
    await service.tick().catch(() => undefined)
  }
}

async function startScanned(): Promise<RunningService> {
  const service = await startService()
  payFinal(service, usdtTo(await addressIn(await service.get('/tron/generate')), 1n))
  await service.tick()
  return service
}

/** Nodes that answer nothing. */
const silence = (service: RunningService) => {
  for (const node of service.nodes) node.script = () => ({ kind: 'status', status: 503 })
}
const heal = (service: RunningService) => {
  for (const node of service.nodes) node.script = () => null
}

describe('the alarm scan-stalled', () => {
  it('is raised once where the position has not moved for three minutes below the finalized head', async () => {
    const service = await startScanned()
    await service.db.prepare('UPDATE scan SET finalized = finalized + 5').run()
    silence(service)
    await minutes(service, 2)
    expect(alarmsIn(service, 'scan-stalled')).toBe(0)
    await minutes(service, 5)
    expect(alarmsIn(service, 'scan-stalled')).toBe(1)
  })

  it('is raised where no node answers for three minutes, and again after it was well', async () => {
    const service = await startScanned()
    silence(service)
    await minutes(service, 8)
    expect(alarmsIn(service, 'scan-stalled')).toBe(1)
    heal(service)
    await minutes(service, 10)
    silence(service)
    await minutes(service, 8)
    expect(alarmsIn(service, 'scan-stalled')).toBe(2)
  })

  it('is raised where the scan cannot be started for three minutes', async () => {
    const service = await startService()
    silence(service)
    await minutes(service, 8)
    expect(alarmsIn(service, 'scan-stalled')).toBe(1)
  })

  it('is not raised while there is nothing to scan', async () => {
    const service = await startScanned()
    for (let i = 0; i < 6; i += 1) {
      service.clock.seconds += 60
      await service.tick()
    }
    expect(alarmsIn(service, 'scan-stalled')).toBe(0)
  })
})

describe('the alarm tick-failed', () => {
  it('is raised once for ticks that throw, and again after one that did not', async () => {
    const service = await startScanned()
    await service.db.prepare('ALTER TABLE pending RENAME TO gone').run()
    await minutes(service, 3)
    expect(alarmsIn(service, 'tick-failed')).toBe(1)
    await service.db.prepare('ALTER TABLE gone RENAME TO pending').run()
    await minutes(service, 1)
    await service.db.prepare('ALTER TABLE pending RENAME TO gone').run()
    await minutes(service, 2)
    expect(alarmsIn(service, 'tick-failed')).toBe(2)
  })
})
