import { nativeAsset, trc20Asset } from '../../src/worker/chain/block.ts'
import type { CurrencyId } from '../../src/worker/common/ids.ts'
import { type Currency, indexCurrencies } from '../../src/worker/ledger/currencies.ts'
import { usdtAddress } from './transaction-spec.ts'

/** TRX as the shipped configuration has it. */
export const trx: Currency = {
  cuy: 1 as CurrencyId,
  symbol: 'TRX',
  name: 'TRON',
  asset: nativeAsset,
  decimals: 6,
  scale: 6,
  minDeposit: 0n,
  reviewFrom: null,
  retired: false,
}
/** USDT as the shipped configuration has it. */
export const usdt: Currency = {
  ...trx,
  cuy: 2 as CurrencyId,
  symbol: 'USDT',
  name: 'Tether USD',
  asset: trc20Asset(usdtAddress),
}
/** Both currencies of the shipped configuration. */
export const currencies = indexCurrencies([trx, usdt])
/** A token with 18 decimals on the chain. The ledger keeps 6 of them. */
export const fine: Currency = { ...trx, cuy: 2 as CurrencyId, symbol: 'FINE', name: 'Fine', decimals: 18, scale: 6 }
/** TRX (cuy 1) and `fine` (cuy 2). */
export const twoCurrencies = indexCurrencies([fine, trx])
