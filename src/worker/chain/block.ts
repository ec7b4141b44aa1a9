import type { Brand } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import { type Address, addressFromHex } from './address.ts'

export type BlockHeight = Brand<number, 'BlockHeight'>
/**
 * 64 lower-case hex digits without `0x`. The first 8 bytes are the block's height, big endian
 * (PROTOCOL.md, Blocks).
 */
export type BlockHash = Brand<string, 'BlockHash'>
/** 64 lower-case hex digits without `0x`: SHA-256 of the transaction's `raw_data`. */
export type Txid = Brand<string, 'Txid'>

/** TRX (`native`), or the token of a TRC-20 contract. */
export type Asset = { readonly kind: 'native' } | { readonly kind: 'trc20'; readonly contract: Address }

export const nativeAsset: Asset = { kind: 'native' }

/**
 * Makes the asset of a token from its contract. Nothing checks that the contract is a TRC-20 token.
 */
export const trc20Asset = (contract: Address): Asset => ({ kind: 'trc20', contract })

/**
 * The position of a transfer in its transaction: 0 for TRX; the index of its log for a token; −1 −
 * k for TRX that a contract sent, where k counts the transaction's internal calls, creations and
 * self-destructions from 0 (PROTOCOL.md, Internal transactions). So one number identifies a
 * transfer within its transaction.
 */
export type Position = number

/** A position as APIs show it: a number, or the text `i<k>`. */
export type ShownPosition = number | `i${number}`

/** The position of TRX that a contract sent; see `Position` for `k`. */
export const internalPosition = (k: number): Position => -1 - k

/** Whether the transfer at this position is TRX that a contract sent. */
export const isInternal = (position: Position) => position < 0

/**
 * Returns a position as APIs show it: the number, or `i<k>` for TRX that a contract sent.
 * `parsePosition` reads it.
 */
export function formatPosition(position: Position): ShownPosition {
  return isInternal(position) ? `i${-1 - position}` : position
}

/** `i<k>`: how APIs show the position of TRX that a contract sent. */
export const internalPositionForm = /^i(0|[1-9]\d{0,14})$/

/** Parses a position as `formatPosition` returns it; null for any other value. */
export function parsePosition(value: unknown): Position | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : null
  const k = typeof value === 'string' ? internalPositionForm.exec(value)?.[1] : undefined
  return k === undefined ? null : internalPosition(Number(k))
}

/** Seconds between two blocks (PROTOCOL.md, Finality). */
export const blockSeconds = 3

export interface BlockRef {
  readonly height: BlockHeight
  readonly hash: BlockHash
}

/** A block without its transactions and logs. */
export interface Header extends BlockRef {
  readonly parentHash: BlockHash
  readonly timestamp: UnixMs
}

/**
 * An event that a contract emitted. `position` is its index among the logs of its own transaction,
 * from 0.
 */
export interface Log {
  readonly txid: Txid
  readonly position: number
  readonly contract: Address
  /** `0x` and 64 lower-case hex digits each. */
  readonly topics: readonly string[]
  /** `0x` and lower-case hex digits. */
  readonly data: string
}

/**
 * `keccak256("Transfer(address,address,uint256)")`, the first topic of a token's transfer: the same
 * for TRC-20 and TRC-721.
 */
export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const topicPrefix = `0x${'0'.repeat(24)}`

/** Reads the address in a topic of 32 bytes; null if any of its first 12 bytes is not zero. */
export function addressInTopic(topic = ''): Address | null {
  return topic.startsWith(topicPrefix) ? addressFromHex(topic.slice(topicPrefix.length)) : null
}

const hex64 = /^[0-9a-f]{64}$/

/** Parses a txid in any accepted form: 64 hex digits in any case, optionally prefixed with `0x`. */
export function parseTxid(text: string): Result<Txid, 'not-64-hex-digits'> {
  const digits = (/^0x/i.test(text) ? text.slice(2) : text).toLowerCase()
  return hex64.test(digits) ? ok(digits as Txid) : err('not-64-hex-digits') // safe: the test is the definition
}

/**
 * Reads the height that the first 8 bytes of a block hash contain (PROTOCOL.md, Blocks). A height
 * of 2^53 or more becomes NaN, which equals no height.
 */
export function heightInHash(hash: BlockHash): number {
  const height = Number.parseInt(hash.slice(0, 16), 16)
  return Number.isSafeInteger(height) ? height : Number.NaN
}
