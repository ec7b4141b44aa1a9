import { sha256 } from '@noble/hashes/sha2.js'
import { hexToBytes } from '@noble/hashes/utils.js'
import { createBase58check } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressFromHex, formatBase58, formatHex, formatNumber, parseAddress } from '../../src/addresses/address.ts'
import { anyAddress } from '../support/arbitraries.ts'

const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const usdtHex = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c'
const encode = (hex: string) => createBase58check(sha256).encode(hexToBytes(hex))

describe('an address', () => {
  it.each([
    [usdt, usdtHex],
    ['T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', '0'.repeat(40)],
    ['TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', '77944d19c052b73ee2286823aa83f8138cb7032f'],
  ])('reads %s', (text, hex) => {
    const parsed = parseAddress(text)
    expect(parsed.ok && formatBase58(parsed.value)).toBe(text)
    if (hex !== '') expect(parsed).toEqual({ ok: true, value: hex })
  })

  it.each([
    ['a checksum that is wrong in its last letter', 'TYPG8VeuoVAh2hP7Vfw6ww7vK98nvXXXUs', 'not-base58check'],
    ['two digits behind a valid one', 'TYPG8VeuoVAh2hP7Vfw6ww7vK98nvXXXUG89', 'not-base58check'],
    ['the published wrong text like a Bitcoin address', '175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W', 'not-base58check'],
    ['a Bitcoin address', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'wrong-prefix'],
    ['a short Base58 text', '2MegQ6oqSda2tTagdEzBA', 'not-base58check'],
    ['an Ethereum address', `0x${usdtHex}`, 'not-base58check'],
    ['its own hex form', `41${usdtHex}`, 'not-base58check'],
    ['21 bytes that begin with 0x42', encode(`42${usdtHex}`), 'wrong-prefix'],
    ['20 bytes', encode(usdtHex), 'not-21-bytes'],
    ['22 bytes', encode(`41${usdtHex}00`), 'not-21-bytes'],
    ['nothing', '', 'not-base58check'],
    ['a space in front', ` ${usdt}`, 'not-base58check'],
    ['a line break behind', `${usdt}\n`, 'not-base58check'],
    ['lower case', usdt.toLowerCase(), 'not-base58check'],
    ['0 for o', usdt.replace('o', '0'), 'not-base58check'],
    ['l for L', usdt.replace('L', 'l'), 'not-base58check'],
    ['a Cyrillic Т', usdt.replace('T', 'Т'), 'not-base58check'],
    ['a megabyte', 'T'.repeat(1_000_000), 'not-base58check'],
  ])('refuses %s', (_, text, fault) => {
    expect(parseAddress(text)).toEqual({ ok: false, error: fault })
  })

  it('comes back from its Base58 form as it was', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        const text = formatBase58(address)
        expect(text).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/)
        expect(parseAddress(text)).toEqual({ ok: true, value: address })
      }),
    )
  })

  it('is no longer an address once any one letter is another', () => {
    fc.assert(
      fc.property(
        anyAddress,
        fc.nat(33),
        fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZ'),
        (address, at, letter) => {
          const text = formatBase58(address)
          fc.pre(text[at] !== letter)
          expect(parseAddress(text.slice(0, at) + letter + text.slice(at + 1)).ok).toBe(false)
        },
      ),
    )
  })

  it('is the same in every spelling of its hex digits', () => {
    for (const text of [usdtHex, `0x${usdtHex}`, usdtHex.toUpperCase(), `0x${usdtHex.toUpperCase()}`]) {
      expect(addressFromHex(text)).toBe(usdtHex)
    }
  })

  it.each(['', '0x', `41${usdtHex}`, `0x41${usdtHex}`, usdtHex.slice(1), `${usdtHex.slice(1)}g`, usdt, `${usdtHex}\n`])(
    'is not read from the hex digits %j',
    (text) => {
      expect(addressFromHex(text)).toBeNull()
    },
  )

  it('is an exact number, whatever its size', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        expect(formatHex(address)).toBe(`41${address}`)
        expect(BigInt(formatNumber(address)).toString(16)).toBe(`41${address}`)
      }),
    )
  })
})
