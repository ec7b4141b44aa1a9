import { err, ok, type Result } from '../../common/result.ts'
import { type DatabaseRow, queryDatabase, readDatabase, timeOf } from '../database.ts'

/** What an operator asks about the endpoints of `WEBHOOKS`, or changes. */
export type WebhookCommand =
  | { readonly kind: 'status' }
  /** The endpoint with this number gets the events from this id on again. */
  | { readonly kind: 'replay'; readonly endpoint: number; readonly from: number }
  /** The endpoint with this number goes on where the one of an earlier URL was, which has this key. */
  | { readonly kind: 'move'; readonly endpoint: number; readonly key: string }

/** Values of the command's options, as typed. */
export type WebhookOptions = Readonly<Partial<Record<'endpoint' | 'from' | 'from-url-of-key', string | undefined>>>

const numberForm = /^[1-9]\d{0,14}$/
/** The whole key, or its beginning as the status shows it. */
const keyForm = /^[0-9a-f]{12,64}$/

/** The command that the word and the options ask for, or one sentence: what is wrong with them. */
export function parseWebhookCommand(word: string, options: WebhookOptions): Result<WebhookCommand, string> {
  const { endpoint, from, 'from-url-of-key': key } = options
  if (word === 'status') return ok({ kind: 'status' })
  if (endpoint === undefined || !numberForm.test(endpoint)) return err('--endpoint: its number in the status, from 1')
  if (word === 'replay') {
    if (from === undefined || !numberForm.test(from)) return err('--from: the id of an event')
    return ok({ kind: 'replay', endpoint: Number(endpoint), from: Number(from) })
  }
  if (key === undefined || !keyForm.test(key)) return err('--from-url-of-key: the key in the status')
  return ok({ kind: 'move', endpoint: Number(endpoint), key })
}

/**
 * Rows of URLs that are no longer configured stay for a while. Of those with one number the configured one was seen last, at most
 * an hour before the newest (`endpoint-state.ts`).
 */
const isConfigured =
  '(seen_at = (SELECT max(same.seen_at) FROM webhook AS same WHERE same.number = webhook.number) ' +
  'AND seen_at > (SELECT max(seen_at) FROM webhook) - 7200000)'
const columns =
  'endpoint, number, position, attempts, failing_since, next_try, set_aside, last_failure, seen_at, ' +
  `${isConfigured} AS configured, (SELECT count(*) FROM event WHERE event.id > webhook.position) AS waiting`

function webhookSql(command: WebhookCommand): string {
  if (command.kind === 'status') return `SELECT ${columns} FROM webhook ORDER BY configured DESC, number, seen_at DESC`
  const isOther = `old.endpoint GLOB '${command.kind === 'move' ? command.key : ''}*' AND old.endpoint <> webhook.endpoint`
  const moved = `(SELECT min(old.position) FROM webhook AS old WHERE ${isOther})`
  const position = command.kind === 'move' ? moved : `${command.from - 1}`
  const lost = command.kind === 'move' ? moved : `${command.from}`
  return (
    `UPDATE webhook SET position = ${position}, attempts = 0, failing_since = NULL, last_failure = NULL, next_try = 0 ` +
    `WHERE number = ${command.endpoint} AND ${isConfigured} AND position >= ${lost} RETURNING ${columns}`
  )
}

/** Runs a command, and returns a line for each endpoint that it is about. */
export async function runWebhookCommand(
  command: WebhookCommand,
  env: string | undefined,
): Promise<Result<string, string>> {
  const run = command.kind === 'status' ? readDatabase : queryDatabase
  const reply = await run(env, webhookSql(command))
  if (!reply.ok) return reply
  const [results = []] = reply.value
  if (results.length > 0) return ok(results.map(describeEndpoint).join('\n'))
  if (command.kind === 'status') return ok('No endpoint has been delivered to yet.')
  const isReplay = command.kind === 'replay'
  const why = isReplay ? 'it has not received that event yet' : 'no earlier one has that key, or that one was further'
  return err(`there is no such endpoint, or ${why}`)
}

function describeEndpoint(row: DatabaseRow): string {
  const { endpoint, number, position, attempts, failing_since: since, next_try: next, set_aside: aside, waiting } = row
  const name = row.configured === 1 ? `endpoint ${number}` : `no longer configured since ${timeOf(row.seen_at)}`
  const why = row.last_failure === null ? '' : ` (${row.last_failure})`
  const failing = `; failing since ${timeOf(since)}${why}, tries: ${attempts}, next one ${timeOf(next)}`
  const put = aside === null ? '' : `; put aside up to event ${aside}`
  const key = String(endpoint).slice(0, 12)
  const text = `${name}, key ${key}: has received the events up to ${position}, waiting: ${waiting}`
  return text + (since === null ? '' : failing) + put
}
