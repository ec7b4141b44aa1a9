import { nativeAsset } from '../../src/ledger/asset.ts'
import { type Currency, type CurrencyId, indexCurrencies } from '../../src/ledger/currencies.ts'

/** TRX as shipped. */
export const trx: Currency = {
  cuy: 1 as CurrencyId,
  symbol: 'TRX',
  asset: nativeAsset,
  decimals: 6,
  scale: 6,
  minDeposit: 0n,
  retired: false,
}
/** A currency with more decimals on the chain than in the ledger. */
export const fine: Currency = { ...trx, cuy: 2 as CurrencyId, symbol: 'FINE', decimals: 18, scale: 6 }
/** Both of them. */
export const twoCurrencies = indexCurrencies([fine, trx])
