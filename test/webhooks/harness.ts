import { vi } from 'vitest'
import type { EndpointKey } from '../../src/common/ids.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createAlarmStore } from '../../src/d1/alarm-store.ts'
import { createStores } from '../../src/d1/stores.ts'
import type { EventType } from '../../src/events/event.ts'
import { eventItem } from '../../src/events/event-item.ts'
import { jsonAmount } from '../../src/http/envelope.ts'
import { createAlarms } from '../../src/platform/alarms.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { type DeliverDueParts, deliverDue } from '../../src/webhooks/deliver-due.ts'
import { type Deliveries, deliverToEndpoint, startDeliveries } from '../../src/webhooks/deliveries.ts'
import type { Endpoint } from '../../src/webhooks/endpoint.ts'
import type { WebhookStore } from '../../src/webhooks/webhook-store.ts'
import { deposit, issue, startScan, txid } from '../d1/fixtures.ts'
import { currencies } from '../support/currencies.ts'
import { openSqliteD1 } from '../support/sqlite-d1.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import type { Receiver } from './receiver.ts'

/** Two secrets of the right form. */
export const firstSecret = `whsec_${btoa('a'.repeat(24))}`
export const secondSecret = `whsec_${btoa('b'.repeat(64))}`

/** Deliveries over a real database to real receivers, at a time that a test moves. */
export interface WebhookHarness {
  readonly clock: ManualClock
  readonly lines: string[]
  readonly endpoints: readonly Endpoint[]
  /** Stores events: so many credited deposits. */
  happen(count: number): Promise<void>
  /** One turn of the n-th endpoint. `changes` replace parts, as in an invocation that is killed. */
  turn(n?: number, changes?: Partial<DeliverDueParts>): Promise<UnixMs | null>
  /** The deliveries of one minute. */
  start(): Deliveries
  /** Sets the n-th endpoint to a position, as `npm run webhooks -- replay` does, or further. */
  replay(n: number, position: number): void
  /** The stored row of the n-th endpoint. */
  row(n?: number): Record<string, unknown>
  /** The stores of deliveries. */
  readonly webhookStore: WebhookStore
}

/** An endpoint of a receiver, with changes. */
export interface EndpointSpec {
  readonly receiver: Pick<Receiver, 'url'>
  readonly secrets?: readonly string[]
  readonly types?: readonly EventType[]
}

/** Endpoints over an empty database; each begins with the next event. */
export async function startHarness(...specs: readonly EndpointSpec[]): Promise<WebhookHarness> {
  const store = openSqliteD1()
  const db = store.connect(async (work) => work())
  const stores = createStores(db, () => undefined)
  await issue(db, [1])
  await startScan(stores.scanStore)
  const clock = createManualClock(1_790_000_000_000)
  const lines: string[] = []
  const logger = createLogger((line) => lines.push(line))
  const endpoints = specs.map(({ receiver, secrets = [firstSecret], types }, i): Endpoint => {
    const key = (i + 1).toString(16).padStart(64, '0') as EndpointKey // as long as a hash
    return { key, number: i + 1, url: receiver.url, secrets, types: types === undefined ? null : new Set(types) }
  })
  let leases = 0
  let stored = 0
  const parts = (): DeliverDueParts => ({
    ...stores,
    clock,
    logger,
    alarms: createAlarms({ store: createAlarmStore(db), clock, logger }),
    fetch: limitedFetch(),
    writeBody: (event) => JSON.stringify(eventItem(event, currencies, jsonAmount)),
    lease: `lease ${++leases}`,
  })
  const endpointOf = (n: number): Endpoint => {
    const endpoint = endpoints[n - 1]
    if (endpoint === undefined) throw new Error(`no endpoint ${n}`)
    return endpoint
  }
  await stores.webhookStore.register(endpoints)
  return {
    clock,
    lines,
    endpoints,
    webhookStore: stores.webhookStore,
    async happen(count) {
      const list = Array.from({ length: count }, () => deposit({ txid: txid(++stored) }))
      await stores.deposits.credit(list, clock.now())
    },
    turn: (n = 1, changes = {}) => {
      const turn = { until: (clock.now() + 60_000) as UnixMs, budget: { queries: 1000, sent: 0 } }
      return deliverDue({ ...parts(), ...changes }, endpointOf(n), turn)
    },
    start: () =>
      startDeliveries({
        ...{ logger, endpoints, webhookStore: stores.webhookStore },
        startEndpoint: (task, nextEvents) => deliverToEndpoint(parts(), endpointOf(task.number), task, nextEvents),
        hasStoredMeaning: async () => true,
      }),
    replay: (n, position) => {
      store.sqlite.prepare('UPDATE webhook SET position = ? WHERE number = ?').run(position, n)
    },
    row: (n = 1) => ({ ...store.sqlite.prepare('SELECT * FROM webhook WHERE number = ?').get(n) }),
  }
}

/** The network of one invocation: the platform lets it have six requests without an answer at a time. */
function limitedFetch(): typeof fetch {
  let open = 0
  const waiting: (() => void)[] = []
  return async (url, init) => {
    if (open === 6) await new Promise<void>((start) => waiting.push(start))
    open += 1
    try {
      return await fetch(url, init)
    } finally {
      open -= 1
      waiting.shift()?.()
    }
  }
}

/** Waits until a condition holds; it is that of something which always happens. */
export function eventually(holds: () => boolean): Promise<void> {
  return vi.waitFor(
    () => {
      if (!holds()) throw new Error('it has not happened')
    },
    { timeout: 30_000, interval: 5 },
  )
}
