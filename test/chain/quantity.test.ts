import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isZeroQuantity, parseQuantity } from '../../src/chain/quantity.ts'
import { nearNumbers } from '../support/arbitraries.ts'

describe('a quantity', () => {
  it.each([
    ['0x0', 0n],
    ['0x0000000000000000', 0n],
    ['0x1', 1n],
    ['0x0f4240', 1_000_000n],
    ['0xF4240', 1_000_000n],
    [`0x${'f'.repeat(64)}`, 2n ** 256n - 1n],
    [`0x00${'f'.repeat(64)}`, 2n ** 256n - 1n],
    ['0x20000000000001', 2n ** 53n + 1n],
  ])('%s is read exactly', (text, value) => {
    expect(parseQuantity(text)).toEqual({ ok: true, value })
  })

  it('that is 0x alone is absent, not zero', () => {
    expect(parseQuantity('0x')).toEqual({ ok: true, value: null })
  })

  it.each([
    ...nearNumbers.filter((text) => text !== '0x'),
    '0',
    '12',
    'ff',
    '0X1',
    '0xg',
    '0x 1',
    '0x1\n',
    '-0x1',
    '0x-1',
    '0x1.0',
    '0x٣',
    `0x${'0'.repeat(300)}`,
  ])('is not %j', (text) => {
    expect(parseQuantity(text)).toEqual({ ok: false, error: 'not-a-quantity' })
  })

  it('of 2^256 is refused', () => {
    expect(parseQuantity(`0x1${'0'.repeat(64)}`)).toEqual({ ok: false, error: 'too-large' })
  })

  it('comes back from its text, whatever zeros stand in front', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.nat(100), (value, zeros) => {
        const text = `0x${'0'.repeat(zeros)}${value.toString(16)}`
        expect(parseQuantity(text)).toEqual({ ok: true, value })
        expect(isZeroQuantity(text)).toBe(value === 0n)
      }),
    )
  })

  it('that is absent moves nothing, like zero', () => {
    expect(isZeroQuantity('0x')).toBe(true)
    expect(isZeroQuantity('')).toBe(false)
  })
})
