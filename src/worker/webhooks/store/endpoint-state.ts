import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { WebhookType } from '../../common/event-types.ts'
import type { EndpointKey, EventId } from '../../common/ids.ts'
import { dayMs, type UnixMs } from '../../common/time.ts'
import {
  bareList,
  columnName,
  openTables,
  type ReadDatabase,
  toStatement,
  type WriteDatabase,
} from '../../d1/database.ts'
import { events, webhooks } from '../../d1/state-tables.ts'
import { flows } from '../../d1/tables.ts'
import { removed } from '../../events/store/events.ts'

/** An endpoint of `WEBHOOKS`. */
export interface WebhookEndpoint {
  readonly key: EndpointKey
  /** The endpoint's number in `WEBHOOKS`, from 1. Logs name an endpoint only by this number. */
  readonly number: number
  readonly url: string
  /** `whsec_…`: the present secret and, during a rotation, another one. */
  readonly secrets: readonly string[]
  /** The types that the endpoint receives; null: all events, and no checkpoints. */
  readonly types: ReadonlySet<WebhookType> | null
}

export interface EndpointProgress {
  /** The newest event that was delivered, or skipped because of its type. */
  readonly position: EventId | 0
  /** Failed deliveries of the next event. */
  readonly attempts: number
  /**
   * Since when deliveries fail without a success between them; null if the last delivery succeeded.
   */
  readonly failingSince: UnixMs | null
  /** No attempt before this time. */
  readonly nextTry: UnixMs
  /** The newest event that was set aside since the endpoint last worked, or null. */
  readonly setAside: EventId | null
  /** Why the last delivery failed, in a few words; null after a success. */
  readonly lastFailure: string | null
}

/**
 * A stored endpoint of this or an earlier deployment, with the oldest event that it has not
 * received.
 */
export interface StoredEndpoint {
  readonly key: EndpointKey
  /** The endpoint's number in `WEBHOOKS`, from 1. */
  readonly number: number
  /** When the oldest undelivered event was stored; null if all are delivered. */
  readonly waitingSince: UnixMs | null
  /** Failed deliveries of the oldest undelivered event. */
  readonly attempts: number
  /** Since when deliveries fail; null if they do not. `lastFailure` says why, in a few words. */
  readonly failingSince: UnixMs | null
  readonly lastFailure: string | null
  /** No attempt before this time. */
  readonly nextTry: UnixMs
  /** When a deployment last had the endpoint in its configuration, to within an hour. */
  readonly seenAt: UnixMs
  /** Events stored before this time are not sent to the endpoint. */
  readonly beginsAt: UnixMs
}

/** An endpoint that is no longer configured keeps its position at least this long. */
const endpointKeptMs = 30 * dayMs
/** `seen_at` is stored at most this often. */
const seenEveryMs = 3_600_000

type Configured = Pick<WebhookEndpoint, 'key' | 'number'>

/** Reads all stored endpoints, in the order of their numbers. */
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

/**
 * Whether `registerEndpoints` has nothing to do: all configured endpoints were stored or noted
 * within the last hour, and none is due for removal.
 */
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
 * Stores the configured endpoints. A new endpoint gets only later events. An endpoint that is no
 * longer configured is removed after 30 days.
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
  const stored = bareList([endpoint, number, position, next_try, seen_at, begins_at])
  const statements: readonly SQL[] = [
    sql`DELETE FROM ${webhooks}
      WHERE ${seen_at} < ${at - endpointKeptMs} AND ${endpoint} NOT IN (SELECT configured.key FROM ${configured})`,
    sql`INSERT INTO ${webhooks} (${stored})
      SELECT configured.key, configured.number, ${newest}, 0, ${at}, ${at} FROM ${configured}
      WHERE NOT EXISTS (SELECT 1 FROM ${webhooks} WHERE ${endpoint} = configured.key)`,
    sql`UPDATE ${webhooks} SET ${columnName(number)} = configured.number, ${columnName(seen_at)} = ${at}
      FROM ${configured}
      WHERE ${endpoint} = configured.key AND (${number} <> configured.number OR ${seen_at} < ${at - seenEveryMs})`,
  ]
  await db.batch(statements.map((query) => toStatement(db, query)))
}

/** Reads the progress of an endpoint; null if it is not stored. */
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

/** Stores progress. If another object has moved the position, stores nothing and returns false. */
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
