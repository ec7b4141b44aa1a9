import { describe, expect, it } from 'vitest'
import { addressIn, alarmsIn, payFinal, type RunningService, startService, usdtTo } from '../http/service.ts'

const count = (service: RunningService, kind: string) => alarmsIn(service).filter((one) => one === kind).length

/** Minutes with a tick each, by instances without a memory; in each the chain grows, or not. */
async function minutes(service: RunningService, ticks: number, blocks = 20) {
  for (let i = 0; i < ticks; i += 1) {
    service.clock.seconds += 60
    service.chain.addEmpty(blocks)
    await service.with({}).tick()
  }
}

async function startScanned(): Promise<RunningService> {
  const service = await startService()
  payFinal(service, usdtTo(await addressIn(await service.get('/tron/generate')), 1n))
  await service.tick()
  return service
}

const silence = ({ nodes }: RunningService) => {
  for (const node of nodes) node.script = () => ({ kind: 'status', status: 503 })
}
const heal = ({ nodes }: RunningService) => {
  for (const node of nodes) node.script = () => null
}
const rename = ({ db }: RunningService, from: string, to: string) =>
  db.prepare(`ALTER TABLE ${from} RENAME TO ${to}`).run()

describe('the alarm scan-stalled', () => {
  it('is raised once where no node answers for three minutes, by whichever instance, and again after it was well', async () => {
    const service = await startScanned()
    silence(service)
    await minutes(service, 2)
    expect(count(service, 'scan-stalled')).toBe(0)
    await minutes(service, 4)
    expect(count(service, 'scan-stalled')).toBe(1)
    expect(service.lines.find((line) => line.includes('"alarm":"scan-stalled"'))).toContain(
      'no quorum of nodes answers',
    )
    heal(service)
    await minutes(service, 3)
    silence(service)
    await minutes(service, 6)
    expect(count(service, 'scan-stalled')).toBe(2)
  })

  it('is raised where the scan cannot be started for three minutes', async () => {
    const service = await startService()
    silence(service)
    await minutes(service, 6)
    expect(count(service, 'scan-stalled')).toBe(1)
  })
})

describe('the alarm finality-stalled', () => {
  it('is raised once where nodes that answer show no new final block for three minutes', async () => {
    const service = await startScanned()
    await minutes(service, 2, 0)
    expect(count(service, 'finality-stalled')).toBe(0)
    await minutes(service, 4, 0)
    expect(alarmsIn(service)).toEqual(['finality-stalled'])
  })

  it('is not raised by nodes that return after an outage at their old head, and then go on', async () => {
    const service = await startScanned()
    silence(service)
    await minutes(service, 30, 0)
    heal(service)
    await minutes(service, 2, 0)
    await minutes(service, 10)
    expect(alarmsIn(service)).toEqual(['scan-stalled'])
  })
})

describe('the alarm tick-failed', () => {
  it('is raised once for ticks that throw, with the reason, and again after one that did not', async () => {
    const service = await startScanned()
    const fail = async () => {
      await rename(service, 'rescan', 'gone')
      await minutes(service, 3)
      await rename(service, 'gone', 'rescan')
    }
    await fail()
    expect(count(service, 'tick-failed')).toBe(1)
    expect(service.lines.find((line) => line.includes('"alarm":"tick-failed"'))).toContain('no such table')
    await minutes(service, 1)
    await fail()
    expect(count(service, 'tick-failed')).toBe(2)
  })
})

describe('the alarm configuration-differs', () => {
  it('is raised once for each setting, whichever isolate compares it, and again after it was well', async () => {
    const service = await startScanned()
    const wrong = { TRON_CHAIN_ID: '0x1' }
    for (let i = 0; i < 3; i += 1) await service.with(wrong).tick()
    expect(count(service, 'configuration-differs')).toBe(1)
    await minutes(service, 1)
    await service.with(wrong).get('/wallet/list')
    expect(count(service, 'configuration-differs')).toBe(2)
  })
})

describe('an alarm that a killed instance left raised', () => {
  it('is no reason to be silent about the next one', async () => {
    const service = await startScanned()
    for (const kind of ['chain-forked', 'finality-stalled', 'scan-stalled']) {
      await service.db.prepare(`INSERT INTO alarm (name, detail, raised_at) VALUES ('${kind}', '', 0)`).run()
    }
    await minutes(service, 1)
    const other = service.chain.fork(service.chain.tip().height - 25)
    other.addEmpty(30)
    for (const node of service.nodes) node.chain = other
    await service.tick()
    expect(alarmsIn(service)).toContain('chain-forked')
  })
})
