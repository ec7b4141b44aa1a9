import { isLoopback } from '../common/safe-url.ts'
import type { StaticFiles } from '../config/config.ts'
import { policyHeader } from './middleware/every-request.ts'
import { callerPagePath, type PageSettings, withSettings } from './page-settings.ts'

const unframed = "frame-ancestors 'none'"

/**
 * Serves the deposit page with its settings. The headers of the static file forbid framing; here
 * pages of `settings.origins` are allowed to frame it.
 */
export async function servePage(
  { url, method }: Request,
  files: StaticFiles,
  settings: PageSettings,
): Promise<Response> {
  const { origins, devUid } = settings
  // The request's headers, such as `If-None-Match`, are not passed on: a 304 would let the browser
  // keep a copy with older settings.
  const file = await files.fetch(new URL(callerPagePath, url).href, { method })
  const headers = new Headers(file.headers)
  headers.delete('etag')
  headers.delete('content-length')
  headers.set('cache-control', 'no-cache')
  const policy = headers.get(policyHeader) ?? `default-src 'none'; ${unframed}`
  headers.set(policyHeader, policy)
  if (origins.length > 0 && policy.includes(unframed)) {
    headers.set(policyHeader, policy.replace(unframed, `frame-ancestors ${origins.join(' ')}`))
    headers.delete('x-frame-options') // this header cannot name an origin
  }
  const own = isLoopback(new URL(url).hostname) ? devUid : null
  return new Response(withSettings(await file.text(), { ...settings, devUid: own }), { status: file.status, headers })
}
