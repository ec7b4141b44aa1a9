import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/addresses/address.ts'
import { amountMax } from '../../src/ledger/amount.ts'
import { nativeAsset, trc20Asset } from '../../src/ledger/asset.ts'
import { type Currency, type CurrencyId, depositValueOf, indexCurrencies } from '../../src/ledger/currencies.ts'
import { anyCurrency, anyRaw } from '../support/arbitraries.ts'

const token = (decimals: number, scale: number, minDeposit = 0n): Currency => ({
  cuy: 2 as CurrencyId,
  symbol: 'T',
  asset: trc20Asset('11'.repeat(20) as Address),
  decimals,
  scale,
  minDeposit,
})

describe('worthOf', () => {
  it.each([
    ['all of it where the ledger keeps every decimal', token(6, 6), 1_500_000n, 'credited', 1_500_000n],
    ['what the ledger keeps, never rounded up', token(18, 6), 1_999_999_999_999n, 'credited', 1n],
    ['dust below the smallest unit', token(18, 6), 999_999_999_999n, 'dust', null],
    ['exactly the smallest unit', token(18, 6), 10n ** 12n, 'credited', 1n],
    ['the minimum itself', token(6, 6, 1_000_000n), 1_000_000n, 'credited', 1_000_000n],
    ['one unit below the minimum', token(6, 6, 1_000_000n), 999_999n, 'below-minimum', null],
    [
      'a minimum that is compared before anything is cut off',
      token(18, 6, 5n * 10n ** 11n),
      6n * 10n ** 11n,
      'dust',
      null,
    ],
    ['the largest amount', token(6, 6), amountMax, 'credited', amountMax],
    ['one more than the largest amount', token(6, 6), amountMax + 1n, 'too-large', null],
    [
      'the largest amount with decimals cut off',
      token(18, 6),
      (amountMax + 1n) * 10n ** 12n - 1n,
      'credited',
      amountMax,
    ],
    ['all that a token can move', token(6, 6), 2n ** 256n - 1n, 'too-large', null],
    ['whole units only', token(2, 0), 250n, 'credited', 2n],
  ])('credits %s', (_, currency, raw, kind, amount) => {
    expect(depositValueOf(currency, raw)).toEqual(amount === null ? { kind } : { kind, amount })
  })

  it('never credits more than arrived, and never loses a whole smallest unit', () => {
    fc.assert(
      fc.property(anyCurrency, anyRaw, (currency, raw) => {
        const worth = depositValueOf(currency, raw)
        if (worth.kind !== 'credited') return
        const unit = 10n ** BigInt(currency.decimals - currency.scale)
        expect(worth.amount * unit).toBeLessThanOrEqual(raw)
        expect((worth.amount + 1n) * unit).toBeGreaterThan(raw)
        expect(raw).toBeGreaterThanOrEqual(currency.minDeposit)
      }),
    )
  })
})

describe('indexCurrencies', () => {
  it('orders by cuy and finds TRX and each token', () => {
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
