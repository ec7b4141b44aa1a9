import type { StaticFiles } from '../config/config.ts'
import { isLoopback } from '../config/schemas.ts'
import { policyHeader } from './middleware/every-request.ts'
import { callerPagePath, type PageSettings, withSettings } from './page-settings.ts'

const unframed = "frame-ancestors 'none'"

/**
 * A page that pages of these origins may frame, with its settings. The file comes with the headers of all static files, by which no page
 * may: without origins they stay.
 */
export async function servePage(
  { url, method }: Request,
  files: StaticFiles,
  settings: PageSettings,
): Promise<Response> {
  const { origins, devUid } = settings
  // Without the conditions of the request: a copy that the browser has can be from before the settings changed.
  const file = await files.fetch(new URL(callerPagePath, url).href, { method })
  const headers = new Headers(file.headers)
  headers.delete('etag')
  headers.delete('content-length')
  headers.set('cache-control', 'no-cache')
  const policy = headers.get(policyHeader) ?? `default-src 'none'; ${unframed}`
  headers.set(policyHeader, policy)
  if (origins.length > 0 && policy.includes(unframed)) {
    headers.set(policyHeader, policy.replace(unframed, `frame-ancestors ${origins.join(' ')}`))
    headers.delete('x-frame-options') // it cannot name an origin
  }
  const own = isLoopback(new URL(url).hostname) ? devUid : null
  return new Response(withSettings(await file.text(), { ...settings, devUid: own }), { status: file.status, headers })
}
