import type { Alarms } from '../alarms/alarms.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { eventsMax, type StoredEvent } from '../events/event.ts'
import { selectEvents } from '../events/events.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { isDelivered, type SendParts, sendWebhook } from './deliver-event.ts'
import type { WebhookEndpoint } from './endpoint.ts'
import { type EndpointProgress, registerEndpoints, selectEndpoint, storeProgress } from './endpoint-state.ts'
import { retryAfterMs, setAsideMs } from './schedule.ts'

/** The position is stored after this many events and this long: what is delivered again where the object is killed. */
const recordedMax = 20
const recordEveryMs = 1_000
/** Limits of one run, which another one follows at once. An invocation may make 10,000 requests and last 15 minutes. */
const runMs = 60_000
const runPagesMax = 40
/** When to look again at a position that another instance or an operator has moved. */
const overlapMs = 5_000

/** What delivering to an endpoint needs. */
export interface DeliverParts extends SendParts {
  readonly db: WriteDatabase
  readonly endpoints: readonly WebhookEndpoint[]
  /** The body of an event, as the feed shows it. */
  readonly writeBody: (event: StoredEvent) => string
  readonly clock: Clock
  readonly logger: Logger
  readonly alarms: Pick<Alarms, 'raise'>
}

/**
 * Delivers the next events to an endpoint, in order, up to the first failure. They are read, and the position is
 * stored, many at a time. Returns when to go on, or null: once there are new events.
 */
export async function deliverEvents(parts: DeliverParts, endpoint: WebhookEndpoint): Promise<UnixMs | null> {
  const { db, clock, endpoints } = parts
  const { key } = endpoint
  const startedAt = clock.now()
  let state: EndpointProgress | null = await selectEndpoint(db, key)
  if (state === null) {
    await registerEndpoints(db, endpoints, startedAt) // it begins with the next event
    return null
  }
  if (state.nextTry > startedAt) return state.nextTry
  for (let page = 0; page < runPagesMax; page += 1) {
    const events = await selectEvents(db, state.position, eventsMax)
    for (let rest = events; rest.length > 0; ) {
      const after = await deliverSome(parts, endpoint, rest, state)
      if (!(await storeProgress(db, key, state.position, after))) return (clock.now() + overlapMs) as UnixMs
      if (after.attempts > 0) return after.nextTry
      if (clock.now() - startedAt >= runMs) return clock.now()
      rest = rest.filter(({ id }) => id > after.position)
      state = after
    }
    if (events.length < eventsMax) return null
  }
  return clock.now()
}

/** Delivers the first of these events, until one fails or the position must be stored. */
async function deliverSome(
  parts: DeliverParts,
  endpoint: WebhookEndpoint,
  events: readonly StoredEvent[],
  before: EndpointProgress,
): Promise<EndpointProgress> {
  const startedAt = parts.clock.now()
  let progress = before
  let sent = 0
  for (const event of events) {
    if (endpoint.types !== null && !endpoint.types.has(event.fact.type)) {
      progress = { ...progress, position: event.id }
      continue
    }
    progress = await deliver(parts, endpoint, event, progress)
    sent += 1
    if (progress.attempts > 0 || sent >= recordedMax || parts.clock.now() - startedAt >= recordEveryMs) break
  }
  return progress
}

/** Delivers one event. The progress after it has `attempts` where it failed and is not put aside. */
async function deliver(
  parts: DeliverParts,
  endpoint: WebhookEndpoint,
  event: StoredEvent,
  before: EndpointProgress,
): Promise<EndpointProgress> {
  const { clock, logger, alarms } = parts
  const { key, number } = endpoint
  // With the time: after a restore of the database, another event can have the number.
  const id = `evt_${event.id}_${event.createdAt}`
  const answer = await sendWebhook(parts, endpoint, { id, body: parts.writeBody(event) })
  const now = clock.now()
  const after = { position: event.id, attempts: 0, failingSince: null, nextTry: now, lastFailure: null }
  if (isDelivered(answer)) return { ...after, setAside: null }
  const attempts = before.attempts + 1
  const failingSince = before.failingSince ?? now
  const fields = { endpoint: number, eventId: event.id, attempts, answer }
  logger.warn('webhook-failed', fields)
  if (now - failingSince >= setAsideMs) {
    await alarms.raise('event-set-aside', `${key}:${event.id}`, fields)
    return { ...after, setAside: event.id }
  }
  const nextTry = (now + retryAfterMs(attempts, clock.random())) as UnixMs // safe: a later time
  return { ...before, attempts, failingSince, nextTry, lastFailure: String(answer) }
}
