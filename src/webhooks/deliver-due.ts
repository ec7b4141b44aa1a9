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
/** Events that are read at once, and delivered before other endpoints that wait for a connection get theirs. */
const turnMax = 20
/** An answer that takes longer makes the endpoint a slow one. */
const slowMs = 1_000

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
  /** Deliveries that this invocation has left. */
  readonly budget: { left: number }
}

/** How a turn of an endpoint ended: when it has another one (null: once there are new events), and whether it is well. */
export interface TurnEnd {
  readonly nextTry: UnixMs | null
  readonly isWell: boolean
}

/**
 * Delivers the next events to an endpoint, in order, up to the first failure. Each success is stored before the next event is
 * sent, so that an invocation that is killed repeats one event at most, with the same id.
 */
export async function deliverDue(parts: DeliverDueParts, endpoint: Endpoint): Promise<TurnEnd> {
  const { webhookStore, clock, lease } = parts
  const { key, types } = endpoint
  const leaseEnd = () => (clock.now() + deliveryLeaseMs) as UnixMs
  let heldUntil = leaseEnd()
  const state = await webhookStore.take(key, lease, clock.now(), heldUntil)
  if (state === null) return { nextTry: null, isWell: true }
  let progress: Progress = state
  let isSlow = false
  const events = await parts.events.after(state.position, turnMax)
  for (const event of events) {
    if (types !== null && !types.has(event.fact.type)) {
      progress = { ...progress, position: event.id }
      continue
    }
    // Where the database was slow, another invocation could have the lease before the answer.
    if (parts.budget.left <= 0 || clock.now() + answerMs > heldUntil) break
    parts.budget.left -= 1
    const sentAt = clock.now()
    const next = await deliver(parts, endpoint, event, progress)
    isSlow ||= clock.now() - sentAt > slowMs
    if (next.attempts > 0) {
      await webhookStore.release(key, lease, next)
      return { nextTry: next.nextTry, isWell: false }
    }
    progress = next
    heldUntil = leaseEnd()
    if (!(await webhookStore.keep(key, lease, { ...progress, nextTry: heldUntil }))) {
      return { nextTry: null, isWell: true } // an operator has set another position, or the lease was taken over
    }
  }
  await webhookStore.release(key, lease, { ...progress, nextTry: clock.now() })
  const isMore = events.length === turnMax && parts.budget.left > 0
  return { nextTry: isMore ? clock.now() : null, isWell: progress.attempts === 0 && !isSlow }
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
    await alarms.raise('webhook-failing', key, { endpoint: number, eventId: event.id, attempts })
    return { ...after, setAside: event.id }
  }
  const nextTry = (now + retryAfterMs(attempts, clock.random())) as UnixMs
  return { ...before, attempts, failingSince, nextTry }
}
