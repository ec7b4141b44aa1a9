import { env } from 'cloudflare:workers'
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

describe('an alarm of several isolates', () => {
  /** Another isolate with the same database: what an isolate remembers belongs to its bindings. */
  const anotherIsolate = (service: RunningService) => service.with({})

  it('is raised once until it is well again, whichever isolate sees it', async () => {
    const service = await startScanned()
    await service.db.prepare('UPDATE scan SET finalized = finalized + 5').run()
    silence(service)
    await minutes(service, 5)
    await minutes(anotherIsolate(service), 2)
    expect(alarmsIn(service, 'scan-stalled')).toBe(1)
    heal(service)
    await minutes(anotherIsolate(service), 10)
    silence(service)
    await minutes(service, 8)
    await minutes(anotherIsolate(service), 2)
    expect(alarmsIn(service, 'scan-stalled')).toBe(2)
  })

  it('that a tick has raised is not repeated after a change of the isolate', async () => {
    const service = await startScanned()
    await service.db.prepare('ALTER TABLE pending RENAME TO gone').run()
    for (let i = 0; i < 3; i += 1) await minutes(anotherIsolate(service), 1)
    expect(alarmsIn(service, 'tick-failed')).toBe(1)
    await service.db.prepare('ALTER TABLE gone RENAME TO pending').run()
    await minutes(anotherIsolate(service), 1)
    await service.db.prepare('ALTER TABLE pending RENAME TO gone').run()
    await minutes(service, 2)
    expect(alarmsIn(service, 'tick-failed')).toBe(2)
  })
})

describe('an alarm while the database cannot be reached', () => {
  /** A service whose database is away while `isAway`. */
  async function startWithOutage() {
    const outage: { isAway: boolean } = { isAway: false }
    const reach = () => {
      if (outage.isAway) throw new Error('D1_ERROR: the database is away')
      return env.DB
    }
    const DB = {
      prepare: (sql: string) => reach().prepare(sql),
      batch: (statements: D1PreparedStatement[]) => reach().batch(statements),
      withSession: (start: string) => reach().withSession(start),
    }
    return { outage, service: await startService({ DB }) }
  }

  it('is raised once by an isolate that knows the database', async () => {
    const { outage, service } = await startWithOutage()
    await minutes(service, 2)
    outage.isAway = true
    await minutes(service, 3)
    expect(alarmsIn(service, 'tick-failed')).toBe(1)
    outage.isAway = false
    await minutes(service, 1)
    outage.isAway = true
    await minutes(service, 2)
    expect(alarmsIn(service, 'tick-failed')).toBe(2)
  })

  it('is raised once by an isolate that has never reached it', async () => {
    const { outage, service } = await startWithOutage()
    outage.isAway = true
    await minutes(service, 3)
    expect(alarmsIn(service, 'tick-failed')).toBe(1)
  })

  it('is not repeated where the failure lasts beyond the outage', async () => {
    const { outage, service } = await startWithOutage()
    await minutes(service, 1)
    outage.isAway = true
    await minutes(service, 1)
    outage.isAway = false
    await service.db.prepare('ALTER TABLE pending RENAME TO gone').run()
    await minutes(service, 2)
    await minutes(service.with({}), 1)
    outage.isAway = true
    await minutes(service, 1)
    expect(alarmsIn(service, 'tick-failed')).toBe(1)
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
