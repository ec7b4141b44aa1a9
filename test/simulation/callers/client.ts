import { bearer } from '../../support/tokens.ts'
import { mayFail } from '../database.ts'
import type { Environment } from '../environment.ts'
import { trackOperation } from '../event-loop.ts'
import type { Invocation } from '../invocation.ts'
import { freeAllowance } from '../scenario.ts'
import type { Stored } from '../stored.ts'

/**
 * Sends the requests of a caller, and has what their answers are compared with: the simulated chain
 * and the stored rows.
 */
export interface Client {
  readonly env: Environment
  readonly stored: Stored
  readonly invocation: Invocation
  /**
   * The answer to `GET path`, after the checks that every answer must pass. If `token` is null, the
   * request has no token.
   */
  get(path: string, token: string | null): Promise<Answer>
  /**
   * Whether the requests that nodes allow can run short now. If so, an answer may be a 429, or come
   * late.
   */
  mayWait(): boolean
  /** Whether this status is a 429 that `mayWait` allows. */
  mayBeRefused(status: number): boolean
}

/** An answer. Numbers in `data` are kept as their text, because amounts do not fit a double. */
export interface Answer {
  readonly status: number
  readonly msg: string
  readonly data: AnswerData | undefined
  /** Whether the answer has the header `Retry-After`. */
  readonly canRetry: boolean
}

/** JSON with numbers as text. */
export interface AnswerData {
  readonly [name: string]: string | AnswerData | readonly AnswerData[]
}

/**
 * A client of an isolate. `bookmarks` has the newest bookmark of each token: half of the requests
 * present it.
 */
export function createClient(
  parts: Pick<Client, 'env' | 'stored' | 'invocation'>,
  fetch: (request: Request) => Promise<Response>,
  bookmarks: Map<string | null, string>,
): Client {
  const { env, invocation } = parts
  // In a healthy environment, callers never use up the allowance of a free key. The exception is
  // the time in which the service sends fewer requests to a node that refused some as too many, and
  // no batches to a node that refused one.
  const mayWait = () => {
    const now = env.scheduler.now()
    const isSlowed = now < env.slowedUntil || now < env.batchlessUntil
    return env.phase !== 'healthy' || env.allowance !== freeAllowance || isSlowed
  }
  return {
    ...parts,
    mayWait,
    mayBeRefused: (status) => status === 429 && mayWait(),
    async get(path, token) {
      const bookmark = env.random.chance(0.5) ? bookmarks.get(token) : undefined
      const headers = {
        ...(token === null ? {} : bearer(token)),
        ...(bookmark === undefined ? {} : { 'x-d1-bookmark': bookmark }),
      }
      const response = await fetch(new Request(`https://wallet.test${path}`, { headers }))
      bookmarks.set(token, response.headers.get('x-d1-bookmark') ?? bookmark ?? '00000000')
      const text = await trackOperation(response.text())
      env.trace(() => `${invocation.name} ← ${response.status} ${text}`)
      return checkAnswer(env, invocation, response, text)
    },
  }
}

/**
 * Checks the headers of an answer and the outer members of its JSON, which all routes share.
 * Returns the parts of the answer.
 */
export function checkAnswer(
  env: Environment,
  invocation: Invocation,
  { status, headers }: Response,
  text: string,
): Answer {
  const { phase, violate } = env
  const { name, kind, databaseAway } = invocation
  const { code, msg, data } = parseExact(text)
  if (code !== String(status) || typeof msg !== 'string') violate(`${name} has no envelope: ${text}`)
  if (headers.get('content-type') !== 'application/json' || headers.get('cache-control') !== 'no-store') {
    violate(`${name} has other headers than the contract`)
  }
  const isSuccess = status === 200
  if (String(msg).startsWith('success') !== isSuccess) violate(`${name}: status ${status} with ${msg}`)
  const hasData = kind === 'health' || (isSuccess && kind !== 'recharge' && kind !== 'transaction')
  const hasFailed = status === 500 || headers.get('x-reason') === 'database-unavailable'
  if ((data !== undefined) !== hasData && !hasFailed) violate(`${name}: data ${data}`)
  if (hasFailed && !mayFail(env, invocation)) violate(`${name} crashed while the platform worked`)
  const isMisconfigured = kind === 'misconfigured' && msg === 'the service is not configured'
  if (databaseAway && status >= 500 && !isMisconfigured) {
    const isSaid = status === 503 && headers.has('x-reason') && headers.has('retry-after')
    if (!isSaid) violate(`${name} was answered with ${status} while the database was away`)
  }
  const mayLack = kind === 'transaction' && env.lackedFrom !== null // it can be in a block that too few nodes have
  if (phase === 'healthy' && status >= 500 && kind !== 'health' && !mayLack)
    violate(`${name} failed in a healthy environment`)
  return {
    status,
    msg: String(msg),
    data: data as AnswerData | undefined,
    canRetry: headers.get('retry-after') !== null,
  }
}

function parseExact(text: string): AnswerData {
  const keepNumber = (_: string, value: unknown, { source }: { source?: string }) =>
    typeof value === 'number' ? source : value
  // TypeScript does not know the third parameter of a reviver yet
  const parse = JSON.parse as (text: string, reviver: typeof keepNumber) => AnswerData
  return parse(text, keepNumber)
}
