import { expect, it } from 'vitest'
import type { UnixMs } from '../../src/common/time.ts'
import { readScanHealth, type SharedHealth, sharedHealthMs, sharedHealthMsMax } from '../../src/scan/health.ts'
import { createScanParts, hashAt, now, start } from './scan-parts.ts'

/** Health checks of one isolate. `state` throws where the database does not answer. */
async function createChecks() {
  const parts = await createScanParts({})
  await parts.scanStore.start({ height: start, hash: hashAt(start) }, now)
  const database: { reads: number; answers: boolean } = { reads: 0, answers: true }
  const state = async () => {
    database.reads += 1
    if (!database.answers) throw new Error('the database did not answer')
    return parts.scanStore.state()
  }
  const sharedHealth: SharedHealth = { newest: null, readAt: 0 }
  const readAt = (ms: number) =>
    readScanHealth({ scanStore: { state }, clock: { ...parts.clock, now: () => (now + ms) as UnixMs }, sharedHealth })
  return { database, readAt }
}

it('is read from the database once in a second of an isolate, however often it is asked for', async () => {
  const { database, readAt } = await createChecks()
  await readAt(0)
  await Promise.all(Array.from({ length: 20 }, () => readAt(sharedHealthMs - 1)))
  expect(database.reads).toBe(1)
  await Promise.all(Array.from({ length: 20 }, () => readAt(sharedHealthMs)))
  expect(database.reads).toBe(2)
})

it('is not that of long ago while another check reads', async () => {
  const { database, readAt } = await createChecks()
  await readAt(0)
  await Promise.all([readAt(sharedHealthMsMax - 1), readAt(sharedHealthMsMax - 1)])
  expect(database.reads).toBe(2)
  const later = 2 * sharedHealthMsMax
  await Promise.all([readAt(later), readAt(later)])
  expect(database.reads).toBe(4)
})

it('is not that of long ago where the database does not answer', async () => {
  const { database, readAt } = await createChecks()
  await readAt(0)
  database.answers = false
  await expect(readAt(60_000)).rejects.toThrow('the database did not answer')
  await expect(readAt(60_001)).rejects.toThrow('the database did not answer')
})
