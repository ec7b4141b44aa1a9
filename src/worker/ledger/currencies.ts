import type { Address } from '../chain/address.ts'
import type { Asset } from '../chain/block.ts'
import { type Amount, toAmount } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'

/** The form of a currency's symbol. */
export const symbolPattern = /^[\w.-]{1,20}$/

/** A configured currency. */
export interface Currency {
  readonly cuy: CurrencyId
  readonly symbol: string
  /** The name that people see. */
  readonly name: string
  readonly asset: Asset
  /** Decimals of the chain's units (TRX 6: one sun is 0.000001). */
  readonly decimals: number
  /** Decimals of ledger amounts, at most `decimals`. */
  readonly scale: number
  /** Smallest deposit that is credited, in chain units. 0n: every deposit is. */
  readonly minDeposit: bigint
  /** A deposit of this many chain units or more waits for a person's review. Null: no deposit does. */
  readonly reviewFrom: bigint | null
  /** New deposits are held and not credited. Balances and entries stay. */
  readonly retired: boolean
}

/** All configured currencies, ordered by `cuy`, with the indexes that the scan needs. */
export interface Currencies {
  readonly list: readonly Currency[]
  /** The currencies in the order of the configuration, in which pages offer them. */
  readonly offered: readonly Currency[]
  readonly byId: ReadonlyMap<CurrencyId, Currency>
  /** Tokens by contract. */
  readonly byContract: ReadonlyMap<Address, Currency>
  /** TRX, or null if it is not configured. */
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

/** The value of a deposit in ledger units, or why it is not credited. */
export type DepositValue =
  | { readonly kind: 'credited'; readonly amount: Amount }
  | { readonly kind: 'below-minimum' }
  /** Less than the ledger's smallest unit. */
  | { readonly kind: 'dust' }
  /** More than a ledger amount can represent, so an operator must decide. */
  | { readonly kind: 'too-large' }

/**
 * Converts `raw` chain units (positive) to ledger units. The minimum is compared in chain units. Digits below the ledger's scale are cut off, never rounded up.
 */
export function depositValueOf(currency: Currency, raw: bigint): DepositValue {
  if (raw < currency.minDeposit) return { kind: 'below-minimum' }
  const units = raw / 10n ** BigInt(currency.decimals - currency.scale)
  if (units <= 0n) return { kind: 'dust' }
  const amount = toAmount(units)
  return amount === null ? { kind: 'too-large' } : { kind: 'credited', amount }
}
