import { Webhook } from 'standardwebhooks'
import type { Alarms } from '../alarms/alarms.ts'
import { dayMs, isAhead, type UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { eventsMax } from '../events/events.ts'
import { type StoredEvent, selectEvents } from '../events/store/events.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import {
  type EndpointProgress,
  registerEndpoints,
  selectEndpoint,
  storeProgress,
  type WebhookEndpoint,
} from './store/endpoint-state.ts'

/**
 * Milliseconds from an event's first, second … failed delivery to the next attempt. After the fifth
 * failure the last number repeats.
 */
const retriesMs = [5_000, 30_000, 120_000, 600_000, 3_600_000] as const
/**
 * Each pause is longer or shorter by up to this share, so that endpoints are not all tried at once.
 */
const spread = 0.2

/**
 * An event whose delivery has failed for this long is set aside: it is not delivered any more, and
 * the next event is tried.
 */
export const setAsideMs = 3 * dayMs

/**
 * Milliseconds from the n-th failed delivery of an event to its next try. `random` is in [0, 1).
 */
export function retryAfterMs(attempts: number, random: number): number {
  const ms = retriesMs[Math.min(attempts, retriesMs.length) - 1] ?? retriesMs[0]
  return Math.round(ms * (1 - spread + 2 * spread * random))
}

/**
 * Whether an endpoint has failed and waits for its next attempt. A next attempt too far in the
 * future comes from a clock that has stepped back.
 */
export function isBackingOff(
  { attempts, nextTry }: Pick<EndpointProgress, 'attempts' | 'nextTry'>,
  now: UnixMs,
): boolean {
  return isAhead(nextTry, retryAfterMs(attempts, 1), now)
}

/**
 * The endpoint's position is stored after this many delivered events, or after this long. If the
 * object is killed, only events since then are sent again.
 */
const recordedMax = 20
const recordEveryMs = 1_000
/**
 * Limits of one run, far below the platform's for an invocation (10,000 requests, 15 minutes). If
 * events are left, the next run follows at once.
 */
const runMs = 60_000
const runPagesMax = 40
/**
 * Pause after a position could not be stored, because another instance or an operator has moved it.
 */
const overlapMs = 5_000

export interface DeliverParts extends SendParts {
  readonly db: WriteDatabase
  readonly endpoints: readonly WebhookEndpoint[]
  /**
   * The number of the cell whose events are delivered; null if the deployment has only one cell.
   */
  readonly cell: number | null
  /** The body of an event, as the feed shows it. */
  readonly writeBody: (event: StoredEvent) => string
  readonly clock: Clock
  readonly logger: Logger
  readonly alarms: Pick<Alarms, 'raise'>
}

/**
 * Delivers events to an endpoint, in order, until one fails or the limits of a run are reached.
 * Returns when to call this again; null if no event waits.
 */
export async function deliverEvents(parts: DeliverParts, endpoint: WebhookEndpoint): Promise<UnixMs | null> {
  const { db, clock, endpoints } = parts
  const { key, types } = endpoint
  const startedAt = clock.now()
  let stored = await selectEndpoint(db, key)
  if (stored === null) {
    await registerEndpoints(db, endpoints, startedAt) // a new endpoint gets only events that come later
    return null
  }
  if (isBackingOff(stored, startedAt)) return stored.nextTry
  for (let page = 0; page < runPagesMax; page += 1) {
    const events = await selectEvents(db, stored.position, eventsMax)
    let progress: EndpointProgress = stored
    let [sent, storedAt] = [0, clock.now()]
    for (const event of events) {
      const isWanted = types === null || types.has(event.type)
      progress = isWanted
        ? await deliver(parts, endpoint, event, progress)
        : { ...progress, ...noFailure, position: event.id }
      if (isWanted) sent += 1
      const isRecorded = progress.attempts > 0 || sent >= recordedMax || clock.now() - storedAt >= recordEveryMs
      if (!isRecorded && event !== events.at(-1)) continue
      if (!(await storeProgress(db, key, stored.position, progress))) return (clock.now() + overlapMs) as UnixMs
      if (progress.attempts > 0) return progress.nextTry
      if (clock.now() - startedAt >= runMs) return clock.now()
      stored = progress
      ;[sent, storedAt] = [0, clock.now()]
    }
    if (events.length < eventsMax) return null
  }
  return clock.now()
}

/** The part of an endpoint's progress that a success resets. */
const noFailure = { attempts: 0, failingSince: null, lastFailure: null, nextTry: 0 as UnixMs } as const

/**
 * Delivers one event. Returns the new progress: `attempts` is above 0 if the event failed and was
 * not set aside.
 */
async function deliver(
  parts: DeliverParts,
  endpoint: WebhookEndpoint,
  event: StoredEvent,
  before: EndpointProgress,
): Promise<EndpointProgress> {
  const { clock, logger, alarms } = parts
  const { number } = endpoint
  // The number alone is not unique: after a restore of the database another event may get it, and
  // each cell counts its own events. So add time and cell.
  const id = `evt_${event.id}_${event.created_at}${parts.cell === null ? '' : `_${parts.cell}`}`
  const answer = await sendWebhook(parts, endpoint, { id, body: parts.writeBody(event) })
  const now = clock.now()
  const after = { ...noFailure, position: event.id }
  if (isDelivered(answer)) return { ...after, setAside: null }
  const attempts = before.attempts + 1
  const failingSince = before.failingSince ?? now
  const fields = { endpoint: number, eventId: event.id, attempts, answer }
  logger.warn('webhook-failed', fields)
  // The failures may have begun with an earlier event, which was removed because it was old. So
  // this event must itself be that old, too.
  if (now - Math.max(failingSince, event.created_at) >= setAsideMs) {
    await alarms.raise('event-set-aside', { endpoint: number, event: event.id }, fields)
    return { ...after, setAside: event.id }
  }
  const nextTry = (now + retryAfterMs(attempts, clock.random())) as UnixMs // safe: a later time
  return { ...before, attempts, failingSince, nextTry, lastFailure: String(answer) }
}

/** Time limit for an endpoint's answer, in milliseconds. */
export const answerMs = 10_000

export interface SendParts {
  readonly fetch: typeof fetch
  readonly clock: Pick<Clock, 'now' | 'sleep'>
}

/** The status that an endpoint answered, or why there was no answer. */
type EndpointAnswer = number | 'no-answer-in-time' | 'unreachable'

/**
 * Whether the endpoint has accepted the message. A redirect is a failure, because another host
 * could receive the message.
 */
export function isDelivered(answer: EndpointAnswer): boolean {
  return typeof answer === 'number' && answer >= 200 && answer <= 299
}

/**
 * Sends a message, signed as Standard Webhooks requires with each secret of the endpoint. `id` is
 * the same in each delivery of an event. It never throws, and ends the request after `answerMs`.
 */
export async function sendWebhook(
  { fetch, clock }: SendParts,
  { url, secrets }: Pick<WebhookEndpoint, 'url' | 'secrets'>,
  { id, body }: { readonly id: string; readonly body: string },
): Promise<EndpointAnswer> {
  const now = clock.now()
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, new Date(now), body)).join(' '),
  }
  const end = new AbortController()
  const answer = post(fetch, url, { method: 'POST', headers, body, redirect: 'manual', signal: end.signal })
  const tooLate = clock.sleep(answerMs, end.signal).then(() => 'no-answer-in-time' as const)
  const first = await Promise.race([answer, tooLate])
  end.abort(null) // ends whichever still runs: the request or the timer
  return first
}

async function post(send: typeof fetch, url: string, init: RequestInit): Promise<EndpointAnswer> {
  try {
    const response = await send(url, init)
    await response.body?.cancel()
    return response.status
  } catch {
    return 'unreachable'
  }
}
