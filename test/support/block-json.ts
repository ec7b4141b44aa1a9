import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Address } from '../../src/chain/address.ts'
import type { BlockHash, BlockHeight, BlockRef, Txid } from '../../src/chain/block.ts'
import { quantity } from './hex.ts'
import { addressOf, type LogSpec, type TransactionSpec, transferCallData, transferLog } from './transaction-spec.ts'

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
    miner: `0x${addressOf(27)}`,
    size: '0x60a',
    gasLimit: '0x2540be400',
    gasUsed: '0xae29',
    stateRoot: '0x',
    uncles: [],
    nonce: '0x0000000000000000',
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
  const rawData = {
    ...number,
    txTrieRoot: '0'.repeat(64),
    witness_address: `41${addressOf(27)}`,
    parentHash,
    version: 32,
    timestamp: timestamp * 1000,
  }
  const transactions = built.length === 0 ? {} : { transactions: built.map(({ api }) => api) }
  return { blockID: hash, block_header: { raw_data: rawData, witness_signature: '11'.repeat(65) }, ...transactions }
}

/** A transaction in the HTTP API. The service reads its bytes, its id and its result. */
function apiTransactionOf(spec: TransactionSpec, txid: Txid, rawData: Uint8Array, failed: boolean): Wire {
  const to =
    spec.kind === 'trx' || spec.kind === 'bytes' ? { to_address: `41${spec.to}`, amount: Number(spec.amount) } : {}
  const name = spec.kind === 'trx' || spec.kind === 'bytes' ? 'TransferContract' : 'TriggerSmartContract'
  const keepsLogs =
    (spec.kind === 'token' && spec.keepsLogs === true) || (spec.kind === 'call' && spec.logs !== undefined)
  const result = failed ? (keepsLogs ? 'OUT_OF_TIME' : 'REVERT') : 'SUCCESS'
  return {
    ret: [{ contractRet: result }],
    signature: ['22'.repeat(65)],
    txID: txid,
    raw_data: {
      contract: [
        {
          parameter: {
            value: { owner_address: `41${spec.from}`, ...to },
            type_url: `type.googleapis.com/protocol.${name}`,
          },
          type: name,
        },
      ],
      ref_block_bytes: '1ca0',
      ref_block_hash: '5cf728c92ee79f5f',
    },
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
  const from = `0x${spec.from}`
  const to = visible.to === null ? null : `0x${visible.to}`
  const energy = visible.isCall ? '0xae29' : '0x0'
  const wire = {
    ...location,
    hash: `0x${txid}`,
    from,
    to,
    value: quantity(visible.value),
    input: visible.input,
    gas: energy,
    gasPrice: '0x64',
    nonce: '0x0000000000000000',
    type: '0x0',
    v: '0x1b',
    r: `0x${'11'.repeat(32)}`,
    s: `0x${'22'.repeat(32)}`,
  }
  const receipt = {
    ...location,
    transactionHash: `0x${txid}`,
    from,
    to,
    status: visible.failed ? '0x0' : '0x1',
    type: '0x0',
    contractAddress: null,
    gasUsed: energy,
    cumulativeGasUsed: energy,
    effectiveGasPrice: '0x64',
    logsBloom: `0x${'00'.repeat(256)}`,
    logs,
  }
  const api = apiTransactionOf(spec, txid, rawData, visible.failed)
  return { built: { txid, rawData, api, wire, receipt }, logs }
}

interface VisiblePart {
  readonly to: Address | null
  readonly value: bigint
  readonly input: string
  readonly isCall: boolean
  readonly failed: boolean
  readonly logs: readonly LogSpec[]
}

/**
 * The part of a transaction that JSON-RPC shows. Only for TRX transfers it is all that the transaction does
 * (PROTOCOL.md, Look-alike transfers).
 */
function visiblePartOf(spec: TransactionSpec): VisiblePart {
  const plain = { input: '0x', isCall: false, failed: false, logs: [] }
  switch (spec.kind) {
    case 'trx':
    case 'trc10':
    case 'bytes':
      return { ...plain, to: spec.to, value: spec.amount }
    case 'token': {
      const failed = spec.failed === true
      const hasLog = !failed || spec.keepsLogs === true
      const logs = hasLog ? [transferLog(spec.contract, spec.from, spec.to, spec.amount)] : []
      const input = `0x${transferCallData(spec.to, spec.amount)}`
      return { to: spec.contract, value: 0n, input, isCall: true, failed, logs }
    }
    case 'call':
      return {
        to: spec.contract,
        value: spec.value ?? 0n,
        input: '0x12345678',
        isCall: true,
        failed: spec.failed === true,
        logs: spec.logs ?? [],
      }
    case 'other':
      return { ...plain, to: spec.to, value: spec.value }
  }
}

/** Logs numbered through their block, without a hole. */
export function renumbered(logs: readonly Wire[]): readonly Wire[] {
  return logs.map((log, i) => ({ ...log, logIndex: `0x${i.toString(16)}` }))
}
