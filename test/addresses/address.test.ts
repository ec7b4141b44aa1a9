import { sha256 } from '@noble/hashes/sha2.js'
import { hexToBytes } from '@noble/hashes/utils.js'
import { createBase58check } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressFromHex, formatBase58, formatHex, formatNumber, parseAddress } from '../../src/worker/chain/address.ts'
import { anyAddress } from '../support/arbitraries.ts'

const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const usdtHex = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c'
const encode = (hex: string) => createBase58check(sha256).encode(hexToBytes(hex))

describe('an address', () => {
  it.each([
    [usdt, usdtHex],
    ['T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', '0'.repeat(40)],
    ['TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', '77944d19c052b73ee2286823aa83f8138cb7032f'],
  ])('is parsed from %s', (text, hex) => {
    const parsed = parseAddress(text)
    expect(parsed.ok && formatBase58(parsed.value)).toBe(text)
    expect(parsed).toEqual({ ok: true, value: hex })
  })

  it.each([
    ['a wrong last character of the checksum', 'TYPG8VeuoVAh2hP7Vfw6ww7vK98nvXXXUs', 'not-base58check'],
    ['two more characters at the end', 'TYPG8VeuoVAh2hP7Vfw6ww7vK98nvXXXUG89', 'not-base58check'],
    ['a text that starts like a Bitcoin address', '175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W', 'not-base58check'],
    ['a Bitcoin address', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'wrong-prefix'],
    ['a short text in Base58', '2MegQ6oqSda2tTagdEzBA', 'not-base58check'],
    ['an Ethereum address', `0x${usdtHex}`, 'not-base58check'],
    ['an address in hex', `41${usdtHex}`, 'not-base58check'],
    ['21 bytes that start with 0x42', encode(`42${usdtHex}`), 'wrong-prefix'],
    ['20 bytes', encode(usdtHex), 'not-21-bytes'],
    ['22 bytes', encode(`41${usdtHex}00`), 'not-21-bytes'],
    ['an empty text', '', 'not-base58check'],
    ['a space at the start', ` ${usdt}`, 'not-base58check'],
    ['a line break at the end', `${usdt}\n`, 'not-base58check'],
    ['lower case', usdt.toLowerCase(), 'not-base58check'],
    ['0 instead of o', usdt.replace('o', '0'), 'not-base58check'],
    ['l instead of L', usdt.replace('L', 'l'), 'not-base58check'],
    ['a Cyrillic Т instead of T', usdt.replace('T', 'Т'), 'not-base58check'],
    ['a text of a megabyte', 'T'.repeat(1_000_000), 'not-base58check'],
  ])('is not parsed from %s', (_, text, fault) => {
    expect(parseAddress(text)).toEqual({ ok: false, error: fault })
  })

  it('is unchanged after it is formatted in Base58Check and parsed', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        const text = formatBase58(address)
        expect(text).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/)
        expect(parseAddress(text)).toEqual({ ok: true, value: address })
      }),
    )
  })

  it('is refused where any single character is changed', () => {
    fc.assert(
      fc.property(
        anyAddress,
        fc.nat(33),
        fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZ'),
        (address, at, character) => {
          const text = formatBase58(address)
          fc.pre(text[at] !== character)
          expect(parseAddress(text.slice(0, at) + character + text.slice(at + 1)).ok).toBe(false)
        },
      ),
    )
  })

  it('is the same from hex digits in any case, with or without 0x', () => {
    for (const text of [usdtHex, `0x${usdtHex}`, usdtHex.toUpperCase(), `0x${usdtHex.toUpperCase()}`]) {
      expect(addressFromHex(text)).toBe(usdtHex)
    }
  })

  it.each(['', '0x', `41${usdtHex}`, `0x41${usdtHex}`, usdtHex.slice(1), `${usdtHex.slice(1)}g`, usdt, `${usdtHex}\n`])(
    'is not read from %j as hex digits',
    (text) => {
      expect(addressFromHex(text)).toBeNull()
    },
  )

  it('is formatted as hex and as an exact number', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        expect(formatHex(address)).toBe(`41${address}`)
        expect(BigInt(formatNumber(address)).toString(16)).toBe(`41${address}`)
      }),
    )
  })
})
