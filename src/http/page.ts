import type { Uid } from '../common/ids.ts'
import type { Brand } from '../config/brand.ts'
import type { StaticFiles } from '../config/config.ts'
import { isLoopback } from '../config/schemas.ts'
import { policyHeader } from './middleware/every-request.ts'

/** The page for callers. */
export const callerPagePath = '/deposit'

const unframed = "frame-ancestors 'none'"

/** What a configuration says about the page for callers. */
export interface PageSettings {
  /** The origins whose pages may frame it, and to which it may lead back. */
  readonly origins: readonly string[]
  readonly brand: Brand | null
  /** Whom a request without a token acts for on this machine (`DEV_UID`). */
  readonly devUid: Uid | null
}

/** Those of a configuration that is not valid. */
export const noPageSettings: PageSettings = { origins: [], brand: null, devUid: null }

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

/** The page with its settings, as JSON in the attribute that it has for them. */
export function withSettings(html: string, settings: PageSettings): string {
  const json = JSON.stringify(settings).replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return html.replace('<meta name="settings" content="">', () => `<meta name="settings" content="${json}">`)
}
