import { describe, expect, it } from 'vitest'
import { standstillMs } from '../../src/worker/alarms/alarms.ts'
import { alarmsIn, brokenDatabase, type RunningService, startService } from '../http/service.ts'
import { alarmsOf, balancesOf, breakNodes, repairNodes, tickFor, withDeposit } from './harness.ts'

const kinds = (service: RunningService, kind: string) => alarmsOf(service, kind).length
const seconds = standstillMs / 1000 + 40

describe('a standstill', () => {
  it('before the first start raises scan-stalled, and an instance that begins anew does not repeat it', async () => {
    const service = await startService()
    breakNodes(service)
    await tickFor(service, seconds)
    await tickFor(service.with({}), 60)
    expect(kinds(service, 'scan-stalled')).toBe(1)
  })

  it('is not raised by nodes that return after an outage at their old head, and then go on', async () => {
    const { service } = await withDeposit()
    await service.tick()
    breakNodes(service)
    await tickFor(service, 1800, undefined, 60)
    repairNodes(service)
    await tickFor(service, 120)
    await tickFor(service, 300, () => service.chain.addEmpty(7))
    expect(new Set(alarmsIn(service))).toEqual(new Set(['scan-stalled', 'node-failing']))
  })
})

describe('a tick that throws', () => {
  it('only once, because the database was busy, raises no alarm, and the next one does its work', async () => {
    const { service } = await withDeposit()
    for (let i = 0; i < 2; i += 1) {
      await tickFor(service.with({ DB: brokenDatabase(new Error('D1_ERROR: database is locked: SQLITE_BUSY')) }), 20)
      await tickFor(service, 20)
    }
    expect(alarmsIn(service)).toEqual([])
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 25 })
  })
})

describe('an alarm that a killed instance left raised', () => {
  it('is no reason to be silent about the next one', async () => {
    const { service } = await withDeposit()
    for (const kind of ['chain-forked', 'finality-stalled', 'scan-stalled']) {
      await service.db.prepare(`INSERT INTO alarm VALUES ('${kind}', '{}', 0, 0)`).run()
    }
    await tickFor(service, 20)
    const other = service.chain.fork(service.chain.tip().height - 25)
    other.addEmpty(30)
    for (const node of service.nodes) node.chain = other
    await service.tick()
    expect(alarmsIn(service)).toContain('chain-forked')
  })
})
