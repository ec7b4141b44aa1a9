import { describe, expect, it } from 'vitest'
import { oneEndpoint, payFinal, type RunningService, usdtTo } from '../http/service.ts'
import { disagreeOn, finalizedIn, openGaps, repairNodes, tickLater, withAddress } from './harness.ts'

/** The SQL statements of one tick that is not the first of its instance. */
async function statementsOf(service: RunningService, variables: object = {}): Promise<readonly string[]> {
  const statements: string[] = []
  const database = {
    prepare: (sql: string) => {
      statements.push(sql)
      return service.db.prepare(sql)
    },
    batch: (list: D1PreparedStatement[]) => service.db.batch(list),
    withSession: () => database,
  }
  const counted = service.with({ ...variables, DB: database })
  await tickLater(counted, 60) // the first tick of an instance also looks for expired events
  statements.length = 0
  await tickLater(counted, 20)
  return statements
}

/**
 * The tick's statements about alarms, endpoints and events. The query with the column
 * `hasOldEvents` is left out, because every tick begins with it to find its work.
 */
async function watchingOf(service: RunningService, variables: object = {}): Promise<readonly string[]> {
  const statements = await statementsOf(service, variables)
  expect(statements.length).toBeGreaterThan(5)
  return statements.filter((sql) => /\b(alarm|webhook|event)\b/.test(sql) && !sql.includes('hasOldEvents'))
}

describe('a tick that is caught up', () => {
  it('spends one statement on alarms, none on endpoints without one, and none on events', async () => {
    const { service } = await withAddress()
    expect(await watchingOf(service)).toEqual([expect.stringMatching(/^select .* from "alarm"/)])
  })

  it('spends one statement more on endpoints that are as before', async () => {
    const { service } = await withAddress(oneEndpoint)
    await tickLater(service)
    expect(await watchingOf(service, oneEndpoint)).toEqual([
      expect.stringMatching(/^select .* from "webhook"/s),
      expect.stringMatching(/^select .* from "alarm"/),
    ])
  })

  it('with an alarm that lasts spends no more', async () => {
    const { service } = await withAddress()
    await service.db.prepare(`INSERT INTO alarm VALUES ('misconfigured', '{}', 0, 0)`).run()
    expect(await watchingOf(service)).toHaveLength(1)
  })
})

describe('an endpoint', () => {
  async function withWakes() {
    const { service, own } = await withAddress(oneEndpoint)
    let wakes = 0
    const objects = service.bindings.ENDPOINT as { getByName: (name: string) => unknown }
    objects.getByName = () => ({ wake: async () => (wakes += 1) })
    await tickLater(service)
    await tickLater(service)
    expect(wakes).toBe(0)
    return { service, own, wakes: () => wakes }
  }

  it('is woken by a tick that has stored an event, and by no other one', async () => {
    const { service, own, wakes } = await withWakes()
    payFinal(service, usdtTo(own, 5_000_000n))
    await tickLater(service)
    expect(wakes()).toBeGreaterThan(0)
  })

  it('is woken by the tick that reads what was a gap', async () => {
    const { service, own, wakes } = await withWakes()
    payFinal(service, usdtTo(own, 5_000_000n))
    disagreeOn(service, finalizedIn(service))
    await tickLater(service)
    expect([await openGaps(service), wakes()]).toMatchObject([[{}], 0])
    repairNodes(service)
    await tickLater(service, 600)
    expect([await openGaps(service), wakes()]).toEqual([[], 1])
  })
})
