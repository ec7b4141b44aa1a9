import type { Alarms, Fault } from '../alarms/alarms.ts'
import type { EndpointKey } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { type ReadDatabase, statement, type WriteDatabase } from '../d1/database.ts'
import { removeOldEvents } from '../events/events.ts'
import type { Clock } from '../platform/clock.ts'
import type { WebhookEndpoint } from './endpoint-state.ts'

const dayMs = 86_400_000
/** An endpoint that fails for this long raises an alarm. */
const failingAfterMs = 3_600_000
/** So does one that lacks an event of this age. */
const behindAfterMs = 600_000
/** And one that lacks an event that has existed for this part of `EVENTS_KEEP_DAYS`. */
const expiringPart = 0.8
/** Old events are removed this many at once, and so often in one tick. */
const removedMax = 1_000
const removalsMax = 20

const endpointFaultKinds = ['endpoint-failing', 'endpoint-behind', 'events-expiring'] as const
type EndpointFaultKind = (typeof endpointFaultKinds)[number]

/** How far a configured endpoint is behind. */
export interface EndpointDelay {
  readonly key: EndpointKey
  /** Its place in `WEBHOOKS`, from 1. */
  readonly number: number
  /** When the oldest event that it lacks was stored; null where it lacks none. */
  readonly waitingSince: UnixMs | null
  /** Since when it fails, and why, in a word; null where it does not. */
  readonly failingSince: UnixMs | null
  readonly lastFailure: string | null
  /** No delivery before. */
  readonly nextTry: UnixMs
}

const selectDelays = statement(`
SELECT endpoint AS key, number, failing_since AS failingSince, last_failure AS lastFailure,
  next_try AS nextTry, (SELECT created_at FROM event WHERE id > webhook.position ORDER BY id LIMIT 1) AS waitingSince
FROM webhook WHERE endpoint IN (SELECT value FROM json_each(:keys)) ORDER BY number`)

/** The configured endpoints, each with the oldest event that it lacks. */
export async function selectEndpointDelays(
  db: ReadDatabase,
  endpoints: readonly Pick<WebhookEndpoint, 'key'>[],
): Promise<readonly EndpointDelay[]> {
  if (endpoints.length === 0) return []
  const keys = JSON.stringify(endpoints.map(({ key }) => key))
  return (await selectDelays(db, { keys }).all<EndpointDelay>()).results
}

/** What the watch over endpoints needs. */
export interface WatchEndpointsParts {
  readonly db: WriteDatabase
  readonly endpoints: readonly WebhookEndpoint[]
  readonly eventsKeepDays: number
  readonly clock: Pick<Clock, 'now'>
  readonly alarms: Pick<Alarms, 'settle'>
  /** Makes each endpoint look for new events. */
  wakeEndpoints(): void
}

/**
 * Raises the alarms about endpoints that fail, are behind, or will lose events, and ends those of the others. Wakes
 * them where one lacks an event that is due: the call after a commit, or its alarm, can have been lost. Then it removes the
 * events that are older than `eventsKeepDays`, also where an endpoint lacks them.
 */
export async function watchEndpoints(parts: WatchEndpointsParts): Promise<void> {
  const { db, alarms } = parts
  const now = parts.clock.now()
  const keepMs = parts.eventsKeepDays * dayMs
  const delays = await selectEndpointDelays(db, parts.endpoints)
  await alarms.settle(endpointFaultKinds, endpointFaults(delays, now, keepMs))
  if (delays.some(({ waitingSince, nextTry }) => waitingSince !== null && nextTry <= now)) parts.wakeEndpoints()
  const before = (now - keepMs) as UnixMs // safe: an earlier time
  for (let i = 0; i < removalsMax; i += 1) if ((await removeOldEvents(db, before, removedMax)) < removedMax) return
}

/** What is wrong with endpoints. Their URLs are in no line. */
export function endpointFaults(delays: readonly EndpointDelay[], now: UnixMs, keepMs: number): readonly Fault[] {
  return delays.flatMap(({ number: endpoint, waitingSince, failingSince, lastFailure }) => {
    const why = lastFailure ?? 'it takes events too slowly'
    const faultAfter = (ms: number, since: UnixMs | null, kind: EndpointFaultKind): Fault[] => {
      const lasted = now - (since ?? now)
      return lasted < ms
        ? []
        : [{ kind, subject: { endpoint }, fields: { endpoint, seconds: Math.floor(lasted / 1000), why } }]
    }
    return [
      ...faultAfter(failingAfterMs, failingSince, 'endpoint-failing'),
      ...faultAfter(behindAfterMs, waitingSince, 'endpoint-behind'),
      ...faultAfter(keepMs * expiringPart, waitingSince, 'events-expiring'),
    ]
  })
}
