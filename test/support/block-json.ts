import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Address } from '../../src/worker/chain/address.ts'
import type { Txid } from '../../src/worker/chain/block.ts'
import { quantity } from './hex.ts'
import type { InternalSpec, LogSpec } from './transaction-spec.ts'

/** A JSON object as a node writes it. */
export type Wire = Readonly<Record<string, unknown>>

/** A transaction in a block: all that nodes show of it follows from this. */
export interface ChainTransaction {
  readonly txid: Txid
  /** The bytes of `raw_data` as hex digits. */
  readonly rawHex: string
  /** `SUCCESS`, or how it failed. */
  readonly result: string
  readonly logs: readonly LogSpec[]
  /** What its contracts called. */
  readonly internals?: readonly (InternalSpec & { readonly from: Address })[]
  /** Members that it has beside these in the HTTP API. The service does not read them. */
  readonly more?: Wire
}

/** A block of a chain. Hashes are 64 hex digits; the time is in milliseconds since 1970. */
export interface ChainBlock {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly timeMs: number
  readonly transactions: readonly ChainTransaction[]
  /** Members that its `raw_data` has beside these in the HTTP API. */
  readonly more?: Wire
}

/** In what the nodes of one kind differ from those of another. */
export interface NodeStyle {
  /** Whether logs are numbered through each transaction, and not through their block (PROTOCOL.md, Logs). */
  readonly numbersByTransaction?: boolean
  /** Whether a log has the time of its block, from 4.8.2 on. */
  readonly hasLogTimes?: boolean
  /** Writes a transaction of the HTTP API, if not as `apiTransactionOf` does. */
  readonly writeTransaction?: (transaction: ChainTransaction) => unknown
}

/** A block in all forms that nodes serve. Each is made when it is first asked for, and is then the same object. */
export interface RenderedBlock {
  readonly block: ChainBlock
  /** In the HTTP API. */
  api(): Wire
  /** In JSON-RPC, with txids. */
  brief(): Wire
  logs(): readonly Wire[]
  /** In the order of the transactions. */
  receipts(): readonly Wire[]
}

/** What nodes show of a block. */
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

/** A transaction in the HTTP API. The service reads its bytes, its id and its result, and not its rendering. */
export function apiTransactionOf({ txid, rawHex, result, more }: ChainTransaction): Wire {
  return { ret: [{ contractRet: result }], txID: txid, raw_data_hex: rawHex, ...more }
}

/** Where a transaction of a block is, in JSON-RPC. */
export function placeOf({ hash, height }: ChainBlock, index: number): Wire {
  return { blockHash: `0x${hash}`, blockNumber: quantity(height), transactionIndex: quantity(index) }
}

/** The info of a transaction in the HTTP API, on a node that keeps internal transactions or not. */
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

/** Logs numbered through their block, without a hole. */
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

/** Zeros and empty lists are left out, as a node does (PROTOCOL.md, HTTP API). */
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
