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

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const addressChars = 34
const txidChars = 64
/** 0x41 and 20 bytes are followed by a checksum of 4 bytes. */
const checksumBits = 32n
const addressBits = 160n
const prefixed = 0x41n << addressBits

/**
 * The addresses that begin with a text in Base58Check: as numbers they lie side by side, since each
 * character is a digit. Null if no address begins so.
 */
export function addressesFrom(begin: string): HexRange | null {
  const scale = 58n ** BigInt(addressChars - begin.length)
  const digits = [...begin].reduce((sum, char) => sum * 58n + BigInt(alphabet.indexOf(char)), 0n)
  const [low, high] = [digits * scale, (digits + 1n) * scale - 1n].map((value) => (value >> checksumBits) - prefixed)
  const last = (1n << addressBits) - 1n
  if (low === undefined || high === undefined || high < 0n || low > last) return null
  const hex = (value: bigint) => value.toString(16).padStart(40, '0')
  return { first: hex(low < 0n ? 0n : low), last: hex(high > last ? last : high) }
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
