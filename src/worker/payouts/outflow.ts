import { type Address, formatBase58 } from '../chain/address.ts'
import { formatUnits, trxDecimals } from '../common/amount.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import type { WriteAmount } from '../ledger/entry.ts'

/**
 * An outflow from the payout address in one transaction, in chain units. `contract` is empty for
 * TRX.
 */
export interface Outflow {
  readonly contract: Address | ''
  readonly to: Address
  readonly raw: string
}

/**
 * An outflow as a member of an answer: `amt` in whole units of a configured currency, or `units`,
 * the smallest units of any other token.
 */
export type OutflowItem<A> =
  | { readonly to: string; readonly cuy: CurrencyId; readonly amt: A }
  | { readonly to: string; readonly contract: string; readonly units: string }

/** Parses the column `moved` of a payout or of a transaction. */
export function readOutflows(text: string): readonly Outflow[] {
  return JSON.parse(text) as readonly Outflow[] // safe: written by `findOutgoing` alone
}

/** Most outflows that a sentence names. */
const saidMax = 5

/** Writes outflows as a part of a sentence, such as `5 USDT to T…, 2 TRX to T…`. */
export function sayOutflows(moved: readonly Outflow[], currencies: Currencies): string {
  const said = moved.slice(0, saidMax).map(({ contract, to, raw }) => {
    const { decimals, symbol } = currencyOfContract(contract, currencies) ?? (contract === '' ? trx : unitsOf(contract))
    return `${formatUnits(BigInt(raw), decimals)} ${symbol} to ${formatBase58(to)}`
  })
  return [...said, ...(moved.length > saidMax ? ['more'] : [])].join(', ')
}

const trx = { decimals: trxDecimals, symbol: 'TRX' }
const unitsOf = (contract: Address) => ({ decimals: 0, symbol: `units of ${formatBase58(contract)}` })

/**
 * An outflow as a member of an answer. `write` formats an amount of smallest units with a number of
 * decimals.
 */
export function outflowItem<A>(
  { contract, to, raw }: Outflow,
  currencies: Currencies,
  write: WriteAmount<A>,
): OutflowItem<A> {
  const currency = currencyOfContract(contract, currencies)
  // safe: TRX is configured if it was paid out
  if (currency === null) return { to: formatBase58(to), contract: formatBase58(contract as Address), units: raw }
  return { to: formatBase58(to), cuy: currency.cuy, amt: write(BigInt(raw), currency.decimals) }
}

/** The currency of a contract, or of TRX (empty); null if it is not configured. */
export function currencyOfContract(contract: Address | '', { native, byContract }: Currencies): Currency | null {
  return contract === '' ? native : (byContract.get(contract) ?? null)
}
