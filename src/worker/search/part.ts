import { bytesToHex } from '@noble/hashes/utils.js'
import { base58 } from '@scure/base'
import { type Address, formatBase58 } from '../chain/address.ts'

/**
 * A part of an address in Base58Check or of a txid, as pages and wallets print it: how it begins,
 * and how it ends if that is known (`TWer2Y…GZmaL6`).
 */
export interface Part {
  readonly begin: string
  /** Empty if it is not known. */
  readonly end: string
}

/** Two hex texts of the same length. All values from the first to the last one are in the range. */
export interface HexRange {
  readonly first: string
  readonly last: string
}

/** Fewest characters of a beginning: with fewer, everything would begin so. */
const beginCharsMin = 4
/** The form of a beginning: that of a whole address or txid is none. */
export const beginForm = new RegExp(
  `^(?:T[1-9A-HJ-NP-Za-km-z]{${beginCharsMin - 1},32}|[0-9a-f]{${beginCharsMin},63})$`,
)
/** The form of an end. */
export const endForm = /^[0-9A-Za-z]{1,60}$/

const addressChars = 34
const txidChars = 64
/** The first byte of every address. Behind its 20 bytes follows a checksum of 4 bytes. */
const prefix = '41'

/**
 * The addresses that begin with a text in Base58Check: as numbers they lie side by side, from the
 * text that goes on with the first digit to that which goes on with the last one. Null if no
 * address begins so.
 */
export function addressesFrom(begin: string): HexRange | null {
  const bytesOf = (digit: string) => bytesToHex(base58.decode(begin.padEnd(addressChars, digit)))
  const [low, high] = [bytesOf('1'), bytesOf('z')]
  if (high.slice(0, 2) < prefix || low.slice(0, 2) > prefix) return null
  return {
    first: low.startsWith(prefix) ? low.slice(2, 42) : '0'.repeat(40),
    last: high.startsWith(prefix) ? high.slice(2, 42) : 'f'.repeat(40),
  }
}

/** The txids that begin with these hex digits. */
export function txidsFrom(begin: string): HexRange {
  return { first: begin.padEnd(txidChars, '0'), last: begin.padEnd(txidChars, 'f') }
}

/** Whether an address is written so. The ends of its range are in it by the checksum only. */
export function isPartOf({ begin, end }: Part, address: Address): boolean {
  const text = formatBase58(address)
  return text.startsWith(begin) && text.endsWith(end)
}
