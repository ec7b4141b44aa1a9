import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Address } from '../../src/worker/chain/address.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import { quantity } from './hex.ts'
import type { InternalSpec, LogSpec } from './transaction-spec.ts'

/** A JSON object as a node sends it. */
export type Wire = Readonly<Record<string, unknown>>

/** A transaction in a block. Everything that a node shows of the transaction is made from this. */
export interface ChainTransaction {
  readonly txid: Txid
  /** The transaction's `raw_data` as hex digits. */
  readonly rawHex: string
  /** `SUCCESS`, or the node's word for how it failed. */
  readonly result: string
  readonly logs: readonly LogSpec[]
  /** The internal transactions of the contracts that the transaction calls. */
  readonly internals?: readonly (InternalSpec & { readonly from: Address })[]
  /** Further members of the transaction in the HTTP API. The service ignores them. */
  readonly more?: Wire
}

/**
 * A block of a chain. Hashes are 64 hex digits; the time is in milliseconds since 1970, and a
 * multiple of 1,000.
 */
export interface ChainBlock {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly timeMs: number
  readonly transactions: readonly ChainTransaction[]
  /** Further members of the block's `raw_data` in the HTTP API. The service ignores them. */
  readonly more?: Wire
}

/** How the replies of one version or provider of nodes differ from those of another. */
export interface NodeStyle {
  /**
   * Whether `logIndex` counts from 0 in each transaction, instead of in the block (PROTOCOL.md,
   * Logs).
   */
  readonly numbersByTransaction?: boolean
  /** Whether logs have the time of their block, as java-tron's do from 4.8.2 on. */
  readonly hasLogTimes?: boolean
  /** Replaces `apiTransactionOf` for transactions in the HTTP API. */
  readonly writeTransaction?: (transaction: ChainTransaction) => unknown
}

/**
 * A block in each form in which nodes serve it. A form is made when it is first asked for, and
 * kept.
 */
export interface RenderedBlock {
  readonly block: ChainBlock
  /** The reply of the HTTP API. */
  api(): Wire
  /** The reply of `eth_getBlockByNumber` with txids instead of transactions. */
  brief(): Wire
  logs(): readonly Wire[]
  /** The receipt of each transaction, in their order. */
  receipts(): readonly Wire[]
}

/** Prepares what nodes show of a block. */
export function renderBlock(block: ChainBlock, style: NodeStyle = {}): RenderedBlock {
  const logs = once(() => logsByTransaction(block, style))
  return {
    block,
    api: once(() => apiBlockOf(block, style.writeTransaction ?? apiTransactionOf)),
    brief: once(() => briefOf(block)),
    logs: once(() => logs().flat()),
    receipts: once(() => block.transactions.map((_, i) => receiptOf(block, i, logs()[i] ?? []))),
  }
}

/**
 * A transaction as the HTTP API shows it, as far as the service reads it: without the decoded
 * `raw_data`.
 */
export function apiTransactionOf({ txid, rawHex, result, more }: ChainTransaction): Wire {
  return { ret: [{ contractRet: result }], txID: txid, raw_data_hex: rawHex, ...more }
}

/** The members of JSON-RPC objects that say in which block a transaction is, and at which index. */
export function placeOf({ hash, height }: ChainBlock, index: number): Wire {
  return { blockHash: `0x${hash}`, blockNumber: quantity(height), transactionIndex: quantity(index) }
}

/**
 * The reply of `gettransactioninfobyid` for the transaction at this index. `keepsInternals`:
 * whether the node stores internal transactions.
 */
export function infoOf({ height, timeMs, transactions }: ChainBlock, index: number, keepsInternals: boolean): Wire {
  const { txid, result, internals = [] } = transactions[index] ?? { txid: '', result: '' }
  const info = { id: txid, blockNumber: height, blockTimeStamp: timeMs, receipt: { result } }
  return keepsInternals && internals.length > 0 ? { ...info, internal_transactions: internals.map(internalOf) } : info
}

function internalOf(
  { note = 'call', from, to, sun, rejected, tokens = [] }: InternalSpec & { readonly from: Address },
  place: number,
): Wire {
  const value = sun === 0 ? {} : { callValue: sun }
  return {
    hash: place.toString(16).padStart(64, '0'),
    caller_address: `41${from}`,
    transferTo_address: `41${to}`,
    callValueInfo: [value, ...tokens],
    note: bytesToHex(utf8ToBytes(note)),
    ...(rejected === true ? { rejected } : {}),
  }
}

/** The logs with `logIndex` counted from 0 through the whole list. */
export function renumbered(logs: readonly Wire[]): readonly Wire[] {
  return logs.map((log, i) => ({ ...log, logIndex: quantity(i) }))
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

function briefOf({ height, hash, parentHash, timeMs, transactions }: ChainBlock): Wire {
  return {
    number: quantity(height),
    hash: `0x${hash}`,
    parentHash: `0x${parentHash}`,
    timestamp: quantity(timeMs / 1000),
    transactions: transactions.map(({ txid }) => `0x${txid}`),
  }
}

/**
 * The reply of the HTTP API. Like a node it leaves out zeros and empty lists (PROTOCOL.md, HTTP
 * API).
 */
function apiBlockOf(block: ChainBlock, write: (transaction: ChainTransaction) => unknown): Wire {
  const { height, hash, parentHash, timeMs, transactions, more } = block
  const number = height === 0 ? {} : { number: height }
  const header = { raw_data: { ...number, parentHash, timestamp: timeMs, ...more } }
  const list = transactions.length === 0 ? {} : { transactions: transactions.map(write) }
  return { blockID: hash, block_header: header, ...list }
}

function logsByTransaction(block: ChainBlock, style: NodeStyle): readonly (readonly Wire[])[] {
  const time = style.hasLogTimes === true ? { blockTimestamp: quantity(block.timeMs / 1000) } : {}
  let first = 0
  return block.transactions.map(({ txid, logs }, i) => {
    const place = { ...placeOf(block, i), transactionHash: `0x${txid}`, ...time }
    const written = logs.map(({ contract, topics, data }, k): Wire => {
      return { address: `0x${contract}`, ...place, data, logIndex: quantity(first + k), removed: false, topics }
    })
    if (style.numbersByTransaction !== true) first += logs.length
    return written
  })
}

function receiptOf(block: ChainBlock, i: number, logs: readonly Wire[]): Wire {
  const { txid = '', result = '' } = block.transactions[i] ?? {}
  const status = result === 'SUCCESS' ? '0x1' : '0x0'
  return { ...placeOf(block, i), transactionHash: `0x${txid}`, status, logs }
}
