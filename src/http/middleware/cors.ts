import type { CorsOrigins } from '../../config/config.ts'
import type { ApiResponse } from '../envelope.ts'
import { bookmarkHeader } from './bookmark.ts'

/** How long a browser may remember what a preflight said. */
export const preflightSeconds = 600

const none = {}
const exposed = ['x-request-id', bookmarkHeader, 'retry-after', 'server-timing'].join(', ')
const accepted = ['authorization', 'x-request-id', bookmarkHeader].join(', ')

/**
 * The headers by which a browser lets a page of another origin read an answer: none where CORS is off or the origin is
 * not a configured one. There are no cookies here, so credentials are never allowed.
 */
export function corsHeaders(origins: CorsOrigins | null, { headers }: Request): Readonly<Record<string, string>> {
  if (origins === null) return none
  if (origins === '*') return { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed }
  const origin = headers.get('origin')
  if (origin === null || !origins.has(origin)) return { vary: 'Origin' }
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed, vary: 'Origin' }
}

/** The methods that a path takes, as `Allow` says them. */
export function allowedMethods(origins: CorsOrigins | null): string {
  return origins === null ? 'GET, HEAD' : 'GET, HEAD, OPTIONS'
}

/** What OPTIONS is answered where CORS is configured. Without an allowed origin a browser takes it for a no. */
export const preflight: ApiResponse = {
  status: 204,
  msg: '',
  headers: {
    allow: allowedMethods('*'),
    'access-control-allow-methods': 'GET, HEAD',
    'access-control-allow-headers': accepted,
    'access-control-max-age': preflightSeconds.toString(),
  },
}
