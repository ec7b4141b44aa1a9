import { describe, expect, it } from 'vitest'
import { createSuffixSet } from '../../src/addresses/suffix-set.ts'
import type { Address } from '../../src/chain/address.ts'

const addressWith = (suffix: string) => suffix.padStart(40, '5') as Address // hex digits
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
const all = Array.from({ length: 4096 }, (_, i) => addressWith(hex(i, 3)))

describe('a set of suffixes', () => {
  it('has exactly the addresses with the last digits of those that were added', () => {
    const set = createSuffixSet(3)
    const added = all.filter((_, i) => i % 7 === 0 || i > 4090)
    for (const address of added) set.add(address, address.length - 3)
    expect(all.filter(set.mayHave)).toEqual(added)
  })

  it('takes the digits from any place of a text', () => {
    const set = createSuffixSet(6)
    const text = ['09afa9', 'ffffff', '000000'].join('')
    for (const start of [0, 6, 12]) set.add(text, start)
    const asked = ['09afa9', 'ffffff', '000000', '9afa9f', '09afa8', '19afa9', 'fffffe', '000001']
    expect(asked.filter((suffix) => set.mayHave(addressWith(suffix)))).toEqual(['09afa9', 'ffffff', '000000'])
  })
})
