import { describe, expect, it } from 'vitest'
import { isSameName } from '../../src/worker/common/ids.ts'
import { parseBackendName, parsePersonName } from '../../src/worker/ledger/entry.ts'

/**
 * Every character that is not ASCII, lone surrogates left out. Some of them are ASCII in lower or
 * upper case, such as U+212A, which is k.
 */
function* charactersBeyondAscii() {
  for (let code = 0x80; code <= 0x10ffff; code++) if (code < 0xd800 || code > 0xdfff) yield String.fromCodePoint(code)
}

describe('names', () => {
  it('have no character beyond ASCII, whatever it is in another case', () => {
    const taken = [...charactersBeyondAscii()].filter(
      (one) =>
        parseBackendName(`s${one}`) !== null ||
        parsePersonName(`s${one}@example.com`) !== null ||
        parsePersonName(`s@exampl${one}.com`) !== null,
    )
    expect(taken).toEqual([])
  })

  it('of a person are in lower case', () => {
    expect(parsePersonName('Ann.Lee+X@Example.COM')).toBe('ann.lee+x@example.com')
  })

  it.each([
    ['shop', 'shop', true],
    ['shop', 'Shop', true],
    ['SHOP-1', 'shop-1', true],
    ['shop', 'shop-1', false],
    ['shop', 'shop@example.com', false],
    ['shop', '', false],
  ])('%s and %s are one name: %s', (one, other, isSame) => {
    expect(isSameName(one, other)).toBe(isSame)
    expect(isSameName(other, one)).toBe(isSame)
  })
})
