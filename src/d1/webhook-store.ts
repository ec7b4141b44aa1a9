import { and, eq, sql } from 'drizzle-orm'
import type { EndpointKey } from '../common/ids.ts'
import type { EndpointState, Progress, WebhookStore } from '../webhooks/webhook-store.ts'
import type { Database } from './database.ts'
import { events, webhooks } from './event-tables.ts'
import { build, members, names, param, statement } from './statement.ts'

type WebhookRow = typeof webhooks.$inferSelect

/** How far the endpoints of `WEBHOOKS` are, over D1. */
export function createWebhookStore(db: Database): WebhookStore {
  const store = (key: EndpointKey, lease: string, progress: Progress, next: string) =>
    storeProgress(db, { key, lease, next, ...progress }).raw()
  return {
    async register(endpoints) {
      const list = JSON.stringify(endpoints.map(({ key, number }) => ({ endpoint: key, number })))
      const [, , , stored] = await db.batch<WebhookRow>([
        removeOthers(db, { list }),
        insertNew(db, { list }),
        updateNumbers(db, { list }),
        selectAll(db),
      ])
      return (stored?.results ?? []).map(readState)
    },

    async take(key, lease, at, until) {
      const row = await takeLease(db, { key, lease, at, until }).first<WebhookRow>()
      return row === null ? null : readState(row)
    },

    async keep(key, lease, progress) {
      return (await store(key, lease, progress, lease)).length > 0
    },

    async release(key, lease, progress) {
      await store(key, lease, progress, '')
    },
  }
}

const { endpoint, number, position, next_try } = webhooks
const newest = sql`coalesce((SELECT max(${events.id}) FROM ${events}), 0)`
/** By hand, as what uses it: a list from json_each. */
const configured = sql`(SELECT ${members(endpoint, number)} FROM json_each(${param('list')})) AS configured`

const removeOthers = statement(sql`
DELETE FROM ${webhooks} WHERE ${endpoint} NOT IN (SELECT ${names(endpoint)} FROM ${configured})`)

const insertNew = statement(sql`
INSERT INTO ${webhooks} (${names(endpoint, number, position, next_try)})
SELECT ${names(endpoint, number)}, ${newest}, 0 FROM ${configured}
WHERE NOT EXISTS (SELECT 1 FROM ${webhooks} WHERE ${endpoint} = configured.${names(endpoint)})`)

const updateNumbers = statement(sql`
UPDATE ${webhooks} SET ${names(number)} = configured.${names(number)} FROM ${configured}
WHERE ${endpoint} = configured.${names(endpoint)} AND ${number} <> configured.${names(number)}`)

const selectAll = statement(build.select().from(webhooks).orderBy(number))

const takeLease = statement(
  build
    .update(webhooks)
    .set({ lease: param('lease'), next_try: param('until') })
    .where(sql`${endpoint} = ${param('key')} AND ${next_try} <= ${param('at')} AND ${position} < ${newest}`)
    .returning(),
)

const storeProgress = statement(
  build
    .update(webhooks)
    .set({
      lease: param('next'),
      position: param('position'),
      attempts: param('attempts'),
      failing_since: param('failingSince'),
      next_try: param('nextTry'),
      set_aside: param('setAside'),
    })
    .where(and(eq(endpoint, param('key')), eq(webhooks.lease, param('lease'))))
    .returning({ position }),
)

function readState(row: WebhookRow): EndpointState {
  const { endpoint: key, position: at, attempts } = row
  return {
    key,
    position: at,
    attempts,
    failingSince: row.failing_since,
    nextTry: row.next_try,
    setAside: row.set_aside,
  }
}
