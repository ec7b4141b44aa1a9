import type { Address } from '../chain/address.ts'
import type { Asset } from '../chain/block.ts'
import { type Amount, toAmount } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'

/** The symbols that a currency can have. */
export const symbolPattern = /^[\w.-]{1,20}$/

/** A configured currency. */
export interface Currency {
  readonly cuy: CurrencyId
  readonly symbol: string
  /** For people. */
  readonly name: string
  readonly asset: Asset
  /** Decimals of the chain's own units (TRX 6: one sun is 0.000001). */
  readonly decimals: number
  /** Decimals of ledger amounts, at most `decimals`. */
  readonly scale: number
  /** Smallest deposit that is credited, in chain units. 0n credits any. */
  readonly minDeposit: bigint
  /** A deposit of at least so many chain units is looked at by a person before it is credited. Null: none is. */
  readonly reviewFrom: bigint | null
  /** What arrives is kept, uncredited. Balances and entries stay. */
  readonly retired: boolean
}

/** All configured currencies, ordered by `cuy`, with the indexes that the scan needs. */
export interface Currencies {
  readonly list: readonly Currency[]
  /** The same in the order of the configuration, in which pages offer them. */
  readonly offered: readonly Currency[]
  readonly byId: ReadonlyMap<CurrencyId, Currency>
  /** Accepted tokens by contract. */
  readonly byContract: ReadonlyMap<Address, Currency>
  /** TRX, where it is configured. */
  readonly native: Currency | null
}

/** Indexes `list`. Its ids and contracts must be unique. */
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

/** The value of a deposit in the ledger. */
export type DepositValue =
  | { readonly kind: 'credited'; readonly amount: Amount }
  | { readonly kind: 'below-minimum' }
  /** Less than the ledger's smallest unit. */
  | { readonly kind: 'dust' }
  /** More than one ledger amount can represent: an operator decides. */
  | { readonly kind: 'too-large' }

/**
 * The value of `raw` chain units (positive). The minimum is compared in chain units. Digits below the ledger's scale are
 * not credited, never rounded up.
 */
export function depositValueOf(currency: Currency, raw: bigint): DepositValue {
  if (raw < currency.minDeposit) return { kind: 'below-minimum' }
  const units = raw / 10n ** BigInt(currency.decimals - currency.scale)
  if (units <= 0n) return { kind: 'dust' }
  const amount = toAmount(units)
  return amount === null ? { kind: 'too-large' } : { kind: 'credited', amount }
}
