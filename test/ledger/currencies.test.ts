import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/worker/chain/address.ts'
import { nativeAsset, trc20Asset } from '../../src/worker/chain/block.ts'
import { amountMax } from '../../src/worker/common/amount.ts'
import type { CurrencyId } from '../../src/worker/common/ids.ts'
import { type Currency, depositValueOf, indexCurrencies } from '../../src/worker/ledger/currencies.ts'
import { anyCurrency, anyRaw } from '../support/arbitraries.ts'

const token = (decimals: number, scale: number, minDeposit = 0n): Currency => ({
  cuy: 2 as CurrencyId,
  symbol: 'T',
  name: 'Token',
  asset: trc20Asset('11'.repeat(20) as Address),
  decimals,
  scale,
  minDeposit,
  reviewFrom: null,
  retired: false,
})

describe('depositValueOf', () => {
  it.each([
    ['the whole amount where the ledger keeps all decimals', token(6, 6), 1_500_000n, 'credited', 1_500_000n],
    ['the digits that the ledger keeps, not rounded up', token(18, 6), 1_999_999_999_999n, 'credited', 1n],
    ['nothing below the smallest unit', token(18, 6), 999_999_999_999n, 'dust', null],
    ['the smallest unit', token(18, 6), 10n ** 12n, 'credited', 1n],
    ['the minimum', token(6, 6, 1_000_000n), 1_000_000n, 'credited', 1_000_000n],
    ['nothing one unit below the minimum', token(6, 6, 1_000_000n), 999_999n, 'below-minimum', null],
    ['nothing of dust that is above the minimum', token(18, 6, 5n * 10n ** 11n), 6n * 10n ** 11n, 'dust', null],
    ['the largest amount', token(6, 6), amountMax, 'credited', amountMax],
    ['nothing of one unit more than the largest amount', token(6, 6), amountMax + 1n, 'too-large', null],
    [
      'the largest amount and digits that the ledger does not keep',
      token(18, 6),
      (amountMax + 1n) * 10n ** 12n - 1n,
      'credited',
      amountMax,
    ],
    ['nothing of the largest transfer of a token', token(6, 6), 2n ** 256n - 1n, 'too-large', null],
    ['whole units where the ledger keeps no decimals', token(2, 0), 250n, 'credited', 2n],
  ])('credits %s', (_, currency, raw, kind, amount) => {
    expect(depositValueOf(currency, raw)).toEqual(amount === null ? { kind } : { kind, amount })
  })

  it('never credits more than arrived, nor less by a smallest unit or more', () => {
    fc.assert(
      fc.property(anyCurrency, anyRaw, (currency, raw) => {
        const value = depositValueOf(currency, raw)
        if (value.kind !== 'credited') return
        const unit = 10n ** BigInt(currency.decimals - currency.scale)
        expect(value.amount * unit).toBeLessThanOrEqual(raw)
        expect((value.amount + 1n) * unit).toBeGreaterThan(raw)
        expect(raw).toBeGreaterThanOrEqual(currency.minDeposit)
      }),
    )
  })
})

describe('indexCurrencies', () => {
  it('sorts by cuy, and finds TRX and each token', () => {
    const usdt = token(6, 6)
    const trx: Currency = { ...token(6, 6), cuy: 1 as CurrencyId, symbol: 'TRX', asset: nativeAsset }
    const { list, byId, byContract, native } = indexCurrencies([usdt, trx])
    expect(list).toEqual([trx, usdt])
    expect([...byId]).toEqual([
      [1, trx],
      [2, usdt],
    ])
    expect([...byContract]).toEqual([['11'.repeat(20), usdt]])
    expect(native).toBe(trx)
    expect(indexCurrencies([usdt]).native).toBeNull()
  })
})
