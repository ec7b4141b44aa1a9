import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { BlockHash, BlockHeight, BlockRef, Txid } from '../../src/chain/block.ts'
import { quantity } from './hex.ts'
import { type LogSpec, type TransactionSpec, transferLog } from './transaction-spec.ts'

/** A JSON object as a node writes it. */
export type Wire = Readonly<Record<string, unknown>>

/** A block in the JSON forms that a node serves. */
export interface BuiltBlock extends BlockRef {
  /** In the HTTP API. */
  readonly api: Wire
  /** In JSON-RPC, with txids. */
  readonly brief: Wire
  readonly logs: readonly Wire[]
  readonly transactions: readonly BuiltTransaction[]
}

/** A transaction with its raw bytes, its JSON objects and its receipt. */
export interface BuiltTransaction {
  readonly txid: Txid
  readonly rawData: Uint8Array
  /** In the HTTP API. */
  readonly api: Wire
  /** In JSON-RPC. */
  readonly wire: Wire
  readonly receipt: Wire
}

/** A block to build. Hashes are 64 hex digits; the timestamp is in seconds since 1970. */
export interface BlockContent {
  readonly height: number
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: number
  readonly transactions: readonly { readonly spec: TransactionSpec; readonly rawData: Uint8Array }[]
}

/** The JSON of a block, with the logs numbered through the whole block (PROTOCOL.md, Logs). */
export function buildBlock({ height, hash, parentHash, timestamp, transactions }: BlockContent): BuiltBlock {
  const logs: Wire[] = []
  const built = transactions.map(({ spec, rawData }, i) => {
    const location = { blockHash: `0x${hash}`, blockNumber: quantity(height), transactionIndex: quantity(i) }
    const transaction = buildTransaction(spec, rawData, location, logs.length)
    logs.push(...transaction.logs)
    return transaction.built
  })
  const header = headerOf(height, hash, parentHash, timestamp)
  return {
    height: height as BlockHeight,
    hash: hash as BlockHash,
    api: apiBlockOf(height, hash, parentHash, timestamp, built),
    brief: { ...header, transactions: built.map(({ txid }) => `0x${txid}`) },
    logs,
    transactions: built,
  }
}

function headerOf(height: number, hash: string, parentHash: string, timestamp: number): Wire {
  return {
    number: quantity(height),
    hash: `0x${hash}`,
    parentHash: `0x${parentHash}`,
    timestamp: quantity(timestamp),
    logsBloom: `0x${'00'.repeat(256)}`,
  }
}

/** Zeros and empty lists are left out, as a node does (PROTOCOL.md, HTTP API). */
function apiBlockOf(
  height: number,
  hash: string,
  parentHash: string,
  timestamp: number,
  built: readonly BuiltTransaction[],
): Wire {
  const number = height === 0 ? {} : { number: height }
  const rawData = { ...number, txTrieRoot: '0'.repeat(64), parentHash, version: 32, timestamp: timestamp * 1000 }
  const transactions = built.length === 0 ? {} : { transactions: built.map(({ api }) => api) }
  return { blockID: hash, block_header: { raw_data: rawData, witness_signature: '11'.repeat(65) }, ...transactions }
}

/** A transaction in the HTTP API. The service reads its bytes, its id and its result, and not its rendering. */
function apiTransactionOf(spec: TransactionSpec, txid: Txid, rawData: Uint8Array, failed: boolean): Wire {
  const hasLogs = ('keepsLogs' in spec && spec.keepsLogs === true) || ('logs' in spec && spec.logs !== undefined)
  return {
    ret: [{ contractRet: failed ? (hasLogs ? 'OUT_OF_TIME' : 'REVERT') : 'SUCCESS' }],
    signature: ['22'.repeat(65)],
    txID: txid,
    raw_data: { contract: [{ type: spec.kind }], ref_block_bytes: '1ca0' },
    raw_data_hex: bytesToHex(rawData),
  }
}

function buildTransaction(
  spec: TransactionSpec,
  rawData: Uint8Array,
  location: Wire,
  firstLogIndex: number,
): { readonly built: BuiltTransaction; readonly logs: readonly Wire[] } {
  const txid = bytesToHex(sha256(rawData)) as Txid // 64 hex digits
  const visible = visiblePartOf(spec)
  const logs = visible.logs.map(({ contract, topics, data }, i) => ({
    address: `0x${contract}`,
    ...location,
    data,
    logIndex: quantity(firstLogIndex + i),
    removed: false,
    topics,
    transactionHash: `0x${txid}`,
  }))
  const hash = `0x${txid}`
  const wire = { ...location, hash }
  const receipt = { ...location, transactionHash: hash, status: visible.failed ? '0x0' : '0x1', logs }
  const api = apiTransactionOf(spec, txid, rawData, visible.failed)
  return { built: { txid, rawData, api, wire, receipt }, logs }
}

/** Whether a transaction failed, and its logs. */
function visiblePartOf(spec: TransactionSpec): { readonly failed: boolean; readonly logs: readonly LogSpec[] } {
  const failed = 'failed' in spec && spec.failed === true
  if (spec.kind === 'call') return { failed, logs: spec.logs ?? [] }
  const hasLog = spec.kind === 'token' && (!failed || spec.keepsLogs === true)
  return { failed, logs: hasLog ? [transferLog(spec.contract, spec.from, spec.to, spec.amount)] : [] }
}

/** Logs numbered through their block, without a hole. */
export function renumbered(logs: readonly Wire[]): readonly Wire[] {
  return logs.map((log, i) => ({ ...log, logIndex: `0x${i.toString(16)}` }))
}
