import type { EndpointKey, EventId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { type ReadDatabase, statement, type WriteDatabase } from '../d1/database.ts'
import type { EventType } from '../d1/tables.ts'

/** An endpoint of `WEBHOOKS`. */
export interface WebhookEndpoint {
  readonly key: EndpointKey
  /** Its place in `WEBHOOKS`, from 1: its only name in logs. */
  readonly number: number
  readonly url: string
  /** `whsec_…`: the present one, and while it rotates another one. */
  readonly secrets: readonly string[]
  /** The types of events that it gets, or null: all. */
  readonly types: ReadonlySet<EventType> | null
}

/** How far an endpoint has got. */
export interface EndpointProgress {
  /** The newest event that it has got, or that is not for it. */
  readonly position: EventId | 0
  /** Failed deliveries of the next event. */
  readonly attempts: number
  /** When the first of them failed; null where none has. */
  readonly failingSince: UnixMs | null
  /** No delivery before. */
  readonly nextTry: UnixMs
  /** The newest event that was put aside since the endpoint was last healthy, or null. */
  readonly setAside: EventId | null
  /** Why the last failed delivery failed, in a few words; null where none has. */
  readonly lastFailure: string | null
}

/** How long an endpoint that no deployment has keeps its position. */
const endpointKeptMs = 30 * 86_400_000
/** That a deployment has an endpoint is stored at most this often. */
const seenEveryMs = 3_600_000

/**
 * Stores the configured endpoints. A new one begins with the next event. One that no deployment has is kept for 30
 * days.
 */
export async function registerEndpoints(
  db: WriteDatabase,
  endpoints: readonly Pick<WebhookEndpoint, 'key' | 'number'>[],
  at: UnixMs,
): Promise<void> {
  const list = JSON.stringify(endpoints.map(({ key, number }) => ({ key, number })))
  await db.batch([
    removeUnseen(db, { list, before: at - endpointKeptMs }),
    insertNew(db, { list, at }),
    updateSeen(db, { list, at, before: at - seenEveryMs }),
  ])
}

/** How far an endpoint has got, or null where it is not registered. */
export function selectEndpoint(db: ReadDatabase, key: EndpointKey): Promise<EndpointProgress | null> {
  return selectOne(db, { key }).first<EndpointProgress>()
}

/** Stores progress. False, and nothing is stored, where the position is not the expected one: another object has moved it. */
export async function storeProgress(
  db: WriteDatabase,
  key: EndpointKey,
  expected: EventId | 0,
  progress: EndpointProgress,
): Promise<boolean> {
  return (await updateProgress(db, { key, expected, ...progress }).all()).results.length > 0
}

const configured = `(SELECT value ->> 'key' AS key, value ->> 'number' AS number FROM json_each(:list)) AS configured`

const removeUnseen = statement(`
DELETE FROM webhook WHERE seen_at < :before AND endpoint NOT IN (SELECT configured.key FROM ${configured})`)

const insertNew = statement(`
INSERT INTO webhook (endpoint, number, position, next_try, seen_at)
SELECT configured.key, configured.number, coalesce((SELECT max(id) FROM event), 0), 0, :at FROM ${configured}
WHERE NOT EXISTS (SELECT 1 FROM webhook WHERE endpoint = configured.key)`)

const updateSeen = statement(`
UPDATE webhook SET number = configured.number, seen_at = :at FROM ${configured}
WHERE endpoint = configured.key AND (webhook.number <> configured.number OR seen_at < :before)`)

const selectOne = statement(`
SELECT position, attempts, failing_since AS failingSince, next_try AS nextTry, set_aside AS setAside,
  last_failure AS lastFailure
FROM webhook WHERE endpoint = :key`)

const updateProgress = statement(`
UPDATE webhook SET position = :position, attempts = :attempts, failing_since = :failingSince, next_try = :nextTry,
  set_aside = :setAside, last_failure = :lastFailure
WHERE endpoint = :key AND position = :expected RETURNING position`)
