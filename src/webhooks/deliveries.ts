import type { UnixMs } from '../common/time.ts'
import { endpointQueriesMax, minuteDeliveryQueriesMax, minuteMs } from '../platform/limits.ts'
import { type DeliverDueParts, deliverDue } from './deliver-due.ts'
import type { Endpoint } from './endpoint.ts'
import { createSignal, type Signal } from './signal.ts'
import type { WebhookStore } from './webhook-store.ts'

/** Resolves with the count of notifications once it is more than `seen`, or with null where there is no further one. */
export type NextEvents = Signal['next']

/** What an invocation that delivers to one endpoint is given. */
export interface EndpointTask {
  readonly number: Endpoint['number']
  /** No delivery before. */
  readonly nextTry: UnixMs
  /** Database queries that it may use. */
  readonly queries: number
}

/**
 * Starts an invocation that delivers to one endpoint (`deliverToEndpoint`). It has connections of its own, of which the
 * platform limits the number in each invocation.
 */
export type StartEndpoint = (task: EndpointTask, nextEvents: NextEvents) => Promise<void>

/** What the deliveries of one minute need. */
export interface DeliveriesParts extends Pick<DeliverDueParts, 'logger'> {
  readonly endpoints: readonly Endpoint[]
  readonly webhookStore: Pick<WebhookStore, 'register'>
  readonly startEndpoint: StartEndpoint
  /** Whether the stored data means what the configuration says: otherwise nothing is delivered. */
  readonly hasStoredMeaning: () => Promise<boolean>
}

/** The deliveries of one invocation of the cron. */
export interface Deliveries {
  /** New events may be stored: endpoints that have got all others look for them. */
  readonly notify: () => void
  /** There will be no further call of `notify`. */
  readonly end: () => void
  /** Resolves when every endpoint has got what it could within the minute. It never rejects. */
  readonly finished: Promise<void>
}

/**
 * Starts an invocation for each endpoint, so that no failure, hang or backlog of one delays another one or a scan. No delivery
 * begins after the cron's minute, when the next invocation of the cron has begun.
 */
export function startDeliveries(parts: DeliveriesParts): Deliveries {
  const newEvents = createSignal()
  return { notify: newEvents.notify, end: newEvents.close, finished: startAll(parts, newEvents.next) }
}

async function startAll(parts: DeliveriesParts, nextEvents: NextEvents): Promise<void> {
  const { logger, endpoints } = parts
  const queries = Math.min(endpointQueriesMax, Math.floor(minuteDeliveryQueriesMax / endpoints.length))
  const crashed = (endpoint: number | null) => (thrown: unknown) => {
    logger.error('webhooks-crashed', { endpoint, why: thrown instanceof Error ? thrown.message : String(thrown) })
  }
  try {
    if (!(await parts.hasStoredMeaning())) return
    const states = new Map((await parts.webhookStore.register(endpoints)).map((state) => [state.key, state]))
    const ends = endpoints.map(async ({ key, number }) => {
      const nextTry = states.get(key)?.nextTry
      if (nextTry === undefined) return // removed meanwhile, by a deployment without it
      await parts.startEndpoint({ number, nextTry, queries }, nextEvents).catch(crashed(number))
    })
    await Promise.all(ends)
  } catch (thrown) {
    crashed(null)(thrown)
  }
}

/** Delivers to one endpoint, turn by turn, until there is no further event within the minute. */
export async function deliverToEndpoint(
  parts: DeliverDueParts,
  endpoint: Endpoint,
  { nextTry, queries }: Omit<EndpointTask, 'number'>,
  nextEvents: NextEvents,
): Promise<void> {
  const { clock, logger } = parts
  const until = (clock.now() + minuteMs) as UnixMs // safe: a later time
  const budget = { queries, sent: 0 }
  let dueAt: UnixMs | null = nextTry
  let seen = 0
  try {
    while (clock.now() < until && budget.queries > 0) {
      if (dueAt === null) {
        const count = await nextEvents(seen)
        if (count === null) return
        seen = count
      } else if (dueAt >= until) return
      else if (dueAt > clock.now()) {
        await clock.sleep(dueAt - clock.now())
        continue // a timer can end too early
      }
      dueAt = await deliverDue(parts, endpoint, { until, budget })
    }
  } finally {
    if (budget.sent > 0) logger.info('webhooks', { endpoint: endpoint.number, sent: budget.sent })
  }
}
