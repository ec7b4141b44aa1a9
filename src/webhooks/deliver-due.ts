import type { UnixMs } from '../common/time.ts'
import type { StoredEvent } from '../events/event.ts'
import type { EventReader } from '../events/event-store.ts'
import type { Alarms } from '../platform/alarms.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { answerMs, isDelivered, type SendParts, sendWebhook } from './deliver-event.ts'
import type { Endpoint } from './endpoint.ts'
import { retryAfterMs, setAsideMs } from './schedule.ts'
import type { Progress, WebhookStore } from './webhook-store.ts'

/** How long the lease of an endpoint lasts from its last delivery on: longer than an answer can take. */
const deliveryLeaseMs = 20_000
/** Events that are read at once. */
const turnMax = 50

/** What delivering to an endpoint needs. */
export interface DeliverDueParts extends SendParts {
  readonly webhookStore: Pick<WebhookStore, 'take' | 'keep' | 'release'>
  readonly events: EventReader
  /** The body of an event, as the feed shows it. */
  readonly writeBody: (event: StoredEvent) => string
  readonly clock: Clock
  readonly logger: Logger
  readonly alarms: Alarms
  /** Unique name of this invocation. */
  readonly lease: string
}

/** What is left to an endpoint in one minute, and what it got. */
export interface DeliveryBudget {
  /** Database queries that are left: a delivery takes one, and a turn three at most. */
  queries: number
  /** Requests that were sent. */
  sent: number
}

/** What a turn of an endpoint has. */
export interface Turn {
  /** No delivery begins from then on. */
  readonly until: UnixMs
  /** What the endpoint has left in this minute. */
  readonly budget: DeliveryBudget
}

/**
 * Delivers the next events to an endpoint, in order, up to the first failure. Each success is stored before the next event is
 * sent, so that an invocation that is killed repeats one event at most, with the same id. Returns when the endpoint has another
 * turn; null: once there are new events.
 */
export async function deliverDue(parts: DeliverDueParts, endpoint: Endpoint, turn: Turn): Promise<UnixMs | null> {
  const { webhookStore, clock, lease } = parts
  const { key, types } = endpoint
  const { budget } = turn
  const startedAt = clock.now()
  let leasedUntil = (startedAt + deliveryLeaseMs) as UnixMs // safe: a later time
  budget.queries -= 1
  const state = await webhookStore.take(key, lease, startedAt, leasedUntil)
  if (state === null) return null
  let progress: Progress = state
  budget.queries -= 2 // reading the events, and the end of the turn
  const events = await parts.events.after(state.position, turnMax)
  let isEnded = false
  for (const event of events) {
    if (types !== null && !types.has(event.fact.type)) {
      progress = { ...progress, position: event.id }
      continue
    }
    const sentAt = clock.now()
    // Where the database was slow, another invocation could have the lease before the answer.
    isEnded = sentAt >= turn.until || sentAt + answerMs > leasedUntil || budget.queries <= 0
    if (isEnded) break
    budget.queries -= 1
    budget.sent += 1
    const next = await deliver(parts, endpoint, event, progress)
    if (next.attempts > 0) {
      await webhookStore.release(key, lease, next)
      return next.nextTry
    }
    progress = next
    leasedUntil = (clock.now() + deliveryLeaseMs) as UnixMs // safe: a later time
    // An operator has set another position, or the lease was taken over.
    if (!(await webhookStore.keep(key, lease, { ...progress, nextTry: leasedUntil }))) return null
  }
  const nextTry = clock.now()
  await webhookStore.release(key, lease, { ...progress, nextTry })
  return isEnded || events.length === turnMax ? nextTry : null
}

/** Delivers one event; the progress after it has `attempts` where it failed and is not put aside. */
async function deliver(
  parts: DeliverDueParts,
  endpoint: Endpoint,
  event: StoredEvent,
  before: Progress,
): Promise<Progress> {
  const { clock, logger, alarms } = parts
  const { key, number } = endpoint
  // With the time: after a restore of the database, another event can have the number.
  const id = `evt_${event.id}_${event.createdAt}`
  const answer = await sendWebhook(parts, endpoint, { id, body: parts.writeBody(event) })
  const now = clock.now()
  const after = { position: event.id, attempts: 0, failingSince: null, nextTry: now }
  if (isDelivered(answer)) {
    if (before.setAside !== null) await alarms.clear('webhook-failing', key)
    return { ...after, setAside: null }
  }
  const attempts = before.attempts + 1
  const failingSince = before.failingSince ?? now
  logger.warn('webhook-failed', { endpoint: number, eventId: event.id, attempts, answer })
  if (now - failingSince >= setAsideMs) {
    // The first one since it was healthy: an alarm that is still raised is of an endpoint that was removed and is configured again.
    if (before.setAside === null) await alarms.clear('webhook-failing', key)
    await alarms.raise('webhook-failing', key, { endpoint: number, eventId: event.id, attempts })
    return { ...after, setAside: event.id }
  }
  const nextTry = (now + retryAfterMs(attempts, clock.random())) as UnixMs
  return { ...before, attempts, failingSince, nextTry }
}
