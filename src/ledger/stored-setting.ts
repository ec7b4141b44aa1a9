import { type Address, formatBase58 } from '../chain/address.ts'
import type { Currencies, Currency } from './currencies.ts'

/** A part of the configuration that stored data depends on. */
export interface Setting {
  /** The variable, for a currency followed by a point and its `cuy`. */
  readonly name: string
  readonly value: string
}

/** A setting that the database remembers. */
export interface StoredSetting extends Setting {
  /** Whether a currency has entries, deposits or pending deposits. Read only where it is not configured now. */
  readonly used: boolean
}

/** A stored setting that the configuration contradicts. */
export interface SettingDifference {
  readonly setting: string
  readonly stored: string
  readonly configured: string
}

/** What the stored data means. */
export interface StoredSettings {
  /**
   * Stores the settings that are not stored yet, unless a stored one differs. Returns all stored settings.
   */
  remember(settings: readonly Setting[]): Promise<readonly StoredSetting[]>
}

/** The settings of a deployment. The first address identifies the key, whichever level of it is configured. */
export function settingsOf(chainId: string, firstAddress: Address, currencies: Currencies): readonly Setting[] {
  return [
    { name: 'TRON_CHAIN_ID', value: chainId },
    { name: 'TRON_XPUB', value: `${formatBase58(firstAddress)} at m/44'/195'/n'/0/0` },
    ...currencies.list.map((currency) => ({ name: `CURRENCIES.${currency.cuy}`, value: meaningOf(currency) })),
  ]
}

/** What the configuration contradicts. A stored currency may be missing where nothing is stored in it. */
export function findDifferences(
  settings: readonly Setting[],
  stored: readonly StoredSetting[],
): readonly SettingDifference[] {
  const configured = new Map(settings.map(({ name, value }) => [name, value]))
  return stored.flatMap(({ name, value, used }) => {
    const present = configured.get(name)
    const isEqual = present === undefined ? !used : present === value
    return isEqual ? [] : [{ setting: name, stored: value, configured: present ?? 'missing' }]
  })
}

function meaningOf({ asset, decimals, scale }: Currency): string {
  const what = asset.kind === 'native' ? 'TRX' : `contract ${formatBase58(asset.contract)}`
  return `${what}, decimals ${decimals}, scale ${scale}`
}
