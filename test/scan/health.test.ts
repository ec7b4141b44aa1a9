import { expect, it } from 'vitest'
import type { UnixMs } from '../../src/common/time.ts'
import { readScanHealth, type SharedHealth, sharedHealthMs } from '../../src/scan/health.ts'
import { createScanParts, hashAt, now, start } from './scan-parts.ts'

it('is read from the database once in a second of an isolate, however often it is asked for', async () => {
  const parts = await createScanParts({})
  await parts.scanStore.start({ height: start, hash: hashAt(start) }, now)
  let reads = 0
  const state = () => {
    reads += 1
    return parts.scanStore.state()
  }
  const sharedHealth: SharedHealth = { state: undefined, readAt: 0 }
  const readAt = (ms: number) =>
    readScanHealth({ scanStore: { state }, clock: { ...parts.clock, now: () => (now + ms) as UnixMs }, sharedHealth })
  await readAt(0)
  await Promise.all(Array.from({ length: 20 }, () => readAt(sharedHealthMs - 1)))
  expect(reads).toBe(1)
  await Promise.all(Array.from({ length: 20 }, () => readAt(sharedHealthMs)))
  expect(reads).toBe(2)
})
