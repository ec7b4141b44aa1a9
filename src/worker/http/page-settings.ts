import type { Uid } from '../common/ids.ts'
import type { PageWallet } from '../common/page-wallets.ts'
import type { PageBrand } from '../config/brand.ts'

/** The path of the deposit page. */
export const callerPagePath = '/deposit'

/** The settings of the deposit page. */
export interface PageSettings {
  /** The origins whose pages may frame the page, and to which it may link back. */
  readonly origins: readonly string[]
  readonly brand: PageBrand | null
  /** The wallet app that the page opens with address and amount (`PAGE_WALLET`). */
  readonly wallet: PageWallet | null
  /** The user for requests without a token on this machine (`DEV_UID`). */
  readonly devUid: Uid | null
}

/** The settings if the configuration is invalid. */
export const noPageSettings: PageSettings = { origins: [], brand: null, wallet: null, devUid: null }

/** Writes the settings as JSON into the attribute that the page reads. */
export function withSettings(html: string, settings: PageSettings): string {
  const json = JSON.stringify(settings).replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return html.replace('<meta name="settings" content="">', () => `<meta name="settings" content="${json}">`)
}
