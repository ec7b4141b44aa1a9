import { describe, expect, it } from 'vitest'
import { parseBytes, parseHash, parseNodeAddress, parseWord } from '../../../src/tron/parse/fields.ts'

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
    ['0x٣0', null], // a digit of another script
    ['0x\u01301', null], // its low seven bits are those of "0"
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
