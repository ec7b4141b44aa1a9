import { parseExact, readMembers, readText } from './read.ts'
import type { TokenSource } from './token.ts'

/** How long an answer may take that can wait for a scan. */
export const longestMs = 30_000
const bookmarkName = 'x-d1-bookmark'

/** Why there is no answer that helps. */
export type RefusalKind = 'offline' | 'slow' | 'unauthorized' | 'limited' | 'unavailable' | 'refused' | 'broken'

/** An answer that does not help. */
export interface Refusal {
  readonly ok: false
  readonly kind: RefusalKind
  readonly status: number
  /** The sentence of the service, in English; empty without one. */
  readonly msg: string
  /** The word of the service for the cause, where it has one. */
  readonly reason: string | null
  /** After how many seconds the service wants to be asked again, where it says so. */
  readonly retrySeconds: number | null
}

/** An answer of the service. */
export type Reply<Data> = { readonly ok: true; readonly data: Data; readonly msg: string } | Refusal

/** Asks the service. */
export interface Api {
  /** GET: `read` takes the data from the answer, and throws where it has another form. `waitMs`: how long it may take. */
  get<Data>(path: string, read: (data: unknown) => Data, waitMs?: number): Promise<Reply<Data>>
  /**
   * POST: sends a body as JSON, and reads the answer as `get` does. Where there is none (`offline`, `slow`), nobody knows whether the
   * service has done it.
   */
  post<Data>(path: string, body: object, read: (data: unknown) => Data): Promise<Reply<Data>>
  /** Asks for these paths already: the next `get` of each takes that answer, where the token is still the same. */
  begin(paths: readonly string[]): void
  /**
   * What the clock of the service shows now, in milliseconds since 1970: that of the reader can be wrong, and is used only
   * where an answer has no date. Null before an answer.
   */
  now(): number | null
}

/** What requests have besides the token. */
interface Extra {
  readonly credentials: RequestCredentials
  readonly headers: Readonly<Record<string, string>>
}

/** Nothing. */
const none: Extra = { credentials: 'omit', headers: {} }

/**
 * The session of Cloudflare Access, which is a cookie. With this header it answers 401 when the session has ended, in place of a
 * redirect that no script can follow.
 */
export const accessSession: Extra = { credentials: 'same-origin', headers: { 'x-requested-with': 'XMLHttpRequest' } }

/** A client that sends the caller's token, and asks for another one where that has expired. `usualMs`: how long an answer may take. */
export function createApi(token: TokenSource, usualMs = longestMs, extra: Extra = none): Api {
  let clockOffset: number | null = null
  let bookmark: string | null = null // what was read once is never older in the next answer
  const request = async (path: string, used: string | null, waitMs = usualMs, sent: object | null = null) => {
    const headers = new Headers({ accept: 'application/json', ...extra.headers })
    if (used !== null) headers.set('authorization', `Bearer ${used}`)
    if (bookmark !== null) headers.set(bookmarkName, bookmark)
    if (sent !== null) headers.set('content-type', 'application/json')
    const posted = sent === null ? {} : { method: 'POST', body: JSON.stringify(sent) }
    const { credentials } = extra
    const options = { headers, credentials, signal: AbortSignal.timeout(waitMs), cache: 'no-store' } as const
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
        answer.catch(() => {}) // `get` meets the failure
        begun.set(path, { used, answer })
      }
    },
    now: () => (clockOffset === null ? null : clockOffset + performance.now()),
    get(path, read, waitMs = usualMs) {
      const early = begun.get(path)
      begun.delete(path)
      const first = (used: string | null) => (early?.used === used ? early.answer : request(path, used, waitMs))
      return answered(first, (used) => request(path, used, waitMs), read)
    },
    post(path, body, read) {
      const send = (used: string | null) => request(path, used, usualMs, body)
      return answered(send, send, read)
    },
  }

  /** The answer, or that to the second request where the token has expired and there is another one: nothing is done by the first then. */
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

/** Asks with a token. */
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
