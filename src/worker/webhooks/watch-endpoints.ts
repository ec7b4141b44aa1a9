import { dayMs, type UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import { removeOldEvents } from '../events/store/events.ts'
import type { Clock } from '../platform/clock.ts'
import type { Fault, Observation } from '../platform/observation.ts'
import { isBackingOff } from './deliver-events.ts'
import { dueNotes, type Notes, readNotes } from './deliver-note.ts'
import {
  isRegistered,
  registerEndpoints,
  type StoredEndpoint,
  selectEndpoints,
  type WebhookEndpoint,
} from './store/endpoint-state.ts'

/** An endpoint that fails for this long raises an alarm. */
const failingAfterMs = 3_600_000
/** An endpoint with an undelivered event of this age raises an alarm, too. */
const behindAfterMs = 600_000
/** An undelivered event that has used this share of `EVENTS_KEEP_DAYS` raises another alarm. */
const expiringPart = 0.8
/** Old events are removed this many at a time, at most `removalsMax` times in one tick. */
const removedMax = 1_000
const removalsMax = 20

const endpointAlarms = ['endpoint-failing', 'endpoint-behind', 'events-expiring'] as const

export interface WatchEndpointsParts {
  readonly db: WriteDatabase
  readonly endpoints: readonly WebhookEndpoint[]
  readonly eventsKeepDays: number
  readonly clock: Pick<Clock, 'now'>
  /** Wakes the endpoints that have undelivered events. */
  wakeEndpoints(): void
}

/**
 * Stores the endpoints of this deployment before their first event, and returns their faults. Wakes
 * them if a delivery is due, because the call after a commit, or an alarm of an endpoint's object,
 * may have been lost. One statement if nothing has changed, none without endpoints; two more if an
 * endpoint asks for checkpoints.
 */
export async function watchEndpoints(parts: WatchEndpointsParts): Promise<Observation> {
  const { db, endpoints } = parts
  if (endpoints.length === 0) return { kinds: endpointAlarms, faults: [] }
  const now = parts.clock.now()
  const stored = await selectEndpoints(db)
  if (!isRegistered(stored, endpoints, now)) await registerEndpoints(db, endpoints, now)
  const known = ofDeployment(stored, endpoints)
  const notes = await readNotes(db, endpoints)
  if (known.some((one) => isWaiting(one, now)) || dueNotes(notes, now).length > 0) parts.wakeEndpoints()
  const faults = endpointFaults(known, now, parts.eventsKeepDays * dayMs)
  return { kinds: endpointAlarms, faults: [...faults, ...noteFaults(notes, now, faults)] }
}

/** The endpoints with a due delivery, with the statements of `watchEndpoints`. */
export async function selectWaiting({
  db,
  endpoints,
  clock,
}: Pick<WatchEndpointsParts, 'db' | 'endpoints' | 'clock'>): Promise<readonly WebhookEndpoint[]> {
  if (endpoints.length === 0) return []
  const now = clock.now()
  const waiting = ofDeployment(await selectEndpoints(db), endpoints).filter((one) => isWaiting(one, now))
  const due = new Set([...waiting, ...dueNotes(await readNotes(db, endpoints), now)].map(({ key }) => key))
  return endpoints.filter(({ key }) => due.has(key))
}

const isWaiting = (endpoint: StoredEndpoint, now: UnixMs) =>
  endpoint.waitingSince !== null && !isBackingOff(endpoint, now)

/** The stored endpoints that are configured now. */
export function ofDeployment(
  stored: readonly StoredEndpoint[],
  endpoints: readonly Pick<WebhookEndpoint, 'key'>[],
): readonly StoredEndpoint[] {
  return stored.filter((one) => endpoints.some(({ key }) => key === one.key))
}

/** Removes events older than `eventsKeepDays`, even undelivered ones. */
export async function removeExpiredEvents({
  db,
  clock,
  eventsKeepDays,
}: Pick<WatchEndpointsParts, 'db' | 'clock' | 'eventsKeepDays'>): Promise<void> {
  const before = (clock.now() - eventsKeepDays * dayMs) as UnixMs // safe: an earlier time
  for (let i = 0; i < removalsMax; i += 1) if ((await removeOldEvents(db, before, removedMax)) < removedMax) return
}

/**
 * The faults of endpoints; `keepMs` is how long events are kept. No log line contains the URL of an
 * endpoint.
 */
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

/** Endpoints that take no checkpoint, but for those that take no event either. */
function noteFaults({ endpoints }: Notes, now: UnixMs, known: readonly Fault[]): readonly Fault[] {
  return endpoints.flatMap(({ number: endpoint, failingSince }): Fault[] => {
    const lasted = now - (failingSince ?? now)
    const isKnown = known.some(({ kind, subject }) => kind === 'endpoint-failing' && subject.endpoint === endpoint)
    if (lasted < failingAfterMs || isKnown) return []
    const fields = { endpoint, seconds: Math.floor(lasted / 1000), why: 'it takes no ledger.sealed' }
    return [{ kind: 'endpoint-failing', subject: { endpoint }, fields }]
  })
}
