import { parseExact, readMembers, readText } from './read.ts'
import type { TokenSource } from './token.ts'

/** Time limit for answers that may wait for a scan. */
export const longestMs = 30_000
const bookmarkName = 'x-d1-bookmark'

/**
 * Why there is no useful answer. `offline`: no answer at all. `slow`: none in time. `unauthorized`:
 * 401. `limited`: 429. `unavailable`: 5xx. `refused`: any other status that is no success.
 * `broken`: a success whose body is not as expected.
 */
export type RefusalKind = 'offline' | 'slow' | 'unauthorized' | 'limited' | 'unavailable' | 'refused' | 'broken'

/** A refusal of the service, or no answer; then `status` is 0. */
export interface Refusal {
  readonly ok: false
  readonly kind: RefusalKind
  readonly status: number
  /** The service's sentence, in English; empty if there is none. */
  readonly msg: string
  /** The service's reason, if it gave one. */
  readonly reason: string | null
  /** After how many seconds the page may ask again; null if the service does not say so. */
  readonly retrySeconds: number | null
}

/** A useful answer of the service, or a refusal. */
export type Reply<Data> = { readonly ok: true; readonly data: Data; readonly msg: string } | Refusal

export interface Api {
  /**
   * GET. `read` takes the data from the answer, and throws if the answer is malformed. `waitMs` is
   * the time limit, and `until` ends the request before.
   */
  get<Data>(path: string, read: (data: unknown) => Data, waitMs?: number, until?: AbortSignal): Promise<Reply<Data>>
  /**
   * POST. Sends a body as JSON, and reads the answer as `get` does. Without an answer (`offline`,
   * `slow`), nobody knows whether the service has acted.
   */
  post<Data>(path: string, body: object, read: (data: unknown) => Data): Promise<Reply<Data>>
  /**
   * Requests these paths at once. The next `get` of each path takes the answer to this request, if
   * the token is still the same.
   */
  begin(paths: readonly string[]): void
  /**
   * The present time of the service's clock, in milliseconds since 1970. The reader's clock may be
   * wrong, so it is used only for answers without a date. Null before the first answer.
   */
  now(): number | null
}

/** What each request has besides the token. */
interface Extra {
  readonly credentials: RequestCredentials
  readonly headers: Readonly<Record<string, string>>
}

/** No cookies and no further headers: the token is the only credential. */
const none: Extra = { credentials: 'omit', headers: {} }

/**
 * For the session of Cloudflare Access, which is a cookie. With this header Access answers 401 when
 * the session has ended, instead of a redirect that no script can follow.
 */
export const accessSession: Extra = { credentials: 'same-origin', headers: { 'x-requested-with': 'XMLHttpRequest' } }

/**
 * Makes a client that sends the reader's token. If that token has expired, the client asks `token`
 * for another one, and sends the request again. `usualMs` is the time limit of requests without a
 * limit of their own.
 */
export function createApi(token: TokenSource, usualMs = longestMs, extra: Extra = none): Api {
  let clockOffset: number | null = null
  let bookmark: string | null = null // so that the next answer is never older than the last one
  const request = async (
    path: string,
    used: string | null,
    signal: AbortSignal = AbortSignal.timeout(usualMs),
    sent: object | null = null,
  ) => {
    const headers = new Headers({ accept: 'application/json', ...extra.headers })
    if (used !== null) headers.set('authorization', `Bearer ${used}`)
    if (bookmark !== null) headers.set(bookmarkName, bookmark)
    if (sent !== null) headers.set('content-type', 'application/json')
    const posted = sent === null ? {} : { method: 'POST', body: JSON.stringify(sent) }
    const { credentials } = extra
    const options = { headers, credentials, signal, cache: 'no-store' } as const
    const response = await fetch(path, { ...options, ...posted, referrerPolicy: 'no-referrer' })
    bookmark = response.headers.get(bookmarkName) ?? bookmark
    const at = Date.parse(response.headers.get('date') ?? '')
    clockOffset = Number.isNaN(at) ? performance.timeOrigin : at - performance.now()
    return { response, text: await response.text() }
  }
  const begun = new Map<string, { used: string | null; answer: ReturnType<typeof request> }>()
  return {
    begin(paths) {
      const used = token.current()
      for (const path of paths) {
        const answer = request(path, used)
        answer.catch(() => {}) // no unhandled rejection: `get` handles the failure
        begun.set(path, { used, answer })
      }
    },
    now: () => (clockOffset === null ? null : clockOffset + performance.now()),
    get(path, read, waitMs = usualMs, until) {
      const early = begun.get(path)
      begun.delete(path)
      const send = (used: string | null) => request(path, used, endedBy(waitMs, until))
      return answered((used) => (early?.used === used ? early.answer : send(used)), send, read)
    },
    post(path, body, read) {
      const send = (used: string | null) => request(path, used, undefined, body)
      return answered(send, send, read)
    },
  }

  /**
   * Reads the answer to `first`. If it is 401 and there is another token, sends `again` and reads
   * the answer to that. Sending twice does no harm, because a refused request has had no effect.
   */
  async function answered<Data>(first: Ask, again: Ask, read: (data: unknown) => Data): Promise<Reply<Data>> {
    try {
      const used = token.current()
      let { response, text } = await first(used)
      if (response.status === 401 && (await token.renew(used))) ({ response, text } = await again(token.current()))
      return parseAnswer(response, text, read)
    } catch (error) {
      const isSlow = error instanceof DOMException && error.name === 'TimeoutError'
      return { ok: false, kind: isSlow ? 'slow' : 'offline', status: 0, msg: '', reason: null, retrySeconds: null }
    }
  }
}

/**
 * A signal of the time limit `ms`, or of `until` before. Not every browser has `AbortSignal.any`.
 */
function endedBy(ms: number, until?: AbortSignal): AbortSignal {
  const limit = AbortSignal.timeout(ms)
  if (until === undefined) return limit
  const ended = new AbortController()
  for (const one of [until, limit]) {
    if (one.aborted) ended.abort(one.reason)
    one.addEventListener('abort', () => ended.abort(one.reason))
  }
  return ended.signal
}

/** Sends a request with the token `used`, or without one if that is null. */
type Ask = (used: string | null) => Promise<{ readonly response: Response; readonly text: string }>

function parseAnswer<Data>(response: Response, text: string, read: (data: unknown) => Data): Reply<Data> {
  const { status, headers } = response
  const after = headers.get('retry-after') ?? ''
  const retrySeconds = /^\d{1,5}$/.test(after) ? Number(after) : null
  const refused = { ok: false, status, reason: headers.get('x-reason'), retrySeconds } as const
  try {
    const { msg, data } = readMembers(parseExact(text))
    const sentence = readText(msg)
    if (response.ok) return { ok: true, data: read(data), msg: sentence }
    return { ...refused, kind: kindOf(status), msg: sentence }
  } catch {
    return { ...refused, kind: response.ok ? 'broken' : kindOf(status), msg: '' }
  }
}

function kindOf(status: number): RefusalKind {
  if (status === 401) return 'unauthorized'
  if (status === 429) return 'limited'
  return status >= 500 ? 'unavailable' : 'refused'
}

/**
 * Writes the query of a path, without the question mark. Parameters that are empty or null are left
 * out.
 */
export function query(parameters: Readonly<Record<string, string | number | null>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== '')
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&')
}
