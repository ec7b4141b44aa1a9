import { type PageWallet, pageWallets } from '../../worker/common/page-wallets.ts'
import { parseExact, readInteger, readMembers, readText } from '../kit/read.ts'

/** How the page looks. */
export interface ShownBrand {
  readonly name: string
  readonly color: string | null
  /** A data URL of an image. */
  readonly logo: string | null
}

/** What the service says about the page itself, in its HTML. */
export interface DepositSettings {
  /** The origins that the page may lead back to. */
  readonly origins: readonly string[]
  readonly brand: ShownBrand | null
  /** The wallet that the page opens with address and amount. */
  readonly wallet: PageWallet | null
  /** Whom a request without a token acts for, on this machine. */
  readonly devUid: number | null
}

/** The settings in the page, empty ones where it has none. */
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
    logo: typeof logo === 'string' ? logo : null, // longer than a text for people
  }
}

/** Gives the page the colour of its brand. */
export function applyBrand({ color }: ShownBrand): void {
  if (color === null) return
  const root = document.documentElement
  root.dataset.brand = ''
  root.style.setProperty('--brand', color)
}
