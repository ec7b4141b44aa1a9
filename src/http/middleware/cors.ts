import type { MiddlewareHandler } from 'hono'
import type { CorsOrigins } from '../../config/config.ts'
import type { Env, RequestContext } from '../context.ts'
import { bookmarkHeader } from './bookmark.ts'

/** How long a browser may cache the response to a preflight. */
export const preflightSeconds = 600

const exposed = ['x-request-id', bookmarkHeader, 'retry-after', 'server-timing'].join(', ')
const accepted = ['authorization', 'x-request-id', bookmarkHeader].join(', ')

/**
 * Allows a browser to show responses to pages of the configured origins. There are no cookies, so credentials are never
 * allowed. Decision note 15: why not by Hono's own `cors`.
 */
export function cors(origins: CorsOrigins): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next()
    const { headers } = c.res
    if (origins !== '*') headers.set('vary', 'Origin')
    const origin = origins === '*' ? '*' : c.req.header('origin')
    if (origin === undefined || (origins !== '*' && !origins.has(origin))) return
    headers.set('access-control-allow-origin', origin)
    headers.set('access-control-expose-headers', exposed)
  }
}

/** The methods of a route, for `Allow`. */
export function allowedMethods(origins: CorsOrigins | null): string {
  return origins === null ? 'GET, HEAD' : 'GET, HEAD, OPTIONS'
}

/** The response to OPTIONS where CORS is configured. A browser refuses it without an allowed origin. */
export function preflight(c: RequestContext): Response {
  return c.body(null, 204, {
    allow: allowedMethods('*'),
    'cache-control': 'no-store',
    'access-control-allow-methods': 'GET, HEAD',
    'access-control-allow-headers': accepted,
    'access-control-max-age': preflightSeconds.toString(),
  })
}
