import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatQuantity,
  parseBytes,
  parseHash,
  parseNodeAddress,
  parseQuantity,
  parseSmallQuantity,
  parseWord,
} from '../../../src/worker/tron/parse/fields.ts'
import { nearNumbers } from '../../support/arbitraries.ts'

const hex40 = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c'

describe('bytes', () => {
  const word = 'ab'.repeat(32)
  it.each<[unknown, string | null]>([
    [`0x${word}`, word],
    [`0x${word.toUpperCase()}`, word],
    [word, null],
    [`0x${word}ab`, null],
    [`0x${word.slice(1)}`, null],
    [`0x${word.slice(1)}g`, null],
    [`0x${word}\n`, null],
    [5, null],
    [null, null],
  ])('32 of them: %j', (text, value) => {
    expect(parseHash(text)).toBe(value)
    expect(parseWord(text)).toBe(value === null ? null : `0x${value}`)
  })

  it.each<[unknown, string | null]>([
    ['0x', '0x'],
    ['0x0123456789abcdef', '0x0123456789abcdef'],
    ['0xABcd', '0xabcd'],
    ['0xabc', null],
    ['abcd', null],
    ['', null],
    ['0x 1', null],
    ['0x٣0', null], // a digit, but not an ASCII one
    ['0x\u01301', null], // not a digit, but its low seven bits are those of "0"
    [0, null],
  ])('any number of them: %j', (text, value) => {
    expect(parseBytes(text)).toBe(value)
  })

  it('are hex digits and no other character', () => {
    const hex = /^[0-9a-f]$/i
    const wrong = Array.from({ length: 65_536 }, (_, code) => String.fromCharCode(code)).filter(
      (letter) => (parseBytes(`0x0${letter}`) !== null) !== hex.test(letter),
    )
    expect(wrong).toEqual([])
  })
})

describe('an address', () => {
  it.each<[unknown, string | null]>([
    [`0x${hex40}`, hex40],
    [`0x${hex40.toUpperCase()}`, hex40],
    [`0x41${hex40}`, hex40],
    [`0x42${hex40}`, null],
    [`0x${hex40.slice(1)}`, null],
    [`0x${hex40}0`, null],
    ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', null],
    ['0x', null],
    [null, null],
    [7, null],
  ])('%j', (text, value) => {
    expect(parseNodeAddress(text)).toBe(value)
  })
})

describe('a quantity', () => {
  it.each([
    ['0x0', 0n],
    ['0x0000000000000000', 0n],
    ['0x0f4240', 1_000_000n],
    ['0xF4240', 1_000_000n],
    [`0x${'0'.repeat(192)}${'f'.repeat(64)}`, 2n ** 256n - 1n],
    ['0x20000000000001', 2n ** 53n + 1n],
  ])('%s is parsed exactly', (text, value) => {
    expect(parseQuantity(text)).toBe(value)
    expect(parseSmallQuantity(text)).toBe(value < 2n ** 53n ? Number(value) : null)
  })

  it.each([
    ...nearNumbers,
    ...['0x', '0', '12', 'ff', '0X1', '0xg', '0x 1', ' 0x1', '0x1 ', '0x1\n', '-0x1', '0x-1', '0x1.0', '0x1e+3', '0x٣'],
    `0x1${'0'.repeat(64)}`,
    `0x${'0'.repeat(257)}`,
    ...[16, null, undefined, true, ['0x1'], {}],
  ])('is not %j', (value) => {
    expect(parseQuantity(value)).toBeNull()
    expect(parseSmallQuantity(value)).toBeNull()
  })

  it('is the same with leading zeros, and is written without them', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.nat(100), (value, zeros) => {
        expect(parseSmallQuantity(`0x${'0'.repeat(zeros)}${formatQuantity(value).slice(2)}`)).toBe(value)
      }),
    )
  })
})
