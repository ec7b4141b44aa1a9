import { deriveAddress } from '../worker/addresses/derive.ts'
import { assetsSchema } from '../worker/config/chain.ts'
import { type ComparedParts, findStoredDifferences } from '../worker/config/check-settings.ts'
import { payoutsSchema } from '../worker/config/payouts.ts'
import { parseBindings } from '../worker/config/schemas.ts'
import type { ReadDatabase } from '../worker/d1/database.ts'
import {
  chainSetting,
  meaningOf,
  meaningOfCurrency,
  rangeSetting,
  type SettingDifference,
  type StoredSetting,
} from '../worker/ledger/stored-settings.ts'
import type { PlacedCell } from './cells.ts'
import type { ConfigurationSource } from './configuration.ts'
import type { Place } from './place.ts'

/**
 * Lists what of a cell's stored data the configuration does not belong to, as the service does
 * before it serves anything. `all` are the cells of the deployment, and `open` opens the database
 * of one for reading.
 */
export function findCellDifferences(
  own: PlacedCell,
  all: readonly PlacedCell[],
  stored: readonly StoredSetting[],
  open: (place: Place) => ReadDatabase,
): Promise<readonly SettingDifference[]> {
  const firstAddressOf = ({ cell }: PlacedCell) => deriveAddress(cell.config.extendedPublicKey, 0)
  const rangeOf = (one: PlacedCell) => ({
    db: open(one.place),
    users: one.cell.users,
    firstAddress: firstAddressOf(one),
  })
  const { chainId, currencies, payouts } = own.cell.config
  const others = all.filter(({ cell }) => cell.number !== own.cell.number)
  const parts: ComparedParts = {
    db: open(own.place),
    meaning: meaningOf(chainId, firstAddressOf(own), currencies),
    payoutAddress: payouts?.address ?? null,
    ranges: own.cell.number === null ? null : { own: rangeOf(own), others: others.map(rangeOf) },
  }
  return findStoredDifferences(parts, stored)
}

/** One difference, in a phrase. */
export function describeDifference({ setting, stored, configured }: SettingDifference): string {
  return `${setting} is "${configured}", stored is "${stored}"`
}

/**
 * As `findCellDifferences`, for a configuration whose secrets are not all known here: compares the
 * chain, the currencies and the payout address, but neither the key nor the range of users. Null if
 * not even these are valid.
 */
export function findKnownDifferences(
  { values, place }: Pick<ConfigurationSource, 'values' | 'place'>,
  stored: readonly StoredSetting[],
  open: (place: Place) => ReadDatabase,
): Promise<readonly SettingDifference[]> | null {
  const assets = parseBindings(assetsSchema, values)
  const payouts = parseBindings(payoutsSchema, values)
  if (!assets.ok || !payouts.ok) return null
  const { chainId, currencies } = assets.value
  const parts: ComparedParts = {
    db: open(place),
    meaning: { settings: [chainSetting(chainId)], currencies: currencies.list.map(meaningOfCurrency) },
    payoutAddress: payouts.value.PAYOUTS?.address ?? null,
    ranges: null,
  }
  const unknown = ['TRON_XPUB', ...(place.cell === null ? [] : [rangeSetting])]
  return findStoredDifferences(
    parts,
    stored.filter(({ name }) => !unknown.includes(name)),
  )
}
