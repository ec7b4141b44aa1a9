import { type DatabaseRow, queryDatabase, readDatabase, timeOf } from '../database.ts'
import type { Place } from '../place.ts'
import { orRefuse, ToolError } from '../tool-error.ts'
import { environmentOption, type Options, readOption, type Work } from './options.ts'

const numberForm = /^[1-9]\d{0,14}$/
/** The key of an endpoint (64 digits), or its beginning as the status prints it. */
const keyForm = /^[0-9a-f]{12,64}$/

/**
 * Whether a row is that of a configured endpoint. Rows of earlier endpoints stay for a while. Of
 * the rows with one number, the configured one was seen last. It was also seen less than two hours
 * before the newest row of all, because `seen_at` is stored at most once an hour
 * (`endpoint-state.ts`).
 */
const isConfigured =
  '(seen_at = (SELECT max(same.seen_at) FROM webhook AS same WHERE same.number = webhook.number) ' +
  'AND seen_at > (SELECT max(seen_at) FROM webhook) - 7200000)'
const columns =
  'endpoint, number, position, attempts, failing_since, next_try, set_aside, last_failure, seal_failing_since, seen_at, ' +
  `${isConfigured} AS configured, (SELECT count(*) FROM event WHERE event.id > webhook.position) AS waiting`

/**
 * `webhooks status`: prints a line for each endpoint. The line says how far deliveries are, since
 * when they fail, and why.
 */
export const showEndpoints =
  (): Work =>
  async ({ place }) => {
    const sql = `SELECT ${columns} FROM webhook ORDER BY configured DESC, number, seen_at DESC`
    const [rows = []] = orRefuse(await readDatabase(place, sql))
    return rows.length === 0 ? 'No endpoint has been delivered to yet.' : rows.map(describeEndpoint).join('\n')
  }

/** `webhooks replay`: sends an endpoint the events from an id on again. */
export function replayEvents(options: Options): Work {
  const endpoint = readEndpoint(options)
  const from = Number(readOption(options, 'from', numberForm, 'the id of an event'))
  return ({ place }) => setPosition(place, endpoint, `${from - 1}`, `${from}`, 'it has not received that event yet')
}

/**
 * `webhooks move`: gives an endpoint the position of another one, for example of its earlier URL,
 * which the status shows by its key.
 */
export function moveEndpoint(options: Options): Work {
  const endpoint = readEndpoint(options)
  const key = readOption(options, 'from-url-of-key', keyForm, 'the key in the status')
  const isOther = `old.endpoint GLOB '${key}*' AND old.endpoint <> webhook.endpoint`
  const moved = `(SELECT min(old.position) FROM webhook AS old WHERE ${isOther})`
  return ({ place }) =>
    setPosition(place, endpoint, moved, moved, 'no earlier one has that key, or that one was further')
}

function readEndpoint(options: Options): string {
  return readOption(options, 'endpoint', numberForm, 'its number in the status, from 1')
}

/**
 * Sets the position of an endpoint, given as SQL, if the endpoint has come to `least` or further,
 * so that no event is skipped. Otherwise throws a `ToolError` that ends with `why`.
 */
async function setPosition(place: Place, endpoint: string, position: string, least: string, why: string) {
  // the time of the first event that the endpoint gets from now on
  const first = `(SELECT created_at FROM event WHERE id > ${position} ORDER BY id LIMIT 1)`
  const sql =
    `UPDATE webhook SET position = ${position}, attempts = 0, failing_since = NULL, last_failure = NULL, next_try = 0, ` +
    `begins_at = min(begins_at, coalesce(${first}, begins_at)) ` +
    `WHERE number = ${endpoint} AND ${isConfigured} AND position >= ${least} RETURNING ${columns}`
  const [rows = []] = orRefuse(await queryDatabase(place, sql))
  if (rows.length === 0) {
    const next = `"npm run operate -- webhooks status${environmentOption(place)}" shows the endpoints, with their numbers, keys and positions`
    throw new ToolError(`there is no such endpoint, or ${why}`, next)
  }
  return rows.map(describeEndpoint).join('\n')
}

function describeEndpoint(row: DatabaseRow): string {
  const { endpoint, number, position, attempts, failing_since: since, next_try: next, set_aside: aside, waiting } = row
  const name = row.configured === 1 ? `endpoint ${number}` : `no longer configured since ${timeOf(row.seen_at)}`
  const why = row.last_failure === null ? '' : ` (${row.last_failure})`
  const failing = `; failing since ${timeOf(since)}${why}, tries: ${attempts}, next one ${timeOf(next)}`
  const put = aside === null ? '' : `; put aside up to event ${aside}`
  const seal = row.seal_failing_since
  const unsealed = seal === null ? '' : `; takes no checkpoint since ${timeOf(seal)}`
  const key = String(endpoint).slice(0, 12)
  const text = `${name}, key ${key}: has received the events up to ${position}, waiting: ${waiting}`
  return text + (since === null ? '' : failing) + put + unsealed
}
