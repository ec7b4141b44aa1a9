import type { Address } from '../addresses/address.ts'
import type { Brand } from '../common/brand.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'

/** Height of a block, from 0. */
export type BlockHeight = Brand<number, 'BlockHeight'>
/** 64 lower-case hex digits without `0x`. A Tron block hash begins with its own height, 8 bytes big endian. */
export type BlockHash = Brand<string, 'BlockHash'>
/** 64 lower-case hex digits without `0x`: SHA-256 of the transaction's `raw_data`. */
export type Txid = Brand<string, 'Txid'>

/** Seconds between two blocks (java-tron `Parameter.java`: BLOCK_PRODUCED_INTERVAL = 3000 ms). */
export const blockSeconds = 3

/** Which block: its height and its hash. */
export interface BlockRef {
  readonly height: BlockHeight
  readonly hash: BlockHash
}

/** A block's place in the chain. */
export interface Header extends BlockRef {
  readonly parentHash: BlockHash
  readonly timestamp: UnixMs
}

/**
 * A transaction as JSON-RPC shows it: evidence of a movement, never proof (a TRC-10 transfer looks the same).
 * `value` and `gas` are `0x` quantities as the node wrote them, kept as text because few are ever read.
 */
export interface Transaction {
  readonly txid: Txid
  readonly from: Address
  readonly to: Address | null
  readonly value: string
  readonly input: string
  readonly gas: string
}

/** An event that a contract emitted. `position` is its place among the logs of its own transaction, from 0. */
export interface Log {
  readonly txid: Txid
  readonly position: number
  readonly contract: Address
  /** `0x` and 64 lower-case hex digits each. */
  readonly topics: readonly string[]
  /** `0x` and lower-case hex digits. */
  readonly data: string
}

/** A block with all that can hold a deposit. */
export interface Block extends Header {
  readonly transactions: readonly Transaction[]
  /** Every log of the block, of any contract, in chain order. */
  readonly logs: readonly Log[]
}

/** What became of a transaction. */
export interface Receipt {
  readonly txid: Txid
  readonly block: BlockRef
  readonly succeeded: boolean
  readonly logs: readonly Log[]
}

const hex64 = /^[0-9a-f]{64}$/

/** A txid from a caller: 64 hex digits in any case, `0x` allowed. */
export function parseTxid(text: string): Result<Txid, 'not-64-hex-digits'> {
  const digits = (/^0x/i.test(text) ? text.slice(2) : text).toLowerCase()
  return hex64.test(digits) ? ok(digits as Txid) : err('not-64-hex-digits') // safe: the test is the definition
}

/** The height that a block hash carries in its first 8 bytes. NaN where those bytes hold more than 2^53. */
export function heightInHash(hash: BlockHash): number {
  const height = Number.parseInt(hash.slice(0, 16), 16)
  return Number.isSafeInteger(height) ? height : Number.NaN
}
