import * as z from 'zod/mini'
import { type Address, addressFromHex } from '../../chain/address.ts'
import { err, ok, type Result } from '../../common/result.ts'

/** A parsed part of a node's reply, or why it is malformed: one phrase for the log. */
export type Parsed<T> = Result<T, string>
/** A parser of a part of a reply. */
export type Parser<T> = (value: unknown) => Parsed<T>

// Unknown fields are ignored, missing ones refused (PROTOCOL.md, Numbers and fields). Transactions and logs come in
// thousands, so loops parse them, without a schema.

/** The fields of a block (PROTOCOL.md, Blocks). */
export const blockSchema = z.object({
  number: z.string(),
  hash: z.string(),
  parentHash: z.string(),
  timestamp: z.string(),
  transactions: z.array(z.unknown()),
})

/** The fields of a receipt (PROTOCOL.md, Receipts). */
export const receiptSchema = z.object({
  transactionHash: z.string(),
  blockHash: z.string(),
  blockNumber: z.string(),
  transactionIndex: z.string(),
  status: z.enum(['0x0', '0x1']),
  logs: z.array(z.unknown()),
})

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** 32 bytes as 64 lower-case hex digits without `0x`, or null. */
export function parseHash(value: unknown): string | null {
  return parseWord(value)?.slice(2) ?? null
}

/** 32 bytes in lower case with `0x`, or null: a topic, or a number that a contract returns. */
export function parseWord(value: unknown): string | null {
  return typeof value === 'string' && value.length === 66 ? parseBytes(value) : null
}

/** The number that a contract returns: exactly 32 bytes (PROTOCOL.md, Contract calls). */
export function parseUint256(value: unknown): Parsed<bigint> {
  const word = parseWord(value)
  return word === null ? err('not exactly 32 bytes') : ok(BigInt(word))
}

/** Whole bytes in lower case with `0x`, or null. */
export function parseBytes(value: unknown): string | null {
  if (typeof value !== 'string' || value.length % 2 !== 0) return null
  if (isBytes(value)) return value
  const lower = value.toLowerCase() // rare: nodes write lower case
  return isBytes(lower) ? lower : null
}

/** An address of 20 bytes, or of 21 bytes that begin with 0x41, or null (PROTOCOL.md, Addresses and derivation). */
export function parseNodeAddress(value: unknown): Address | null {
  if (typeof value !== 'string') return null
  if (value.length === 42 && isBytes(value)) return value.slice(2) as Address // safe: 40 lower-case hex digits
  return addressFromHex(/^0x41.{40}$/i.test(value) ? value.slice(4) : value)
}

const isBytes = (text: string) => text.startsWith('0x') && isLowerHex(text, 2)

const isDigit = new Uint8Array(128)
for (const digit of '0123456789abcdef') isDigit[digit.charCodeAt(0)] = 1

/** Whether `text` has only lower-case hex digits from `start` on. A regular expression takes 4 times as long (November 2026). */
function isLowerHex(text: string, start: number): boolean {
  let all = 1
  for (let i = start; i < text.length; i += 1) all &= isDigit[text.charCodeAt(i)] ?? 0
  return all === 1
}
