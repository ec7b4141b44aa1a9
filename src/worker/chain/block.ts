import type { Brand } from '../common/ids.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import { type Address, addressFromHex } from './address.ts'

/** Height of a block, from 0. */
export type BlockHeight = Brand<number, 'BlockHeight'>
/** 64 lower-case hex digits without `0x`. The first 8 bytes are the block's height, big endian (PROTOCOL.md, Blocks). */
export type BlockHash = Brand<string, 'BlockHash'>
/** 64 lower-case hex digits without `0x`: SHA-256 of the transaction's `raw_data`. */
export type Txid = Brand<string, 'Txid'>

/** The asset of a currency on the chain: TRX itself, or the token of a TRC-20 contract. */
export type Asset = { readonly kind: 'native' } | { readonly kind: 'trc20'; readonly contract: Address }

/** TRX itself. */
export const nativeAsset: Asset = { kind: 'native' }

/** The token of a TRC-20 contract. */
export const trc20Asset = (contract: Address): Asset => ({ kind: 'trc20', contract })

/**
 * The position of a transfer in its transaction: 0 for TRX; the index of its log for a token; −1 − k for TRX that a contract sent, where k is its index among
 * the relevant internal transactions. So one number distinguishes all of them. `formatPosition` shows it.
 */
export type Position = number

/** A position as APIs show it: a number, or the text `i<k>`. */
export type ShownPosition = number | `i${number}`

/** The position of TRX that a contract sent, from its index among the relevant internal transactions. */
export const internalPosition = (k: number): Position => -1 - k

/** Whether a contract sent the TRX at this position. */
export const isInternal = (position: Position) => position < 0

/** Shows a position. */
export function formatPosition(position: Position): ShownPosition {
  return isInternal(position) ? `i${-1 - position}` : position
}

/** The shown form of a position of TRX that a contract sent. */
export const internalPositionForm = /^i(0|[1-9]\d{0,14})$/

/** Parses a shown position; null for any other value. */
export function parsePosition(value: unknown): Position | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : null
  const k = typeof value === 'string' ? internalPositionForm.exec(value)?.[1] : undefined
  return k === undefined ? null : internalPosition(Number(k))
}

/** Seconds between two blocks (PROTOCOL.md, Finality). */
export const blockSeconds = 3

/** The height and the hash of a block. */
export interface BlockRef {
  readonly height: BlockHeight
  readonly hash: BlockHash
}

/** A block without its transactions and logs. */
export interface Header extends BlockRef {
  readonly parentHash: BlockHash
  readonly timestamp: UnixMs
}

/** An event that a contract emitted. `position` is its index among the logs of its own transaction, from 0. */
export interface Log {
  readonly txid: Txid
  readonly position: number
  readonly contract: Address
  /** `0x` and 64 lower-case hex digits each. */
  readonly topics: readonly string[]
  /** `0x` and lower-case hex digits. */
  readonly data: string
}

/** `keccak256("Transfer(address,address,uint256)")`, the first topic of a token's transfer: the same for TRC-20 and TRC-721. */
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

/** Reads the height in the first 8 bytes of a block hash. NaN from 2^53 on. */
export function heightInHash(hash: BlockHash): number {
  const height = Number.parseInt(hash.slice(0, 16), 16)
  return Number.isSafeInteger(height) ? height : Number.NaN
}
