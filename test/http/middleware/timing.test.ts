import { beforeAll, describe, expect, test } from 'vitest'
import type { UnixMs } from '../../../src/common/time.ts'
import { createService } from '../../../src/compose.ts'
import { createLogger } from '../../../src/platform/logger.ts'
import { payCaller, type RunningService, startService } from '../service.ts'

let service: RunningService
beforeAll(async () => {
  service = await startService()
  await payCaller(service)
  await service.tick()
})

describe('Server-Timing', () => {
  test.each(['/wallet/list', '/tron/balance', '/tron/recharge', '/health', '/x', '/tron/balance?cuy=x'])(
    'at %s has the milliseconds of the log line',
    async (path) => {
      const timing = (await service.get(path)).headers.get('server-timing') ?? ''
      expect(timing).toMatch(/^total;dur=\d+, db;dur=\d+$/)
      const [total = 0, database = 0] = [...timing.matchAll(/\d+/g)].map(Number)
      expect(database).toBeLessThanOrEqual(total)
      const line = JSON.parse(service.lines.at(-1) ?? '')
      expect([line.durationMs, line.databaseMs]).toEqual([total, database])
    },
  )
})

describe('the duration of a request', () => {
  test('is by the clock of the platform, from its start to its response', async () => {
    const lines: string[] = []
    const times = [1000, 1025]
    const { fetch } = createService({
      clock: { now: () => times.shift() as UnixMs, sleep: () => Promise.resolve(), random: () => 0.5 },
      logger: createLogger((line) => lines.push(line)),
      fetch: () => Promise.reject(new Error('no network')),
      uniqueName: () => 'request-1',
      waitUntil: () => undefined,
    })
    await fetch(new Request('https://wallet.example/secret?secret=1'), {})
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      level: 'info',
      event: 'request',
      requestId: 'request-1',
      route: 'unknown',
      method: 'GET',
      status: 503,
      durationMs: 25,
      databaseQueries: 0,
      databaseMs: 0,
      rowsRead: 0,
    })
  })
})
