import { describe, expect, it } from 'vitest'
import { factsOf, planOf, usdt } from './facts.ts'
import { gasAddress } from './harness.ts'

// The columns of the plans below: step | index of the address | action | most TRX that the step
// burns | the steps that must come before it

describe('a plan that delegates energy', () => {
  it('of an address with TRX and a token: energy, the token on free bytes, energy back, then TRX', () => {
    expect(planOf('delegate', factsOf({ trx: 3.5, usdt: 25 }))).toEqual([
      '1 | 0 | delegate energy: 7802 TRX of stake | 0',
      '2 | 0 | transfer 25 USDT | 0 | after 1',
      '3 | 0 | take energy back: 7802 TRX of stake | 0 | after 2',
      // the token's transfer took 345 of the 600 free bytes, so this transfer burns TRX for its
      // bytes
      '4 | 0 | transfer 3.232 TRX | 0.268 | after 2',
    ])
  })

  it('of an address that only received tokens: its account is created first, for 1 TRX', () => {
    expect(planOf('delegate', factsOf({ usdt: 25 }))).toEqual([
      '1 | 0 | create account | 1',
      '2 | 0 | delegate energy: 7802 TRX of stake | 0 | after 1',
      '3 | 0 | transfer 25 USDT | 0 | after 2',
      '4 | 0 | take energy back: 7802 TRX of stake | 0 | after 3',
    ])
  })

  it('of an address with TRX alone: all of it, while free bytes cover it', () => {
    expect(planOf('delegate', factsOf({ trx: 7 }))).toEqual(['1 | 0 | transfer 7 TRX | 0'])
  })

  it('counts every byte of a gas address without bandwidth as burnt, whatever the order becomes', () => {
    const gas = { resources: { energy: 0, stakedBytes: 300, freeBytes: 600 } }
    expect(planOf('delegate', factsOf({ usdt: 25 }), { gas })).toEqual([
      '1 | 0 | create account | 1.1',
      '2 | 0 | delegate energy: 7802 TRX of stake | 0.279 | after 1',
      '3 | 0 | transfer 25 USDT | 0 | after 2',
      '4 | 0 | take energy back: 7802 TRX of stake | 0.281 | after 3',
    ])
  })

  it('uses the energy that an address has itself', () => {
    const resources = { energy: 78_000, stakedBytes: 0, freeBytes: 600 }
    expect(planOf('delegate', factsOf({ usdt: 25, trx: 0, resources }))).toEqual(['1 | 0 | transfer 25 USDT | 0'])
  })

  it('lends no more of the stake than there is: what comes back has been used today', () => {
    const gas = { delegatable: 17_000_000_000n }
    const lines = planOf('delegate', factsOf({ usdt: 1 }, { usdt: 2 }, { usdt: 3 }), { gas })
    expect(lines.filter((line) => !line.includes('transfer') && !line.includes('create'))).toEqual([
      '2 | 0 | delegate energy: 7802 TRX of stake | 0 | after 1',
      '4 | 0 | take energy back: 7802 TRX of stake | 0 | after 3',
      '6 | 1 | delegate energy: 7802 TRX of stake | 0 | after 5',
      '8 | 1 | take energy back: 7802 TRX of stake | 0 | after 7',
      `2 | USDT stays: the stake of ${gasAddress} has too little energy left today: stake more, or collect it tomorrow`,
    ])
  })

  it('takes back what an earlier run left delegated, also where nothing else is to be done', () => {
    expect(
      planOf('delegate', factsOf({ usdt: 25, trx: 1, delegatedBefore: 5_000_000n }, { delegatedBefore: 9_000_000n })),
    ).toEqual([
      '1 | 0 | delegate energy: 7802 TRX of stake | 0',
      '2 | 0 | transfer 25 USDT | 0 | after 1',
      '3 | 0 | take energy back: 7807 TRX of stake | 0 | after 2',
      '4 | 0 | transfer 0.733 TRX | 0.267 | after 2',
      '5 | 1 | take energy back: 9 TRX of stake | 0',
    ])
  })
})

describe('a plan that sends TRX', () => {
  it('sends as much as is missing, which creates the account too, and then the token', () => {
    expect(planOf('transfer', factsOf({ usdt: 25 }))).toEqual([
      '1 | 0 | send TRX for gas: 7.8 TRX | 1', // 65,000 energy and a fifth more, for 100 sun each; bandwidth is free
      '2 | 0 | transfer 25 USDT | 7.8 | after 1',
    ])
  })

  it('uses the TRX that an address holds first, and sends only the rest', () => {
    expect(planOf('transfer', factsOf({ usdt: 25, trx: 3 }))).toEqual([
      '1 | 0 | send TRX for gas: 4.8 TRX | 0',
      '2 | 0 | transfer 25 USDT | 7.8 | after 1',
    ])
  })

  it('collects what TRX an address does not need', () => {
    expect(planOf('transfer', factsOf({ usdt: 25, trx: 10 }))).toEqual([
      '1 | 0 | transfer 25 USDT | 7.8',
      '2 | 0 | transfer 1.932 TRX | 0.268 | after 1',
    ])
  })

  it('pays for the bytes where today’s free ones are used up: all of them', () => {
    const resources = { energy: 0, stakedBytes: 0, freeBytes: 344 }
    expect(planOf('transfer', factsOf({ usdt: 25, trx: 1, resources }))).toEqual([
      '1 | 0 | send TRX for gas: 7.145 TRX | 0',
      '2 | 0 | transfer 25 USDT | 8.145 | after 1',
    ])
  })

  it('has the prices of the chain, whatever they are', () => {
    const prices = { sunPerEnergy: 210n, sunPerByte: 2_000n, createAccountFee: 300_000n, newAccountFee: 5_000_000n }
    const gas = { resources: { energy: 0, stakedBytes: 0, freeBytes: 0 } }
    const burning = { resources: { energy: 0, stakedBytes: 0, freeBytes: 0 } }
    expect(planOf('transfer', factsOf({ usdt: 25 }, { usdt: 5, trx: 1, ...burning }), { prices, gas })).toEqual([
      '1 | 0 | send TRX for gas: 16.38 TRX | 5.3',
      '2 | 0 | transfer 25 USDT | 16.38 | after 1',
      '3 | 1 | send TRX for gas: 16.07 TRX | 0.536',
      '4 | 1 | transfer 5 USDT | 17.07 | after 3',
    ])
    // An address without an account, on a chain where the free bytes of a day are too few for a
    // transfer.
    expect(planOf('delegate', factsOf({ usdt: 25 }), { prices: { freeBytes: 344 } })).toEqual([
      '0 | USDT stays: its free bytes of today are used up, and it has no TRX to burn: collect it tomorrow',
    ])
  })

  it('counts the gas address’s bytes and the activation', () => {
    const gas = { resources: { energy: 0, stakedBytes: 0, freeBytes: 0 } }
    expect(planOf('transfer', factsOf({ usdt: 25 }, { usdt: 5, trx: 1 }), { gas })).toEqual([
      '1 | 0 | send TRX for gas: 7.8 TRX | 1.1',
      '2 | 0 | transfer 25 USDT | 7.8 | after 1',
      '3 | 1 | send TRX for gas: 6.8 TRX | 0.268',
      '4 | 1 | transfer 5 USDT | 7.8 | after 3',
    ])
  })
})

describe('what a plan leaves out', () => {
  const burning = { energy: 0, stakedBytes: 0, freeBytes: 100 }

  it.each<[string, () => readonly string[], readonly string[]]>([
    [
      'a token that is worth less than its fees',
      // 1 TRX is worth 0.3 USDT: 7.8 TRX to burn and 1 TRX for the new account cost 2.64 USDT.
      () => planOf('transfer', factsOf({ usdt: 2.6 }, { usdt: 2.7 }), { min: {}, trxPrice: { USDT: 300_000n } }),
      [
        '1 | 1 | send TRX for gas: 7.8 TRX | 1',
        '2 | 1 | transfer 2.7 USDT | 7.8 | after 1',
        '0 | USDT stays: it costs up to 8.8 TRX, more than it brings',
      ],
    ],
    [
      'a token that costs something, where the operator says neither what it is worth nor from what balance on',
      () => planOf('delegate', factsOf({ usdt: 25 }, { usdt: 25, trx: 1 }), { min: {}, currencies: [usdt] }),
      [
        // the transfer burns no TRX, so the token is collected whatever it is worth
        '1 | 1 | delegate energy: 7802 TRX of stake | 0',
        '2 | 1 | transfer 25 USDT | 0 | after 1',
        '3 | 1 | take energy back: 7802 TRX of stake | 0 | after 2',
        '0 | USDT stays: it costs up to 1 TRX; set its price with --trx-price USDT=..., or its least balance with --min USDT=...',
      ],
    ],
    [
      'less than --min',
      () => planOf('delegate', factsOf({ usdt: 19.999999, trx: 5 }), { min: { USDT: 20_000_000n, TRX: 5_000_000n } }),
      ['1 | 0 | transfer 5 TRX | 0', '0 | USDT stays: less than --min'],
    ],
    [
      'TRX whose fee is more than it brings',
      () => planOf('delegate', factsOf({ trx: 0.5, resources: burning }, { trx: 0.6, resources: burning })),
      ['1 | 1 | transfer 0.333 TRX | 0.267', '0 | TRX stays: it costs more than it brings'],
    ],
    [
      'a token for which no free bytes are left, where there is no TRX to burn',
      () => planOf('delegate', factsOf({ usdt: 25, resources: burning })),
      ['0 | USDT stays: its free bytes of today are used up, and it has no TRX to burn: collect it tomorrow'],
    ],
    [
      'an account that its own key does not own any more',
      () => planOf('delegate', factsOf({ usdt: 25, trx: 5, hasOwnKey: false })),
      [
        '0 | USDT stays: its owner permission names another key',
        '0 | TRX stays: its owner permission names another key',
      ],
    ],
    [
      'a token whose contract refuses the transfer',
      () => planOf('delegate', factsOf({ usdt: 25, refused: 'blacklisted' })),
      ["0 | USDT stays: the token's contract refuses it: blacklisted"],
    ],
    ['TRX on which the nodes do not agree', () => planOf('delegate', factsOf({ isUnknown: true })), []],
  ])('%s', (_, plan, lines) => {
    expect(plan()).toEqual(lines)
  })

  it('a token that is worth less than its own fee, though another one of the address pays for both', () => {
    const dust = { symbol: 'DUST', contract: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf', decimals: 6 }
    const holding = { currency: dust, units: 5_400n, estimate: { kind: 'energy', energy: 65_000 } } as const
    const facts = factsOf({ usdt: 25, trx: 5 }).map((one) => ({ ...one, tokens: [...one.tokens, holding] }))
    const trxPrice = { USDT: 300_000n, DUST: 300_000n } // so the DUST is worth 0.018 TRX
    const lines = planOf('delegate', facts, { currencies: [usdt, dust], min: {}, trxPrice })
    expect(lines).toContain('0 | DUST stays: it costs up to 0.345 TRX, more than it brings')
    expect(lines.filter((line) => line.includes('transfer'))).toEqual(['2 | 0 | transfer 25 USDT | 0 | after 1'])
  })

  it('a token is not collected for which the stake is too small, and the account is not created for it', () => {
    const gas = { delegatable: 7_801_999_999n }
    expect(planOf('delegate', factsOf({ usdt: 25 }), { gas })).toEqual([
      `0 | USDT stays: the stake of ${gasAddress} has too little energy left today: stake more, or collect it tomorrow`,
    ])
  })
})

it('a plan that the gas address cannot pay is refused with what it needs', () => {
  expect(planOf('transfer', factsOf({ usdt: 25 }), { gas: { sun: 8_799_999n } })).toEqual([
    `the gas address ${gasAddress} has 8.799999 TRX and the plan needs 8.8`,
  ])
  expect(planOf('transfer', factsOf({ usdt: 25 }), { gas: { sun: 8_800_000n } })).toHaveLength(2)
})
