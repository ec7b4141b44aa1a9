import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  amountCharsMax,
  amountMax,
  formatUnits,
  noAmount,
  parseAmount,
  parseIntegersExactly,
  parseUnits,
  toAmount,
} from '../../src/worker/common/amount.ts'
import { nearNumbers } from '../support/arbitraries.ts'

describe('a ledger amount', () => {
  it.each([
    [0n, 0n],
    [amountMax, amountMax],
    [-amountMax, -amountMax],
    [2n ** 53n, null],
    [-(2n ** 53n), null],
    [2n ** 256n, null],
  ])('of %s smallest units is %s', (units, amount) => {
    expect(toAmount(units)).toBe(amount)
  })

  it('of a deposit that is not credited is 0', () => {
    expect(noAmount).toBe(0n)
  })
})

describe('formatUnits', () => {
  it.each([
    [25_000_000n, 6, '25'],
    [1n, 6, '0.000001'],
    [-1n, 6, '-0.000001'],
    [0n, 6, '0'],
    [amountMax, 6, '9007199254.740991'],
    [-amountMax, 6, '-9007199254.740991'],
    [1_500_000n, 6, '1.5'],
    [100n, 0, '100'],
    [-100n, 0, '-100'],
    [10n ** 30n, 18, '1000000000000'],
    [2n ** 256n - 1n, 77, '1.15792089237316195423570985008687907853269984665640564039457584007913129639935'],
  ])('writes %d with %i decimals as %s', (units, decimals, text) => {
    expect(formatUnits(units, decimals)).toBe(text)
  })

  it('writes no exponent and no trailing zeros, and parsing gives the same units', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.nat(30), (units, decimals) => {
        const text = formatUnits(units, decimals)
        expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
        expect(parseUnits(text, decimals)).toEqual({ ok: true, value: units })
        expect(formatUnits(-units, decimals)).toBe(units === 0n ? '0' : `-${text}`)
      }),
    )
  })
})

describe('parseUnits', () => {
  it.each([
    ['0', 6, 0n],
    ['1.5', 6, 1_500_000n],
    ['0.000001', 6, 1n],
    ['1.50', 2, 150n],
    ['7', 0, 7n],
    ['9007199254740993', 0, 9007199254740993n],
  ])('reads %s with %i decimals', (text, decimals, units) => {
    expect(parseUnits(text, decimals)).toEqual({ ok: true, value: units })
  })

  it.each([
    ...nearNumbers,
    '00',
    '01',
    '1.',
    '.5',
    '1..5',
    '1.5.',
    '1.-5',
    '1.5\n',
    '0x10',
    '9'.repeat(79),
    '1'.repeat(100_000),
  ])('refuses %j', (text) => {
    expect(parseUnits(text, 18)).toEqual({ ok: false, error: 'not-a-decimal' })
  })

  it.each([
    ['1.5', 0],
    ['0.0000001', 6],
    ['1.0000000', 6],
  ])('refuses %s where %i decimals are allowed, and does not round', (text, decimals) => {
    expect(parseUnits(text, decimals)).toEqual({ ok: false, error: 'too-many-decimals' })
  })
})

describe('parseAmount', () => {
  it.each([
    ['2.5', 2_500_000n],
    ['-2.5', -2_500_000n],
    ['007', 7_000_000n],
    ['0', 0n],
    ['-0', 0n],
    ['0.000001', 1n],
    ['1.5000000000', 1_500_000n],
    ['9007199254.740991', amountMax],
    ['-9007199254.740991', -amountMax],
    ['0'.repeat(amountCharsMax), 0n],
  ])('reads %s', (text, units) => {
    expect(parseAmount(text, 6)).toEqual({ ok: true, value: units })
  })

  it.each([
    ['', 'not-a-decimal'],
    ['+1', 'not-a-decimal'],
    ['--1', 'not-a-decimal'],
    ['1e3', 'not-a-decimal'],
    ['1.', 'not-a-decimal'],
    ['.5', 'not-a-decimal'],
    ['1,5', 'not-a-decimal'],
    [' 1', 'not-a-decimal'],
    ['1\n', 'not-a-decimal'],
    ['0x10', 'not-a-decimal'],
    ['NaN', 'not-a-decimal'],
    ['Infinity', 'not-a-decimal'],
    ['١', 'not-a-decimal'],
    ['−1', 'not-a-decimal'],
    ['0'.repeat(amountCharsMax + 1), 'not-a-decimal'],
    ['0.0000001', 'too-many-decimals'],
    ['9007199254.740992', 'out-of-range'],
    ['-9007199254.740992', 'out-of-range'],
    ['9'.repeat(amountCharsMax), 'out-of-range'],
  ])('refuses %j', (text, fault) => {
    expect(parseAmount(text, 6)).toEqual({ ok: false, error: fault })
  })

  it('reads every amount that formatUnits writes', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -amountMax, max: amountMax }), fc.nat(8), (units, scale) => {
        expect(parseAmount(formatUnits(units, scale), scale)).toEqual({ ok: true, value: units })
      }),
    )
  })
})

describe('an integer of JSON that a double may not hold', () => {
  it.each<[string, unknown]>([
    ['[9007199254740991,-9007199254740991]', [amountMax, -amountMax].map(Number)],
    ['{"a":9007199254740993,"b":-9007199254740993}', { a: 9_007_199_254_740_993n, b: -9_007_199_254_740_993n }],
    ['{"a": [ 18446744073709551615 ]}', { a: [18_446_744_073_709_551_615n] }],
    ['9007199254740993', 9_007_199_254_740_993n],
    [
      '{"a":":9007199254740993","b":[1234567890123456.5,1e400]}',
      { a: ':9007199254740993', b: [1234567890123456.5, Infinity] },
    ],
  ])('%s is exact, and everything else is as always', (text, value) => {
    expect(parseIntegersExactly(text)).toEqual(value)
  })
})
