import { describe, expect, it } from 'vitest'
import {
  isQuantity,
  parseBytes,
  parseHash,
  parseNodeAddress,
  parseQuantityField,
  parseSafeInteger,
  parseWord,
  toQuantity,
} from '../../../src/tron/parse/fields.ts'

const hex40 = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c'

describe('a quantity', () => {
  it.each<[unknown, bigint | null]>([
    ['0x0', 0n],
    ['0x10', 16n],
    ['0xAb', 171n],
    ['0x0000000000000000', 0n],
    ['0x00ff', 255n],
    [`0x${'f'.repeat(64)}`, 2n ** 256n - 1n],
    [`0x${'f'.repeat(65)}`, null],
    ['0x', null],
    ['', null],
    ['10', null],
    ['0x-1', null],
    ['-0x1', null],
    ['0X1', null],
    [' 0x1', null],
    ['0x1 ', null],
    ['0x1\n', null],
    ['0x1.0', null],
    ['0x1e+3', null],
    ['0xg', null],
    [16, null],
    [null, null],
    [undefined, null],
    [true, null],
    [['0x1'], null],
    [{}, null],
  ])('%j is %s', (text, value) => {
    expect(parseQuantityField(text)).toBe(value)
    expect(parseSafeInteger(text)).toBe(value !== null && value < 2n ** 53n ? Number(value) : null)
  })

  it('that is small ends at 2^53', () => {
    expect(parseSafeInteger('0x1fffffffffffff')).toBe(2 ** 53 - 1)
    expect(parseSafeInteger('0x20000000000000')).toBeNull()
  })

  it('is compared by value', () => {
    expect(isQuantity('0x1f', 31)).toBe(true)
    expect(isQuantity('0x001F', 31)).toBe(true)
    expect(isQuantity('0x1e', 31)).toBe(false)
    expect(isQuantity(31, 31)).toBe(false)
    expect(toQuantity(31)).toBe('0x1f')
  })
})

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
    ['0xABcd', '0xabcd'],
    ['0xabc', null],
    ['abcd', null],
    ['', null],
    [0, null],
  ])('any number of them: %j', (text, value) => {
    expect(parseBytes(text)).toBe(value)
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
