import type { MiddlewareHandler } from 'hono'
import type { CorsOrigins } from '../../config/config.ts'
import { isDatabaseAway } from '../../d1/away.ts'
import type { Clock } from '../../platform/clock.ts'
import { type LogFields, type Logger, stackOf } from '../../platform/logger.ts'
import { createUsage, type Usage } from '../../platform/usage.ts'
import { type Env, type RequestContext, routeName } from '../context.ts'
import { failure } from '../envelope.ts'
import { crashed, type Method, reasonHeader, toAwayProblem, urlCharsMax, urlTooLong } from '../errors.ts'
import { bookmarkHeader } from './access.ts'

export interface RequestParts {
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
  /** Makes the id of a request that brings none: unique, and not to be guessed. */
  readonly uniqueName: () => string
}

/**
 * The form of an id that a request may bring. It is copied into a header and into log lines, so it
 * has no other characters.
 */
const plainId = /^[\w.-]{1,64}$/

/**
 * How long after a response a browser uses only https for this host (`Strict-Transport-Security`).
 */
export const httpsSeconds = 31_536_000
/** How long a browser may cache the response to an OPTIONS request. */
export const preflightSeconds = 600

export const policyHeader = 'content-security-policy'

/**
 * The headers of every response that is not a page: with them no browser displays, frames or embeds
 * it.
 */
const securityHeaders = Object.entries({
  [policyHeader]: "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
})
const exposed = ['x-request-id', bookmarkHeader, reasonHeader, 'retry-after', 'server-timing'].join(', ')
const accepted = ['authorization', 'x-request-id', bookmarkHeader].join(', ')

/**
 * The outermost middleware. It gives each request an id, one log line with time and cost, and the
 * headers for browsers. It answers an exception with a bare 500, or with `toAwayProblem` while the
 * database is away, and only the log has the exception's text. A log line contains no text from
 * outside, except an id of plain characters. Decision note 15 says why Hono's middleware is not
 * used.
 */
export function everyRequest(
  { clock, logger, uniqueName }: RequestParts,
  origins: CorsOrigins | null,
): MiddlewareHandler<Env> {
  return async (c, next) => {
    const startedAt = clock.now()
    const usage = createUsage()
    c.set('invocation', { usage, bookmark: null, bookmarkAfter: null })
    const own = c.req.header('x-request-id')
    const requestId = own !== undefined && plainId.test(own) ? own : uniqueName()
    const request = { requestId, route: routeName(c) }
    try {
      // A URL that is longer than any valid one is refused before anything reads it.
      if (c.req.url.length > urlCharsMax) c.res = failure(urlTooLong)
      else await next()
    } catch (thrown) {
      const isAway = isDatabaseAway(thrown)
      logger.error(isAway ? 'database-away' : 'request-crashed', { ...request, text: stackOf(thrown) })
      c.res = failure(isAway ? toAwayProblem(thrown) : crashed)
    }
    const { headers, status } = c.res
    const durationMs = clock.now() - startedAt
    headers.set('x-request-id', requestId)
    headers.set('server-timing', `total;dur=${durationMs}, db;dur=${usage.database.ms}`)
    // A page has its own policy (`page.ts`).
    if (!headers.has(policyHeader)) for (const [name, value] of securityHeaders) headers.set(name, value)
    // Browsers ignore this header over http.
    if (c.req.url.startsWith('https:')) headers.set('strict-transport-security', `max-age=${httpsSeconds}`)
    if (origins !== null) allowOrigin(headers, c.req.header('origin'), origins)
    logger.info('request', { ...request, method: c.req.method, status, durationMs, ...costFields(usage) })
  }
}

/**
 * The cost of a request in its log line. Node calls are missing, because only the scanner makes
 * them.
 */
export function costFields({ database, rowsRead }: Usage): LogFields {
  return { databaseQueries: database.calls, databaseMs: database.ms, rowsRead }
}

/**
 * Lets browsers show the response to pages of the configured origins. Credentials are never
 * allowed, so no cookies are sent.
 */
function allowOrigin(headers: Headers, origin: string | undefined, origins: CorsOrigins): void {
  if (origins !== '*') headers.set('vary', 'Origin')
  if (origins !== '*' && (origin === undefined || !origins.has(origin))) return
  headers.set('access-control-allow-origin', origins === '*' ? '*' : (origin ?? ''))
  headers.set('access-control-expose-headers', exposed)
}

/**
 * Makes the handler of OPTIONS for a route with these methods. A browser uses the response only if
 * `allowOrigin` adds the page's origin to it.
 */
export function preflight(methods: readonly Method[]): (c: RequestContext) => Response {
  const allow = methods.join(', ')
  return (c) =>
    c.body(null, 204, {
      allow,
      'cache-control': 'no-store',
      'access-control-allow-methods': methods.filter((method) => method !== 'OPTIONS').join(', '),
      'access-control-allow-headers': accepted,
      'access-control-max-age': preflightSeconds.toString(),
    })
}
