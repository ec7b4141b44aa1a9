import { describe, expect, it } from 'vitest'
import { parseLimits } from '../../../src/tools/payout/limits.ts'
import { assets } from './harness.ts'

const { currencies } = assets

describe('the file of limits', () => {
  it('has amounts of whole units for each currency', () => {
    const limits = parseLimits('[{"cuy":1,"each":"1.5","perDay":"20"},{"cuy":2,"each":"0","perDay":"0"}]', currencies)
    expect([...limits]).toEqual([
      [1, { each: 1_500_000n, perDay: 20_000_000n }],
      [2, { each: 0n, perDay: 0n }],
    ])
  })

  it.each([
    ['no JSON', 'each: 1', 'it has another form'],
    ['an amount as a number', '[{"cuy":1,"each":1,"perDay":"1"}]', 'it has another form'],
    ['a missing amount', '[{"cuy":1,"each":"1"}]', 'it has another form'],
    ['a misspelled member', '[{"cuy":1,"each":"1","perDay":"1","perday":"1"}]', 'it has another form'],
    [
      'a currency that is not configured',
      '[{"cuy":9,"each":"1","perDay":"1"}]',
      '9 is not in CURRENCIES, or is there twice',
    ],
    ['a currency twice', '[{"cuy":1,"each":"1","perDay":"1"},{"cuy":1,"each":"1","perDay":"1"}]', 'is there twice'],
    ['more digits than the ledger has', '[{"cuy":1,"each":"0.0000001","perDay":"1"}]', 'at most 6 places (TRX)'],
    ['a negative amount', '[{"cuy":1,"each":"-1","perDay":"1"}]', 'is not a decimal'],
    ['an exponent', '[{"cuy":1,"each":"1e3","perDay":"1"}]', 'is not a decimal'],
  ])('is refused with %s', (_, text, why) => {
    expect(() => parseLimits(text, currencies)).toThrow(why)
  })
})
