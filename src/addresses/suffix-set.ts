import type { Address } from '../chain/address.ts'

/**
 * A set of the last hex digits of addresses: a Bloom filter of one hash. It answers for nearly all other addresses that they are
 * not in a list, in a sixth of the time that a map takes (November 2026): a map hashes the whole text of each.
 */
export interface SuffixSet {
  /** Adds the last digits of an address. They begin at `start` of `text`. */
  add(text: string, start: number): void
  /** False for an address with which no address in the set shares its last digits. */
  mayHave(address: Address): boolean
}

/** An empty set of suffixes of so many hex digits. It has one bit for each: 6 digits take 2 MB. */
export function createSuffixSet(digits: number): SuffixSet {
  const bits = new Uint8Array(Math.ceil(16 ** digits / 8))
  const placeOf = (text: string, start: number): number => {
    let place = 0
    for (let i = start; i < start + digits; i += 1) {
      const code = text.charCodeAt(i) // 0x30 to 0x39, or 0x61 to 0x66
      place = (place << 4) | ((code & 0xf) + (code >> 6) * 9) // no branch: random digits are never predicted
    }
    return place
  }
  return {
    add(text, start) {
      const place = placeOf(text, start)
      bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7))
    },
    mayHave(address) {
      const place = placeOf(address, address.length - digits)
      return ((bits[place >> 3] ?? 0) & (1 << (place & 7))) !== 0
    },
  }
}
