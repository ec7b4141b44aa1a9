import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { EventType } from '../../common/event-types.ts'
import type { EndpointKey, EventId } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { bare, openTables, type ReadDatabase, toStatement, type WriteDatabase } from '../../d1/database.ts'
import { events, webhooks } from '../../d1/state-tables.ts'
import { flows } from '../../d1/tables.ts'
import { removed } from '../../events/store/events.ts'

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
  /** When the first of them failed; null if none has. */
  readonly failingSince: UnixMs | null
  /** No delivery before. */
  readonly nextTry: UnixMs
  /** The newest event that was put aside since the endpoint was last healthy, or null. */
  readonly setAside: EventId | null
  /** Why the last failed delivery failed, in a few words; null if none has. */
  readonly lastFailure: string | null
}

/** An endpoint of this or an earlier deployment as stored, with the oldest event that it lacks. */
export interface StoredEndpoint {
  readonly key: EndpointKey
  /** Its place in `WEBHOOKS`, from 1. */
  readonly number: number
  /** When the oldest event that it lacks was stored; null if it lacks none. */
  readonly waitingSince: UnixMs | null
  /** Failed deliveries of that event. */
  readonly attempts: number
  /** Since when it fails, and why, in a word; null if it does not. */
  readonly failingSince: UnixMs | null
  readonly lastFailure: string | null
  /** No delivery before. */
  readonly nextTry: UnixMs
  /** When a deployment had it, within an hour. */
  readonly seenAt: UnixMs
  /** Events that were stored before were never sent to it. */
  readonly beginsAt: UnixMs
}

/** How long an endpoint that a deployment lacks keeps its position, at least. */
const endpointKeptMs = 30 * 86_400_000
/** That a deployment has an endpoint is stored at most this often. */
const seenEveryMs = 3_600_000

type Configured = Pick<WebhookEndpoint, 'key' | 'number'>

/** All stored endpoints, in the order of their numbers. */
export async function selectEndpoints(db: ReadDatabase): Promise<readonly StoredEndpoint[]> {
  const tables = openTables(db)
  const { endpoint: key, number, attempts, failing_since, last_failure, next_try, seen_at, begins_at } = webhooks
  const lacking = (table: typeof events | typeof flows) =>
    sql`SELECT * FROM (SELECT ${table.id} AS id, ${table.created_at} AS at FROM ${table}
      WHERE ${table.id} > max(${webhooks.position}, ${removed})
      ORDER BY ${table.id} LIMIT 1)`
  const oldest = sql`SELECT at FROM (${lacking(events)} UNION ALL ${lacking(flows)}) ORDER BY id LIMIT 1`
  return await tables
    .select({
      key,
      number,
      waitingSince: sql<UnixMs | null>`(${oldest})`,
      attempts,
      failingSince: failing_since,
      lastFailure: last_failure,
      nextTry: next_try,
      seenAt: seen_at,
      beginsAt: begins_at,
    })
    .from(webhooks)
    .orderBy(number)
}

/** Whether what is stored says of each configured endpoint that it is, and nothing that was to be removed is left. */
export function isRegistered(
  stored: readonly StoredEndpoint[],
  endpoints: readonly Configured[],
  now: UnixMs,
): boolean {
  const isConfigured = new Map(endpoints.map(({ key, number }) => [key, number]))
  const isCurrent = ({ key, number, seenAt }: StoredEndpoint) =>
    isConfigured.has(key)
      ? isConfigured.get(key) === number && seenAt >= now - seenEveryMs
      : seenAt >= now - endpointKeptMs
  return stored.every(isCurrent) && stored.filter(({ key }) => isConfigured.has(key)).length === isConfigured.size
}

/**
 * Stores the configured endpoints. A new one begins with the next event. One that the deployment lacks is removed after 30
 * days.
 */
export async function registerEndpoints(
  db: WriteDatabase,
  endpoints: readonly Configured[],
  at: UnixMs,
): Promise<void> {
  const list = JSON.stringify(endpoints.map(({ key, number }) => ({ key, number })))
  const configured = sql`(SELECT value ->> 'key' AS key, value ->> 'number' AS number FROM json_each(${list})) AS configured`
  const { endpoint, number, position, next_try, seen_at, begins_at } = webhooks
  const newest = sql`(SELECT id FROM last_event)`
  const statements: readonly SQL[] = [
    sql`DELETE FROM ${webhooks}
      WHERE ${seen_at} < ${at - endpointKeptMs} AND ${endpoint} NOT IN (SELECT configured.key FROM ${configured})`,
    sql`INSERT INTO ${webhooks} (${sql.join([endpoint, number, position, next_try, seen_at, begins_at].map(bare), sql`, `)})
      SELECT configured.key, configured.number, ${newest}, 0, ${at}, ${at} FROM ${configured}
      WHERE NOT EXISTS (SELECT 1 FROM ${webhooks} WHERE ${endpoint} = configured.key)`,
    sql`UPDATE ${webhooks} SET ${bare(number)} = configured.number, ${bare(seen_at)} = ${at} FROM ${configured}
      WHERE ${endpoint} = configured.key AND (${number} <> configured.number OR ${seen_at} < ${at - seenEveryMs})`,
  ]
  await db.batch(statements.map((query) => toStatement(db, query)))
}

/** How far an endpoint has got, or null if it is not registered. */
export async function selectEndpoint(db: ReadDatabase, key: EndpointKey): Promise<EndpointProgress | null> {
  const { position, attempts, failing_since, next_try, set_aside, last_failure } = webhooks
  const [row] = await openTables(db)
    .select({
      position,
      attempts,
      failingSince: failing_since,
      nextTry: next_try,
      setAside: set_aside,
      lastFailure: last_failure,
    })
    .from(webhooks)
    .where(eq(webhooks.endpoint, key))
  return row ?? null
}

/** Stores progress. False, and nothing is stored, if the position is not the expected one: another object has moved it. */
export async function storeProgress(
  db: WriteDatabase,
  key: EndpointKey,
  expected: EventId | 0,
  { position, attempts, failingSince, nextTry, setAside, lastFailure }: EndpointProgress,
): Promise<boolean> {
  const progress = {
    position,
    attempts,
    failing_since: failingSince,
    next_try: nextTry,
    set_aside: setAside,
    last_failure: lastFailure,
  }
  const stored = await openTables(db)
    .update(webhooks)
    .set(progress)
    .where(and(eq(webhooks.endpoint, key), eq(webhooks.position, expected)))
    .returning({ position: webhooks.position })
  return stored.length > 0
}
