import type { Address } from '../addresses/address.ts'
import type { Brand } from '../common/brand.ts'
import { type Amount, toAmount } from './amount.ts'
import type { Asset } from './asset.ts'

/** A currency's number in the API (`cuy`): 1 is TRX, 2 is USDT as shipped. */
export type CurrencyId = Brand<number, 'CurrencyId'>

/** A currency of the ledger and what it is on the chain. */
export interface Currency {
  readonly cuy: CurrencyId
  readonly symbol: string
  readonly asset: Asset
  /** Decimals of the chain's own units (TRX 6: one sun is 0.000001). */
  readonly decimals: number
  /** Decimals the ledger keeps, at most `decimals`. */
  readonly scale: number
  /** Smallest deposit credited, in chain units. 0n credits any. */
  readonly minDeposit: bigint
}

/** All configured currencies, ordered by `cuy`, with the look-ups that the scan needs. */
export interface Currencies {
  readonly list: readonly Currency[]
  readonly byId: ReadonlyMap<CurrencyId, Currency>
  /** Accepted tokens by contract. */
  readonly byContract: ReadonlyMap<Address, Currency>
  /** TRX, where it is configured. */
  readonly native: Currency | null
}

/** The look-ups over `list`. The caller has checked that ids and contracts are unique. */
export function indexCurrencies(list: readonly Currency[]): Currencies {
  const sorted = [...list].sort((a, b) => a.cuy - b.cuy)
  return {
    list: sorted,
    byId: new Map(sorted.map((currency) => [currency.cuy, currency])),
    byContract: new Map(
      sorted.flatMap((currency) => (currency.asset.kind === 'trc20' ? [[currency.asset.contract, currency]] : [])),
    ),
    native: sorted.find((currency) => currency.asset.kind === 'native') ?? null,
  }
}

/** What a deposit of `raw` chain units is worth in the ledger. */
export type DepositValue =
  | { readonly kind: 'credited'; readonly amount: Amount }
  | { readonly kind: 'below-minimum' }
  /** Less than the ledger's smallest unit. */
  | { readonly kind: 'dust' }
  /** More than the ledger can hold in one amount: a person decides. */
  | { readonly kind: 'too-large' }

/**
 * What `raw` chain units (positive) are worth. The minimum is compared in chain units, before anything is cut off;
 * what lies below the ledger's scale is then left out, never rounded up.
 */
export function depositValueOf(currency: Currency, raw: bigint): DepositValue {
  if (raw < currency.minDeposit) return { kind: 'below-minimum' }
  const units = raw / 10n ** BigInt(currency.decimals - currency.scale)
  if (units <= 0n) return { kind: 'dust' }
  const amount = toAmount(units)
  return amount === null ? { kind: 'too-large' } : { kind: 'credited', amount }
}
