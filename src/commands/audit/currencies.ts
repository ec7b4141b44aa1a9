import type { LineOf } from './lines.ts'
import { demand, WrongLine } from './wrong-line.ts'

/** The meaning of the amounts of a currency. */
export interface ArchivedCurrency {
  /** Null for TRX. */
  readonly contract: string | null
  readonly decimals: number
  readonly scale: number
}

/** The currencies of the newest configuration in an archive, by `cuy`. */
export type ArchivedCurrencies = ReadonlyMap<number, ArchivedCurrency>

/**
 * The currencies of the next configuration in an archive. A currency stays, and only its decimals
 * can be corrected.
 */
export function nextCurrencies(
  before: ArchivedCurrencies,
  { currencies }: LineOf<'configuration'>,
): ArchivedCurrencies {
  const after = new Map<number, ArchivedCurrency>()
  for (const { cuy, contract = null, decimals, scale } of currencies) {
    demand(scale <= decimals, `currency ${cuy} has a scale above its decimals`)
    after.set(cuy, { contract, decimals, scale })
  }
  for (const [cuy, { contract, scale }] of before) {
    const isSame = after.get(cuy)?.contract === contract && after.get(cuy)?.scale === scale
    demand(isSame, `currency ${cuy} has another contract or scale than before`)
  }
  return after
}

/** The currency of a line. */
export function currencyOf(currencies: ArchivedCurrencies, cuy: number): ArchivedCurrency {
  const currency = currencies.get(cuy)
  if (currency === undefined) throw new WrongLine(`no configuration before it has currency ${cuy}`)
  return currency
}

/** Reads a decimal text of the archive as ledger units: an integer within ±(2^53−1). */
export function readUnits(text: string, { scale }: ArchivedCurrency): number {
  const [whole = '', fraction = ''] = text.split('.')
  const units = Number(whole + fraction.padEnd(scale, '0'))
  demand(fraction.length <= scale && Number.isSafeInteger(units), `${text} is no amount of its currency`)
  return units
}

/** The ledger units that so many chain units of a currency are worth. */
export function unitsWorth(raw: string, { decimals, scale }: ArchivedCurrency): bigint {
  return BigInt(raw) / 10n ** BigInt(decimals - scale)
}
