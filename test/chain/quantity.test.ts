import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatQuantity, isQuantityOf, parseQuantity, parseSmallQuantity } from '../../src/chain/quantity.ts'
import { nearNumbers } from '../support/arbitraries.ts'

describe('a quantity', () => {
  it.each([
    ['0x0', 0n],
    ['0x0000000000000000', 0n],
    ['0x1', 1n],
    ['0x0f4240', 1_000_000n],
    ['0xF4240', 1_000_000n],
    [`0x${'f'.repeat(64)}`, 2n ** 256n - 1n],
    [`0x${'0'.repeat(192)}${'f'.repeat(64)}`, 2n ** 256n - 1n],
    ['0x20000000000001', 2n ** 53n + 1n],
  ])('%s is parsed exactly', (text, value) => {
    expect(parseQuantity(text)).toBe(value)
  })

  it.each([
    ...nearNumbers,
    '0x',
    '0',
    '12',
    'ff',
    '0X1',
    '0xg',
    '0x 1',
    ' 0x1',
    '0x1 ',
    '0x1\n',
    '-0x1',
    '0x-1',
    '0x1.0',
    '0x1e+3',
    '0x٣',
    `0x1${'0'.repeat(64)}`,
    `0x${'0'.repeat(257)}`,
    16,
    null,
    undefined,
    true,
    ['0x1'],
    {},
  ])('is not %j', (value) => {
    expect(parseQuantity(value)).toBeNull()
    expect(parseSmallQuantity(value)).toBeNull()
    expect(isQuantityOf(value, 1)).toBe(false)
  })

  it('is parsed as a number below 2^53', () => {
    expect(parseSmallQuantity('0x0010')).toBe(16)
    expect(parseSmallQuantity('0x1fffffffffffff')).toBe(2 ** 53 - 1)
    expect(parseSmallQuantity('0x20000000000000')).toBeNull()
  })

  it('is compared by value', () => {
    expect(formatQuantity(31)).toBe('0x1f')
    expect(isQuantityOf('0x1f', 31)).toBe(true)
    expect(isQuantityOf('0x001F', 31)).toBe(true)
    expect(isQuantityOf('0x1e', 31)).toBe(false)
  })

  it('is the same with leading zeros', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.nat(100), (value, zeros) => {
        const text = `0x${'0'.repeat(zeros)}${value.toString(16)}`
        expect(parseQuantity(text)).toBe(value)
      }),
    )
  })
})
