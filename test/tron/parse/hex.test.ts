import { describe, expect, it } from 'vitest'
import { isLowerHex } from '../../../src/tron/parse/hex.ts'

describe('isLowerHex', () => {
  it.each([
    ['0123456789abcdef', 0, true],
    ['0x00ff', 2, true],
    ['', 0, true],
    ['0x', 2, true],
    ['0x00ff', 0, false],
    ['0x0F', 2, false],
    ['0x0g', 2, false],
    ['0x0/', 2, false],
    ['0x0:', 2, false],
    ['0x0`', 2, false],
    ['0x 1', 2, false],
    ['0x\u01301', 2, false], // its low seven bits are those of "0"
    ['0x\u00b01', 2, false],
    ['0x٣', 2, false], // a digit elsewhere
  ])('%j from %i is %s', (text, start, expected) => {
    expect(isLowerHex(text, start)).toBe(expected)
  })

  it('agrees with the definition for every character', () => {
    const hex = /^[0-9a-f]$/
    const wrong = Array.from({ length: 65_536 }, (_, code) => String.fromCharCode(code)).filter(
      (letter) => isLowerHex(letter, 0) !== hex.test(letter),
    )
    expect(wrong).toEqual([])
  })
})
