import * as z from 'zod/mini'
import { type Address, addressFromHex } from '../../addresses/address.ts'
import { isLowerHex } from './hex.ts'

/**
 * The shapes of a node's replies: unknown fields are tolerated, missing ones refused (fact sheet, R22). What comes in
 * thousands (a block's transactions and logs) is read by the loops in `normalise.ts`, with the parsers at the end here.
 */

/** A block's own fields, of either form of the block (5.1). */
export const headerSchema = z.object({
  number: z.string(),
  hash: z.string(),
  parentHash: z.string(),
  timestamp: z.string(),
  transactions: z.array(z.unknown()),
})

/** A receipt (6.1). It has no value and no fee. */
export const receiptSchema = z.object({
  transactionHash: z.string(),
  blockHash: z.string(),
  blockNumber: z.string(),
  transactionIndex: z.string(),
  status: z.enum(['0x0', '0x1']),
  logs: z.array(z.unknown()),
})

/** The part of `wallet/gettransactionbyid` that proves itself; the rest of that answer is the node's word. */
export const rawDataSchema = z.object({ raw_data_hex: z.string().check(z.regex(/^(?:[0-9a-fA-F]{2})+$/)) })

const quantity = /^0x[0-9a-fA-F]{1,64}$/

/** A quantity. Leading zeros are fine (4.8.1 writes nonces so); `"0x"`, numbers and all else are null. */
export function parseQuantityField(value: unknown): bigint | null {
  return typeof value === 'string' && quantity.test(value) ? BigInt(value) : null
}

/** A quantity that is small: a height, an index, a time. Null past 2^53 too. */
export function parseSafeInteger(value: unknown): number | null {
  if (typeof value !== 'string' || !quantity.test(value)) return null
  const small = Number.parseInt(value, 16)
  return Number.isSafeInteger(small) ? small : null
}

/** Whether a quantity is `small`. Its usual spelling is compared as text: this runs for every transaction and log. */
export function isQuantity(value: unknown, small: number): boolean {
  return value === toQuantity(small) || parseSafeInteger(value) === small
}

/** 32 bytes as 64 lower-case hex digits without `0x`. */
export function parseHash(value: unknown): string | null {
  return parseWord(value)?.slice(2) ?? null
}

/** 32 bytes, written with `0x` in lower case: a topic, a returned number. */
export function parseWord(value: unknown): string | null {
  return typeof value === 'string' && value.length === 66 ? parseBytes(value) : null
}

/** Whole bytes, written with `0x` in lower case. */
export function parseBytes(value: unknown): string | null {
  if (typeof value !== 'string' || value.length % 2 !== 0) return null
  if (isBytes(value)) return value
  const lower = value.toLowerCase() // only where the case was wrong: nodes write lower case
  return isBytes(lower) ? lower : null
}

/** An address of 20 bytes, or of 21 that begin with 0x41 (5.4, row 19). */
export function parseNodeAddress(value: unknown): Address | null {
  if (typeof value !== 'string') return null
  if (value.length === 42 && isBytes(value)) return value.slice(2) as Address // safe: the test is the definition
  return addressFromHex(/^0x41.{40}$/i.test(value) ? value.slice(4) : value)
}

const isBytes = (text: string) => text.startsWith('0x') && isLowerHex(text, 2)

/** A height, index or count as a quantity. */
export function toQuantity(value: number): string {
  return `0x${value.toString(16)}`
}
