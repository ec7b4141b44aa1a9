import { type Address, addressFromHex } from '../../chain/address.ts'
import { err, ok, type Result } from '../../common/result.ts'

/** A parsed part of a node's reply, or a phrase for the log about why it is malformed. */
export type Parsed<T> = Result<T, string>

// Unknown fields are ignored, missing ones refused (PROTOCOL.md, Numbers and fields). No schema
// library is used here, because transactions and logs come in thousands.

/** Whether a value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses 32 bytes of JSON-RPC into 64 lower-case hex digits without `0x`, or null. */
export function parseHash(value: unknown): string | null {
  return parseWord(value)?.slice(2) ?? null
}

/**
 * Parses 32 bytes into lower case with `0x`, or null: a topic, or a number that a contract returns.
 */
export function parseWord(value: unknown): string | null {
  return typeof value === 'string' && value.length === 66 ? parseBytes(value) : null
}

/** Parses the number that a contract returns: exactly 32 bytes (PROTOCOL.md, Contract calls). */
export function parseUint256(value: unknown): Parsed<bigint> {
  const word = parseWord(value)
  return word === null ? err('not exactly 32 bytes') : ok(BigInt(word))
}

/** Parses whole bytes into lower case with `0x`, or null. */
export function parseBytes(value: unknown): string | null {
  if (typeof value !== 'string' || value.length % 2 !== 0) return null
  if (!value.startsWith('0x') && !value.startsWith('0X')) return null
  if (isLowerHex(value)) return value
  const lower = value.toLowerCase() // rarely needed, because nodes write lower case
  return isLowerHex(lower) ? lower : null
}

/**
 * Parses an address of 20 bytes, or of 21 bytes that begin with 0x41; else null (PROTOCOL.md,
 * Addresses and derivation).
 */
export function parseNodeAddress(value: unknown): Address | null {
  if (typeof value !== 'string') return null
  return addressFromHex(/^0x41.{40}$/i.test(value) ? value.slice(4) : value)
}

const isDigit = new Uint8Array(128)
for (const digit of '0123456789abcdef') isDigit[digit.charCodeAt(0)] = 1

/**
 * Whether `text` has only lower-case hex digits after `0x`. A regular expression takes 4 times as
 * long (November 2026).
 */
function isLowerHex(text: string): boolean {
  let all = 1
  for (let i = 2; i < text.length; i += 1) all &= isDigit[text.charCodeAt(i)] ?? 0
  return all === 1
}

const quantity = /^0x(?:0+|0*[1-9a-fA-F][0-9a-fA-F]{0,63})$/
/** Longest quantity that is parsed, in characters: 256 digits, most of them leading zeros. */
const quantityCharactersMax = 258

/**
 * Whether a value is a `0x` quantity below 2^256. Leading zeros are legal. `0x` alone means that a
 * field has no value, so it is not a quantity (PROTOCOL.md, Numbers and fields).
 */
function isQuantity(value: unknown): value is string {
  return typeof value === 'string' && value.length <= quantityCharactersMax && quantity.test(value)
}

/** Parses a `0x` quantity below 2^256; null if the value is none. */
export function parseQuantity(value: unknown): bigint | null {
  return isQuantity(value) ? BigInt(value) : null
}

/** Parses a height, an index or a time as `parseQuantity` does; null from 2^53 on. */
export function parseSmallQuantity(value: unknown): number | null {
  const number = isQuantity(value) ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : null
}

/** Writes a height, index or count as a `0x` quantity without leading zeros. */
export function formatQuantity(value: number): string {
  return `0x${value.toString(16)}`
}

/** Whether a node's number is a whole one from 0 to 2^53−1. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
