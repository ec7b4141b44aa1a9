import type { Address } from '../chain/address.ts'
import type { Asset } from '../chain/block.ts'
import { type Amount, toAmount } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'

/** A currency's symbol is 1 to 20 of these characters. */
export const symbolPattern = /^[\w.-]{1,20}$/

/** One entry of `CURRENCIES`, parsed. */
export interface Currency {
  readonly cuy: CurrencyId
  readonly symbol: string
  /** What people see; the symbol if no name is configured. */
  readonly name: string
  readonly asset: Asset
  /**
   * One whole unit is 10^`decimals` chain units: TRX has 6 decimals, and one sun is 0.000001 TRX.
   */
  readonly decimals: number
  /** One whole unit is 10^`scale` ledger units. At most `decimals`. */
  readonly scale: number
  /** Smallest deposit that is credited, in chain units. 0n: every deposit is. */
  readonly minDeposit: bigint
  /**
   * A deposit of this many chain units or more waits for a person's review. Null: no deposit does.
   */
  readonly reviewFrom: bigint | null
  /** New deposits are held and not credited. Balances and entries stay. */
  readonly retired: boolean
}

export interface Currencies {
  /** Ordered by `cuy`. */
  readonly list: readonly Currency[]
  /** In the order of `CURRENCIES`, which is the order in which pages offer them. */
  readonly offered: readonly Currency[]
  readonly byId: ReadonlyMap<CurrencyId, Currency>
  /** The currencies that are tokens. */
  readonly byContract: ReadonlyMap<Address, Currency>
  /** TRX; null if it is not configured. */
  readonly native: Currency | null
}

/**
 * Makes `Currencies` from the configured list. The caller has checked that no two have the same
 * `cuy` or asset.
 */
export function indexCurrencies(list: readonly Currency[]): Currencies {
  const sorted = [...list].sort((a, b) => a.cuy - b.cuy)
  return {
    list: sorted,
    offered: list,
    byId: new Map(sorted.map((currency) => [currency.cuy, currency])),
    byContract: new Map(
      sorted.flatMap((currency) => (currency.asset.kind === 'trc20' ? [[currency.asset.contract, currency]] : [])),
    ),
    native: sorted.find((currency) => currency.asset.kind === 'native') ?? null,
  }
}

/**
 * The currency of a stored row. It is always configured: nothing is served while the configuration
 * lacks a currency that has rows.
 */
export function configured(cuy: CurrencyId, { byId }: Currencies): Currency {
  const currency = byId.get(cuy)
  if (currency === undefined) throw new Error(`currency ${cuy} is stored and not configured`)
  return currency
}

/** What a deposit is worth in the ledger, or why it is not credited. */
export type DepositValue =
  | { readonly kind: 'credited'; readonly amount: Amount }
  | { readonly kind: 'below-minimum' }
  /** Less than the ledger's smallest unit. */
  | { readonly kind: 'dust' }
  /** More than one ledger amount can be (2^53−1 units), so an operator must decide. */
  | { readonly kind: 'too-large' }

/**
 * Converts a deposit of `raw` chain units (positive) to ledger units. Digits below the currency's
 * `scale` are cut off, never rounded up. `minDeposit` is compared before they are cut off.
 */
export function depositValueOf(currency: Currency, raw: bigint): DepositValue {
  if (raw < currency.minDeposit) return { kind: 'below-minimum' }
  const units = raw / 10n ** BigInt(currency.decimals - currency.scale)
  if (units <= 0n) return { kind: 'dust' }
  const amount = toAmount(units)
  return amount === null ? { kind: 'too-large' } : { kind: 'credited', amount }
}
