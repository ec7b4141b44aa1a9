import { describe, expect, it } from 'vitest'
import { deriveAddress } from '../../src/worker/addresses/derive.ts'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import type { CurrencyId } from '../../src/worker/common/ids.ts'
import { payoutAddress, payoutBase58 } from '../support/payouts.ts'
import { usdtBase58 } from '../support/variables.ts'
import { configOf, faultsOf } from './parsed.ts'

const limit = { cuy: 2, each: '100', perDay: '1000.5', perUserPerDay: '250' }
const setting = (changes: object = {}) => ({ PAYOUTS: { address: payoutBase58, ...changes } })
const addressAt = (index: number) => formatBase58(deriveAddress(configOf().extendedPublicKey, index))

describe('PAYOUTS', () => {
  it.each([
    ['an object', setting({ limits: [{ ...limit, least: '2', countPerDay: 40 }], feeLimit: 50 }).PAYOUTS],
    [
      'its JSON text',
      JSON.stringify(setting({ limits: [{ ...limit, least: '2', countPerDay: 40 }], feeLimit: 50 }).PAYOUTS),
    ],
  ])('is %s, with limits in whole units', (_, PAYOUTS) => {
    expect(configOf({ PAYOUTS }).payouts).toEqual({
      address: payoutAddress,
      limits: new Map([
        [
          2 as CurrencyId,
          {
            each: 100_000_000n,
            least: 2_000_000n,
            perDay: 1_000_500_000n,
            countPerDay: 40,
            perUserPerDay: 250_000_000n,
          },
        ],
      ]),
      feeLimit: 50_000_000n,
    })
  })

  it('has no limits and burns at most 100 TRX by default; without it there are no payouts', () => {
    expect(configOf(setting()).payouts).toEqual({ address: payoutAddress, limits: new Map(), feeLimit: 100_000_000n })
    expect(configOf().payouts).toBeNull()
  })

  it('has no least payout and 500 payouts in a day by default', () => {
    expect(configOf(setting({ limits: [limit] })).payouts).toMatchObject({
      limits: new Map([[2, expect.objectContaining({ least: 0n, countPerDay: 500 })]]),
    })
  })

  it('counts its address as one of the operator', () => {
    expect([...configOf(setting()).operators]).toEqual([payoutAddress])
  })

  it.each<[string, object, string]>([
    ['an address that is none', { address: 'T1' }, 'PAYOUTS.address: the Tron address that payouts are paid from'],
    ['no address', { address: undefined }, 'PAYOUTS.address: the Tron address that payouts are paid from'],
    ['the contract of a currency', { address: usdtBase58 }, 'PAYOUTS.address: not the contract of a currency'],
    ['the first address of the key', { address: addressAt(0) }, 'PAYOUTS.address: not one of the first 20 addresses'],
    ['the 20th address of the key', { address: addressAt(19) }, 'PAYOUTS.address: not one of the first 20 addresses'],
    ['a cuy twice', { limits: [limit, limit] }, 'PAYOUTS.limits.1.cuy: each cuy once'],
    ['another cuy', { limits: [{ ...limit, cuy: 9 }] }, 'PAYOUTS.limits.0.cuy: a currency of CURRENCIES'],
    ['a number as a limit', { limits: [{ ...limit, each: 5 }] }, 'PAYOUTS.limits.0.each: a decimal as text'],
    [
      'too many decimals',
      { limits: [{ ...limit, perDay: '0.0000001' }] },
      'PAYOUTS.limits.0.perDay: a decimal as text',
    ],
    [
      'a limit below zero',
      { limits: [{ ...limit, perUserPerDay: '-1' }] },
      'PAYOUTS.limits.0.perUserPerDay: a decimal',
    ],
    ['a least one below zero', { limits: [{ ...limit, least: '-1' }] }, 'PAYOUTS.limits.0.least: a decimal as text'],
    [
      'fewer than no payouts in a day',
      { limits: [{ ...limit, countPerDay: -1 }] },
      'PAYOUTS.limits.0.countPerDay: a whole number',
    ],
    ['half a payout', { limits: [{ ...limit, countPerDay: 1.5 }] }, 'PAYOUTS.limits.0.countPerDay: a whole number'],
    ['no limit of a day', { limits: [{ cuy: 2, each: '1' }] }, 'PAYOUTS.limits.0.perDay: a decimal as text'],
    ['no fee limit', { feeLimit: 0 }, 'PAYOUTS.feeLimit: a whole number from 2 to 15000'],
    ['one that pays for no transfer', { feeLimit: 1 }, 'PAYOUTS.feeLimit: a whole number from 2 to 15000'],
    ['a fee limit above that of the network', { feeLimit: 15_001 }, 'PAYOUTS.feeLimit: a whole number from 2 to 15000'],
    ['another member', { adress: payoutBase58 }, 'PAYOUTS: an object with address and optionally limits and feeLimit'],
  ])('is refused with %s', (_, changes, fault) => {
    const [found = ''] = faultsOf(setting(changes))
    expect(found.slice(0, fault.length)).toBe(fault)
  })

  it('may be an address of the key above the first 20: what is issued is compared with what is stored', () => {
    expect(configOf(setting({ address: addressAt(20) })).payouts?.address).toBe(
      deriveAddress(configOf().extendedPublicKey, 20),
    )
  })
})
