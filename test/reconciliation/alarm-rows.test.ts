import { expect, it } from 'vitest'
import { createAlarms } from '../../src/worker/alarms/alarms.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { systemClock } from '../../src/worker/platform/clock.ts'
import { addressAt, dayMs, paid, shown, startReconciliation, surplus } from './harness.ts'

const row = `${surplus} ${JSON.stringify({ address: addressAt(0), cuy: 1 })}`

/** An address with a reported surplus of 7 smallest units, whose next comparison is due. */
async function withSurplus() {
  const service = await startReconciliation({ addresses: 1 })
  service.setBalance(1, 0, 7n)
  await service.wait(25)
  expect(await service.raisedRows()).toEqual([row])
  service.state.now += dayMs
  return service
}

it('a difference that one reading has missed is reported again where its address was paid meanwhile', async () => {
  const service = await withSurplus()
  service.setBalance(1, 0, 10n) // a wrong node shows this balance
  let isPaid = false
  const paying: typeof service.alarms = {
    ...service.alarms,
    async clear(...subject) {
      const hasEnded = await service.alarms.clear(...subject)
      // another instance's scan stores a deposit during this comparison
      if (!isPaid) await service.store([paid(1, 0, 5n)])
      isPaid = true
      return hasEnded
    },
  }
  for (let i = 0; i < 4 && !isPaid; i += 1) {
    service.state.now += 60_000
    await service.store()
    await service.tick({ alarms: paying })
    await service.tick({ alarms: paying })
    service.state.height += 40
  }
  expect(isPaid).toBe(true)
  expect(await service.raisedRows()).toEqual([])
  service.setBalance(1, 0, 12n)
  for (let day = 0; day < 3; day += 1) {
    service.state.now += dayMs
    await service.wait(25)
  }
  const [{ difference = null } = {}] = await service.holdings()
  expect(difference).toBe('7')
  expect(await service.raisedRows()).toEqual([row])
})

it('the alarm of a difference that is gone ends also where the database fails once', async () => {
  const service = await withSurplus()
  let failures = 0
  const failing = {
    prepare(sql: string) {
      if (failures > 1 || !/^DELETE FROM "alarm"/.test(sql)) return service.db.prepare(sql)
      failures += 1
      throw new Error('D1_ERROR: Network connection lost.')
    },
    batch: (statements: D1PreparedStatement[]) => service.db.batch(statements),
  } as typeof service.db
  const { clock, logger } = service.parts
  const alarms = createAlarms({
    db: writable(failing),
    clock: { ...systemClock, ...clock },
    logger: { alarm: () => undefined, ...logger },
  })
  service.setBalance(1, 0, 0n)
  for (let i = 0; i < 10; i += 1) {
    service.state.now += 60_000
    service.state.height += 40
    await service.store()
    await service.tick({ alarms })
    await service.tick({ alarms })
  }
  expect(failures).toBe(2)
  expect(await service.raisedRows()).toEqual([])
  expect(service.infos).toContainEqual(['reconciliation-resolved', { address: shown(0), cuy: 1, amount: '0' }])
})
