import { describe, expect, it } from 'vitest'
import { oneEndpoint, type RunningService } from '../http/service.ts'
import { tickLater, withAddress } from './harness.ts'

/** The statements about alarms, endpoints and events of one tick of this service. */
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
  await tickLater(counted, 60) // a new instance looks for old events
  statements.length = 0
  await tickLater(counted, 20)
  expect(statements.length).toBeGreaterThan(5)
  // One statement says what there is to do.
  return statements.filter((sql) => /\b(alarm|webhook|event)\b/.test(sql) && !sql.includes('hasOldEvents'))
}

describe('a tick that is caught up', () => {
  it('spends one statement on alarms, none on endpoints without one, and none on events', async () => {
    const { service } = await withAddress()
    expect(await statementsOf(service)).toEqual([expect.stringMatching(/^select .* from "alarm"/)])
  })

  it('spends one statement more on endpoints that are as before', async () => {
    const { service } = await withAddress(oneEndpoint)
    await tickLater(service)
    expect(await statementsOf(service, oneEndpoint)).toEqual([
      expect.stringMatching(/^select .* from "webhook"/),
      expect.stringMatching(/^select .* from "alarm"/),
    ])
  })

  it('with an alarm that lasts spends no more', async () => {
    const { service } = await withAddress()
    await service.db.prepare(`INSERT INTO alarm VALUES ('misconfigured', '{}', 0, 0)`).run()
    expect(await statementsOf(service)).toHaveLength(1)
  })
})
