import { type Address, addressFromHex } from '../../chain/address.ts'
import type { BlockHash } from '../../chain/block.ts'
import { heightInHash } from '../../chain/block.ts'
import { err, ok, type Result } from '../../common/result.ts'

/** A parsed part of a node's reply, or why it is malformed: one phrase for the log. */
export type Parsed<T> = Result<T, string>

// Unknown fields are ignored, missing ones refused (PROTOCOL.md, Numbers and fields). Transactions and logs come in
// thousands, so they are parsed without a schema.

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** 32 bytes of JSON-RPC as 64 lower-case hex digits without `0x`, or null. */
export function parseHash(value: unknown): string | null {
  return parseWord(value)?.slice(2) ?? null
}

/** 32 bytes in lower case with `0x`, or null: a topic, or a number that a contract returns. */
export function parseWord(value: unknown): string | null {
  return typeof value === 'string' && value.length === 66 ? parseBytes(value) : null
}

/** 32 bytes of the HTTP API, 64 lower-case hex digits, or null. */
export function parseApiHash(value: unknown): string | null {
  return typeof value === 'string' && value.length === 64 ? parseDigits(value, 0) : null
}

/** Whole bytes of the HTTP API, at least one, in lower case, or null. */
export function parseApiBytes(value: unknown): string | null {
  return typeof value === 'string' && value.length > 0 && value.length % 2 === 0 ? parseDigits(value, 0) : null
}

/** The number that a contract returns: exactly 32 bytes (PROTOCOL.md, Contract calls). */
export function parseUint256(value: unknown): Parsed<bigint> {
  const word = parseWord(value)
  return word === null ? err('not exactly 32 bytes') : ok(BigInt(word))
}

/** Whole bytes in lower case with `0x`, or null. */
export function parseBytes(value: unknown): string | null {
  if (typeof value !== 'string' || value.length % 2 !== 0) return null
  return value.startsWith('0x') || value.startsWith('0X') ? parseDigits(value, 2) : null
}

/** An address of 20 bytes, or of 21 bytes that begin with 0x41, or null (PROTOCOL.md, Addresses and derivation). */
export function parseNodeAddress(value: unknown): Address | null {
  if (typeof value !== 'string') return null
  if (value.length === 42 && value.startsWith('0x') && isLowerHex(value, 2)) return value.slice(2) as Address // safe: 40 lower-case hex digits
  return addressFromHex(/^0x41.{40}$/i.test(value) ? value.slice(4) : value)
}

/** Whether a hash is that of a block at this height (PROTOCOL.md, Blocks). */
export const hasHeight = (hash: string, height: number) => heightInHash(hash as BlockHash) === height // safe: 32 bytes

/** The text in lower case, where it has only hex digits from `start` on. */
function parseDigits(text: string, start: number): string | null {
  if (isLowerHex(text, start)) return text
  const lower = text.toLowerCase() // rare: nodes write lower case
  return isLowerHex(lower, start) ? lower : null
}

const isDigit = new Uint8Array(128)
for (const digit of '0123456789abcdef') isDigit[digit.charCodeAt(0)] = 1

/** Whether `text` has only lower-case hex digits from `start` on. A regular expression takes 4 times as long (November 2026). */
function isLowerHex(text: string, start: number): boolean {
  let all = 1
  for (let i = start; i < text.length; i += 1) all &= isDigit[text.charCodeAt(i)] ?? 0
  return all === 1
}
