import type { StaticFiles } from '../config/config.ts'
import { policyHeader } from './middleware/every-request.ts'

/** The page for callers. */
export const callerPagePath = '/deposit'

const unframed = "frame-ancestors 'none'"

/**
 * A page that pages of these origins may frame. The file comes with the headers of all static files, by which no page may: without
 * origins they stay.
 */
export async function servePage(
  { url, method }: Request,
  files: StaticFiles,
  origins: readonly string[],
): Promise<Response> {
  // Without the conditions of the request: a copy that the browser has can be from before the origins changed.
  const file = await files.fetch(new URL(callerPagePath, url).href, { method })
  const headers = new Headers(file.headers)
  headers.delete('etag')
  headers.set('cache-control', 'no-cache')
  const policy = headers.get(policyHeader) ?? `default-src 'none'; ${unframed}`
  headers.set(policyHeader, policy)
  if (origins.length > 0 && policy.includes(unframed)) {
    headers.set(policyHeader, policy.replace(unframed, `frame-ancestors ${origins.join(' ')}`))
    headers.delete('x-frame-options') // it cannot name an origin
  }
  return new Response(file.body, { status: file.status, headers })
}
