import { vi } from 'vitest'
import { createAlarms } from '../../src/worker/alarms/alarms.ts'
import type { WebhookType } from '../../src/worker/common/event-types.ts'
import type { EndpointKey } from '../../src/worker/common/ids.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { writable } from '../../src/worker/d1/database.ts'
import { eventItem } from '../../src/worker/events/events.ts'
import { createLogger } from '../../src/worker/platform/logger.ts'
import { jsonAmount } from '../../src/worker/schemas/written.ts'
import { createEndpoint, type EndpointParts } from '../../src/worker/webhooks/endpoint-object.ts'
import { registerEndpoints, type WebhookEndpoint } from '../../src/worker/webhooks/store/endpoint-state.ts'
import {
  removeExpiredEvents,
  type WatchEndpointsParts,
  watchEndpoints,
} from '../../src/worker/webhooks/watch-endpoints.ts'
import { currencies } from '../support/currencies.ts'
import { createMemoryHost } from '../support/memory-host.ts'
import { openSqliteD1 } from '../support/sqlite-d1.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'
import type { Receiver } from './receiver.ts'

/** Two valid endpoint secrets of different lengths. */
export const firstSecret = `whsec_${btoa('a'.repeat(24))}`
export const secondSecret = `whsec_${btoa('b'.repeat(64))}`

/** An endpoint that delivers to `receiver`; the secret and the types of events have defaults. */
export interface EndpointSpec {
  readonly receiver: Pick<Receiver, 'url'>
  readonly secrets?: readonly string[]
  readonly types?: readonly WebhookType[]
}

/**
 * Starts the objects of endpoints over a real database and to real receivers, with a clock that the
 * test moves. All endpoints are registered before the first event.
 */
export async function startHarness(...specs: readonly EndpointSpec[]) {
  const { sqlite, connect } = openSqliteD1()
  const db = writable(connect(async (work) => work()))
  const clock = createVirtualClock(1_700_000_000_000)
  const lines: string[] = []
  const logger = createLogger((line) => lines.push(line))
  const endpoints = specs.map(toEndpoint)
  const hosts = endpoints.map(() => createMemoryHost())
  const alarms = () => createAlarms({ db, clock, logger })
  const open = (n = 1, changes: Partial<EndpointParts> = {}) =>
    createEndpoint({
      db,
      endpoints,
      clock,
      logger,
      fetch,
      host: at(hosts, n),
      alarms: alarms(),
      cell: null,
      writeBody: (event) => JSON.stringify(eventItem(event, currencies, jsonAmount)),
      configMatchesData: async () => true,
      ...changes,
    })
  const run = async (n = 1, instance = open(n)) => {
    const host = at(hosts, n)
    while (host.alarmAt !== null && host.alarmAt <= clock.now()) {
      host.alarmAt = null
      await instance.alarm()
    }
  }
  await registerEndpoints(db, endpoints, clock.now())
  return {
    db,
    clock,
    lines,
    endpoints,
    ...look(sqlite),
    /** A new instance of the n-th object, with empty memory. `changes` replace its parts. */
    open,
    run,
    /** The storage and the alarm of the n-th object. */
    host: (n = 1) => at(hosts, n),
    /** Stores `count` events. */
    happen: async (count: number) => storeEvents(sqlite, count, clock.now()),
    /**
     * Wakes the n-th object as the service does after it has stored events, and runs the object's
     * alarm.
     */
    async wake(n = 1, changes: Partial<EndpointParts> = {}) {
      const instance = open(n, changes)
      await instance.wake(at(endpoints, n).key)
      await run(n, instance)
    },
    /** Checks the endpoints and removes expired events, as each tick of the scanner does. */
    async watch(changes: Partial<WatchEndpointsParts> = {}) {
      const parts = { db, endpoints, eventsKeepDays: 90, clock, wakeEndpoints: () => undefined, ...changes }
      await alarms().observe([await watchEndpoints(parts)])
      await removeExpiredEvents(parts)
    },
    /** The kinds of all alarms that were logged so far, in order. */
    alarms: () => lines.flatMap((line) => (JSON.parse(line) as { alarm?: string }).alarm ?? []),
  }
}

/** The n-th item of a list, from 1. Throws if there is none. */
function at<T>(list: readonly T[], n: number): T {
  const found = list[n - 1]
  if (found === undefined) throw new Error(`no endpoint ${n}`)
  return found
}

function toEndpoint({ receiver, secrets = [firstSecret], types }: EndpointSpec, i: number): WebhookEndpoint {
  const key = (i + 1).toString(16).padStart(64, '0') as EndpointKey // safe: 64 hex digits
  return { key, number: i + 1, url: receiver.url, secrets, types: types === undefined ? null : new Set(types) }
}

type Sqlite = ReturnType<typeof openSqliteD1>['sqlite']

function look(sqlite: Sqlite) {
  return {
    /**
     * Sets the stored position of the n-th endpoint, as an operator does to deliver events again.
     */
    replay: (n: number, position: number) =>
      sqlite.prepare('UPDATE webhook SET position = ? WHERE number = ?').run(position, n),
    row: (n = 1) => ({ ...sqlite.prepare('SELECT * FROM webhook WHERE number = ?').get(n) }),
    /** The kinds of alarms that are raised now. */
    raised: () =>
      sqlite
        .prepare('SELECT kind FROM alarm')
        .all()
        .map(({ kind }) => kind),
    /** The numbers of the events that are still stored. */
    eventIds: () =>
      sqlite
        .prepare('SELECT id FROM event ORDER BY id')
        .all()
        .map(({ id }) => id),
  }
}

/** Posts `count` ledger entries; each makes one event. */
function storeEvents(sqlite: Sqlite, count: number, at: UnixMs): void {
  const { next } = sqlite.prepare('SELECT coalesce(max(id), 0) + 1 AS next FROM event').get() as { next: number }
  const post = sqlite.prepare(`INSERT INTO posting (entries, posted_by, created_at) VALUES (?, 'shop', ?)`)
  for (let i = next; i < next + count; i += 20) {
    const entries = Array.from({ length: Math.min(20, next + count - i) }, (_, k) => ({
      uid: 1,
      cuy: 2,
      type: 5,
      osn: `order-${i + k}`,
      amount: 100,
      mark: '',
    }))
    post.run(JSON.stringify(entries), at)
  }
}

/**
 * Waits until `holds()` is true, and throws after 30 s. It is for what must happen, and cannot show
 * that something does not happen.
 */
export function eventually(holds: () => boolean): Promise<void> {
  return vi.waitFor(
    () => {
      if (!holds()) throw new Error('it has not happened')
    },
    { timeout: 30_000, interval: 5 },
  )
}
