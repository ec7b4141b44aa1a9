import { type PageWallet, pageWallets } from '../../worker/common/page-wallets.ts'
import { parseExact, readInteger, readMembers, readText } from '../kit/read.ts'

/** The look of the page, as the operator sets it (`PAGE_BRAND`). */
export interface ShownBrand {
  readonly name: string
  readonly color: string | null
  /** A data URL of an image. */
  readonly logo: string | null
}

/** The settings that the service writes into the page's HTML. */
export interface DepositSettings {
  /** The origins to which links may lead back. */
  readonly origins: readonly string[]
  readonly brand: ShownBrand | null
  /** The wallet app that the page opens with address and amount. */
  readonly wallet: PageWallet | null
  /**
   * The user for whom the service acts if there is no token (`DEV_UID`). Null unless the page runs
   * on the service's own machine.
   */
  readonly devUid: number | null
}

/** Reads the settings in the page; empty settings if there are none. */
export function readPageSettings(): DepositSettings {
  try {
    const text = document.querySelector('meta[name="settings"]')?.getAttribute('content') ?? ''
    const { origins, brand, wallet, devUid } = readMembers(parseExact(text))
    return {
      origins: Array.isArray(origins) ? origins.filter((one) => typeof one === 'string') : [],
      brand: brand === null ? null : readBrand(brand),
      wallet: pageWallets.find((one) => one === wallet) ?? null,
      devUid: devUid === null ? null : readInteger(devUid),
    }
  } catch {
    return { origins: [], brand: null, wallet: null, devUid: null }
  }
}

function readBrand(value: unknown): ShownBrand {
  const { name, color, logo } = readMembers(value)
  return {
    name: readText(name),
    color: typeof color === 'string' ? color : null,
    logo: typeof logo === 'string' ? logo : null, // a data URL is longer than `readText` allows
  }
}

/** Gives the colour of the brand to the style sheet. Without a colour, the page keeps its own. */
export function applyBrand({ color }: ShownBrand): void {
  if (color === null) return
  const root = document.documentElement
  root.dataset.brand = ''
  root.style.setProperty('--brand', color)
}
