import { err, ok, type Result } from '../../common/result.ts'

/** What an operator asks about the endpoints of `WEBHOOKS`, or changes. */
export type WebhookCommand =
  | { readonly kind: 'status' }
  /** The endpoint with this number gets the events from this id on again. */
  | { readonly kind: 'replay'; readonly endpoint: number; readonly from: number }

/** The command's words and options, as typed. */
export interface WebhookOptions {
  readonly words: readonly string[]
  readonly endpoint?: string | undefined
  readonly from?: string | undefined
}

const numberForm = /^[1-9]\d{0,14}$/

/** The command that the words and options ask for, or one sentence: what is wrong with them. */
export function parseWebhookCommand({ words, endpoint, from }: WebhookOptions): Result<WebhookCommand, string> {
  const [word, ...more] = words
  if (more.length > 0 || (word !== 'status' && word !== 'replay')) return err('either status or replay')
  if (word === 'status') {
    return endpoint === undefined && from === undefined ? ok({ kind: word }) : err('status takes no further option')
  }
  if (endpoint === undefined || !numberForm.test(endpoint)) return err('--endpoint: its number in the status, from 1')
  if (from === undefined || !numberForm.test(from)) return err('--from: the id of an event')
  return ok({ kind: word, endpoint: Number(endpoint), from: Number(from) })
}

/** The statement of a command. Its rows are `EndpointRow`s; no row of a replay: nothing was changed. */
export function webhookSql(command: WebhookCommand): string {
  const columns = 'number, position, attempts, failing_since, next_try, set_aside'
  const waiting = '(SELECT count(*) FROM event WHERE event.id > webhook.position) AS waiting'
  if (command.kind === 'status') return `SELECT ${columns}, ${waiting} FROM webhook ORDER BY number`
  const { endpoint, from } = command
  // A delivery that is under way loses its lease, so that it stores no position over this one.
  return (
    `UPDATE webhook SET position = ${from - 1}, attempts = 0, failing_since = NULL, next_try = 0, lease = '' ` +
    `WHERE number = ${endpoint} AND position >= ${from} RETURNING ${columns}, ${waiting}`
  )
}

/** How far an endpoint is, as stored; times in milliseconds since 1970. */
export interface EndpointRow {
  readonly number: number
  readonly position: number
  readonly attempts: number
  readonly failing_since: number | null
  readonly next_try: number
  readonly set_aside: number | null
  readonly waiting: number
}

/** One line about an endpoint. */
export function describeEndpoint(row: EndpointRow): string {
  const { number, position, attempts, failing_since: since, next_try: next, set_aside: aside, waiting } = row
  const at = (ms: number) => new Date(ms).toISOString()
  const failing = since === null ? '' : `; failing since ${at(since)}, tries: ${attempts}, next one ${at(next)}`
  const put = aside === null ? '' : `; put aside up to event ${aside}`
  return `endpoint ${number}: has received the events up to ${position}, waiting: ${waiting}${failing}${put}`
}
