import type { Uid } from '../common/ids.ts'
import type { PageWallet } from '../common/page-wallets.ts'
import type { PageBrand } from '../config/brand.ts'

export const callerPagePath = '/deposit'

/** What the deployment sets on the deposit page. The Worker writes it into the page's HTML. */
export interface PageSettings {
  /** The origins whose pages may frame the page, and to which it may link back. */
  readonly origins: readonly string[]
  readonly brand: PageBrand | null
  /** The wallet app that the page opens with address and amount (`PAGE_WALLET`). */
  readonly wallet: PageWallet | null
  /** The user for requests without a token on this machine (`DEV_UID`). */
  readonly devUid: Uid | null
}

/**
 * The settings of the page while the configuration is invalid. No origin, brand or wallet of an
 * invalid configuration can be trusted.
 */
export const noPageSettings: PageSettings = { origins: [], brand: null, wallet: null, devUid: null }

/**
 * The HTML of the page with the settings as JSON in its `<meta name="settings">`, where the page's
 * script reads them.
 */
export function withSettings(html: string, settings: PageSettings): string {
  const json = JSON.stringify(settings).replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return html.replace('<meta name="settings" content="">', () => `<meta name="settings" content="${json}">`)
}
