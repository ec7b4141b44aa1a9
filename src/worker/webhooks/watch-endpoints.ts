import type { Fault, Observation } from '../alarms/alarms.ts'
import type { UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { removeOldEvents } from '../events/store/events.ts'
import type { Clock } from '../platform/clock.ts'
import { isBackingOff } from './deliver-events.ts'
import {
  isRegistered,
  registerEndpoints,
  type StoredEndpoint,
  selectEndpoints,
  type WebhookEndpoint,
} from './store/endpoint-state.ts'

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

const endpointAlarms = ['endpoint-failing', 'endpoint-behind', 'events-expiring'] as const

/** What the watch over endpoints needs. */
export interface WatchEndpointsParts {
  readonly db: WriteDatabase
  readonly endpoints: readonly WebhookEndpoint[]
  readonly eventsKeepDays: number
  readonly clock: Pick<Clock, 'now'>
  /** Makes the endpoints that lack an event look for it. */
  wakeEndpoints(): void
}

/**
 * Stores the endpoints of this deployment, before the first event that they get. Wakes them where one lacks an event that is due:
 * the call after a commit, or its alarm, can have been lost. It is one statement if all is as before, and none without endpoints.
 * @returns what is wrong with them
 */
export async function watchEndpoints(parts: WatchEndpointsParts): Promise<Observation> {
  const { db, endpoints } = parts
  if (endpoints.length === 0) return { kinds: endpointAlarms, faults: [] }
  const now = parts.clock.now()
  const stored = await selectEndpoints(db)
  if (!isRegistered(stored, endpoints, now)) await registerEndpoints(db, endpoints, now)
  const known = ofDeployment(stored, endpoints)
  if (known.some((one) => isWaiting(one, now))) parts.wakeEndpoints()
  return { kinds: endpointAlarms, faults: endpointFaults(known, now, parts.eventsKeepDays * dayMs) }
}

/** The endpoints that lack an event which is due. It is one statement, and none without endpoints. */
export async function selectWaiting({
  db,
  endpoints,
  clock,
}: Pick<WatchEndpointsParts, 'db' | 'endpoints' | 'clock'>): Promise<readonly StoredEndpoint[]> {
  if (endpoints.length === 0) return []
  return ofDeployment(await selectEndpoints(db), endpoints).filter((one) => isWaiting(one, clock.now()))
}

const isWaiting = (endpoint: StoredEndpoint, now: UnixMs) =>
  endpoint.waitingSince !== null && !isBackingOff(endpoint, now)

/** The stored endpoints that a deployment has. */
export function ofDeployment(
  stored: readonly StoredEndpoint[],
  endpoints: readonly Pick<WebhookEndpoint, 'key'>[],
): readonly StoredEndpoint[] {
  return stored.filter((one) => endpoints.some(({ key }) => key === one.key))
}

/** Removes the events that are older than `eventsKeepDays`, also where an endpoint lacks them. */
export async function removeExpiredEvents({
  db,
  clock,
  eventsKeepDays,
}: Pick<WatchEndpointsParts, 'db' | 'clock' | 'eventsKeepDays'>): Promise<void> {
  const before = (clock.now() - eventsKeepDays * dayMs) as UnixMs // safe: an earlier time
  for (let i = 0; i < removalsMax; i += 1) if ((await removeOldEvents(db, before, removedMax)) < removedMax) return
}

/** What is wrong with endpoints. Their URLs are in no line. */
export function endpointFaults(endpoints: readonly StoredEndpoint[], now: UnixMs, keepMs: number): readonly Fault[] {
  return endpoints.flatMap(({ number: endpoint, waitingSince, failingSince, lastFailure }) => {
    const why = lastFailure ?? 'it takes events too slowly'
    const faultAfter = (ms: number, since: UnixMs | null, kind: (typeof endpointAlarms)[number]): Fault[] => {
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
