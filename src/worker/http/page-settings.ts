import type { Uid } from '../common/ids.ts'
import type { PageWallet } from '../common/page-wallets.ts'
import type { PageBrand } from '../config/brand.ts'

/** The page for callers. */
export const callerPagePath = '/deposit'

/** What a configuration says about the page for callers. */
export interface PageSettings {
  /** The origins whose pages may frame it, and to which it may lead back. */
  readonly origins: readonly string[]
  readonly brand: PageBrand | null
  /** The wallet that it opens with address and amount (`PAGE_WALLET`). */
  readonly wallet: PageWallet | null
  /** Whom a request without a token acts for on this machine (`DEV_UID`). */
  readonly devUid: Uid | null
}

/** Those of a configuration that is not valid. */
export const noPageSettings: PageSettings = { origins: [], brand: null, wallet: null, devUid: null }

/** The page with its settings, as JSON in the attribute that it has for them. */
export function withSettings(html: string, settings: PageSettings): string {
  const json = JSON.stringify(settings).replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return html.replace('<meta name="settings" content="">', () => `<meta name="settings" content="${json}">`)
}
