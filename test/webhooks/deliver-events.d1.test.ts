import { expect, it } from 'vitest'
import { createAlarms } from '../../src/worker/alarms/alarms.ts'
import type { EndpointKey } from '../../src/worker/common/ids.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { meterDatabase } from '../../src/worker/d1/sessions.ts'
import { createLogger } from '../../src/worker/platform/logger.ts'
import { createUsage } from '../../src/worker/platform/usage.ts'
import { createEndpoint } from '../../src/worker/webhooks/endpoint-object.ts'
import { registerEndpoints, type WebhookEndpoint } from '../../src/worker/webhooks/store/endpoint-state.ts'
import { freshDatabase } from '../support/database.ts'
import { createMemoryHost } from '../support/memory-host.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

it('delivers 1,000 events in order with 70 queries, however many there were before', async () => {
  const d1 = await freshDatabase()
  const usage = createUsage()
  const now = 1_700_000_000_000 as UnixMs
  const clock = createVirtualClock(now)
  const db = meterDatabase(writable(d1), usage, clock)
  const logger = createLogger(() => undefined)
  const endpoint: WebhookEndpoint = {
    key: 'a'.repeat(64) as EndpointKey,
    number: 1,
    url: 'https://shop.example/',
    types: null,
    secrets: [`whsec_${btoa('a'.repeat(24))}`],
  }
  const bodies: string[] = []
  const host = createMemoryHost()
  const object = createEndpoint({
    db,
    host,
    clock,
    logger,
    endpoints: [endpoint],
    alarms: createAlarms({ db, clock, logger }),
    fetch: async (_, init) => {
      bodies.push(String(init?.body))
      return new Response()
    },
    cell: null,
    writeBody: ({ id }) => String(id),
    configMatchesData: async () => true,
  })
  const post = d1.prepare(`INSERT INTO posting (entries, posted_by, created_at) VALUES (?1, 'shop', ?2)`)
  const happen = async (from: number) => {
    for (let i = from; i < from + 1_000; i += 20) {
      const entries = Array.from({ length: 20 }, (_, k) => ({
        uid: 1,
        cuy: 2,
        type: 5,
        osn: `order-${i + k}`,
        amount: 1,
        mark: '',
      }))
      await post.bind(JSON.stringify(entries), now).run()
    }
  }
  await happen(1)
  await registerEndpoints(db, [endpoint], now) // a new endpoint gets only events after its registration
  await happen(1_001)
  const before = { queries: usage.database.calls, rows: usage.rowsRead }
  await object.wake(endpoint.key)
  await object.alarm()
  expect(bodies).toEqual(Array.from({ length: 1_000 }, (_, i) => String(1_001 + i)))
  expect(usage.database.calls - before.queries).toBeLessThanOrEqual(70)
  expect(usage.rowsRead - before.rows).toBeLessThanOrEqual(4_000)
})
