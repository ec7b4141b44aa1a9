import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Address, formatBase58, zeroAddress } from '../../src/worker/chain/address.ts'
import { addressesFrom, beginForm, isPartOf, txidsFrom } from '../../src/worker/search/part.ts'

const hex = (chars: number) =>
  fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: chars, maxLength: chars }).map((all) => all.join(''))
const addresses = hex(40) as fc.Arbitrary<Address>
const lengths = fc.integer({ min: 4, max: 33 })
const last = 'f'.repeat(40) as Address

const isIn = (value: string, range: { first: string; last: string } | null) =>
  range !== null && range.first <= value && value <= range.last

describe('the addresses that begin with a text', () => {
  it('are in one range, and all others are outside of it', () => {
    fc.assert(
      fc.property(addresses, addresses, lengths, (one, other, length) => {
        const begin = formatBase58(one).slice(0, length)
        expect(begin).toMatch(beginForm)
        expect(isIn(one, addressesFrom(begin))).toBe(true)
        // Only the checksum separates an address at either end of the range from its neighbours.
        const range = addressesFrom(begin)
        const isEnd = other === range?.first || other === range?.last
        if (!isEnd) expect(isIn(other, range)).toBe(formatBase58(other).startsWith(begin))
      }),
    )
  })

  it.each([zeroAddress, last])('include the first and the last possible address: %s', (address) => {
    for (let length = 4; length < 34; length += 1) {
      expect(isIn(address, addressesFrom(formatBase58(address).slice(0, length)))).toBe(true)
    }
  })

  it.each(['T111', 'Tzzz', 'TzzzzzZ'])('are none where no address begins so: %s', (begin) => {
    expect(addressesFrom(begin)).toBe(null)
  })

  it('end as a person says', () => {
    fc.assert(
      fc.property(addresses, addresses, lengths, (one, other, length) => {
        const text = formatBase58(one)
        const part = { begin: text.slice(0, length), end: text.slice(length) }
        expect(isPartOf(part, one)).toBe(true)
        expect(isPartOf(part, other)).toBe(one === other)
      }),
    )
  })
})

it('the txids that begin with some digits are in one range', () => {
  fc.assert(
    fc.property(hex(64), hex(64), fc.integer({ min: 4, max: 63 }), (one, other, length) => {
      const begin = one.slice(0, length)
      expect(isIn(one, txidsFrom(begin))).toBe(true)
      expect(isIn(other, txidsFrom(begin))).toBe(other.startsWith(begin))
    }),
  )
})
