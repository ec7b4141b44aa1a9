import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import {
  type BlockHash,
  type BlockHeight,
  type BlockRef,
  type Header,
  heightInHash,
  type Txid,
} from '../../chain/block.ts'
import { type ParsedContract, readContract } from '../../chain/contract.ts'
import { err, ok } from '../../common/result.ts'
import type { UnixMs } from '../../common/time.ts'
import { isObject, type Parsed, parseHash, parseSmallQuantity } from './fields.ts'

/**
 * A mined transaction as its block has it: its own bytes and its result (PROTOCOL.md,
 * Transactions).
 */
export interface BlockTransaction {
  readonly txid: Txid
  /** For example `SUCCESS`, `REVERT`, `OUT_OF_ENERGY`. */
  readonly result: string
  /** The parsed bytes, or null if they cannot be parsed. */
  readonly contract: ParsedContract | null
  /**
   * Whether the bytes contain the selector of a token's `transfer`. It only says whose receipt to
   * ask for first; logs say what a call has moved.
   */
  readonly mayTransfer: boolean
}

/**
 * Parsed transactions by txid. If another node's copy has the same `raw_data_hex`, character for
 * character, it is not parsed again: the texts are compared, so no node is trusted.
 */
export type ReadTransactions = Map<unknown, ReadBytes & { readonly rawData: unknown }>

type ReadBytes = Pick<BlockTransaction, 'txid' | 'contract' | 'mayTransfer'>
/** `transfer(address,uint256)` */
const transferSelector = 'a9059cbb'

/** A block as the HTTP API of a node shows it. */
export interface ParsedBlock {
  readonly header: Header
  readonly transactions: readonly BlockTransaction[]
  /** The index of each transaction in the block, by txid. */
  readonly indexes: ReadonlyMap<string, number>
}

export const successResult = 'SUCCESS'

/**
 * Parses the blocks in a reply to `getblockbylimitnext`, from `from` on. They end before the first
 * malformed block, and `fault` says why it is malformed. They also end before a block that the node
 * lacks: it then gives later ones in its place, or none. Parsed transactions are added to `known`.
 */
export function parseBlocks(
  value: unknown,
  from: number,
  max: number,
  known: ReadTransactions = new Map(),
): Parsed<{ readonly blocks: readonly ParsedBlock[]; readonly fault: string | null }> {
  if (!isObject(value) || !('block' in value ? Array.isArray(value.block) : Object.keys(value).length === 0)) {
    return err('a reply without blocks')
  }
  const items: readonly unknown[] = Array.isArray(value.block) ? value.block : []
  if (items.length > max) return err(`${items.length} blocks in place of ${max}`)
  const blocks: ParsedBlock[] = []
  for (const item of items) {
    const height = from + blocks.length
    if (heightIn(item) > height) break
    const block = parseBlock(item, height, known)
    const parent = blocks.at(-1)
    const isChild = block.ok && (parent === undefined || block.value.header.parentHash === parent.header.hash)
    if (!block.ok || !isChild) return ok({ blocks, fault: block.ok ? 'a block that is no child' : block.error })
    blocks.push(block.value)
  }
  return ok({ blocks, fault: null })
}

/** The height that a block of the HTTP API names; -1 if it names none. */
function heightIn(value: unknown): number {
  const raw = isObject(value) && isObject(value.block_header) ? value.block_header.raw_data : null
  return (isObject(raw) ? integerOf(raw.number) : null) ?? -1
}

/**
 * Parses one block of the HTTP API. It must have this height, and the bytes of each transaction
 * must hash to its txid.
 */
export function parseBlock(value: unknown, height: number, known: ReadTransactions = new Map()): Parsed<ParsedBlock> {
  const raw = isObject(value) && isObject(value.block_header) ? value.block_header.raw_data : null
  if (!isObject(value) || !isObject(raw)) return err('a block without header')
  const { number = 0, parentHash, timestamp = 0 } = raw // nodes leave out zeros
  const header = headerOf(integerOf(number), apiHash(value.blockID), apiHash(parentHash), integerOf(timestamp))
  if (!header.ok) return header
  if (number !== height) return err(`block ${number} in place of ${height}`)
  const items = value.transactions ?? []
  if (!Array.isArray(items)) return err('no list of transactions')
  const transactions: BlockTransaction[] = []
  const indexes = new Map<string, number>()
  for (const item of items) {
    const transaction = parseTransaction(item, known)
    if (!transaction.ok) return err(`block ${height}: ${transaction.error}`)
    indexes.set(transaction.value.txid, indexes.size)
    transactions.push(transaction.value)
  }
  if (indexes.size !== transactions.length) return err(`block ${height}: a duplicate transaction`)
  return ok({ header: header.value, transactions, indexes })
}

const integerOf = (value: unknown) => (Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null)
/** Parses a hash of 32 bytes, which the HTTP API writes without `0x`; null if it is malformed. */
const apiHash = (value: unknown) => (typeof value === 'string' ? parseHash(`0x${value}`) : null)

function apiBytes(value: unknown): Uint8Array | null {
  try {
    return typeof value === 'string' ? hexToBytes(value) : null
  } catch {
    return null // `hexToBytes` throws on anything but whole bytes in hex
  }
}

const resultName = /^[A-Z_]{1,40}$/

function parseTransaction(item: unknown, known: ReadTransactions): Parsed<BlockTransaction> {
  if (!isObject(item)) return err('a transaction that is not an object')
  const { txID, raw_data_hex, ret } = item
  const before = known.get(txID)
  const isSame = before !== undefined && before.rawData === raw_data_hex
  const read = isSame ? ok(before) : readBytes(txID, raw_data_hex)
  if (!read.ok) return read
  const { txid } = read.value
  if (before === undefined) known.set(txid, { ...read.value, rawData: raw_data_hex })
  const first: unknown = Array.isArray(ret) ? ret[0] : undefined
  const result = isObject(first) ? (first.contractRet ?? 'DEFAULT') : undefined // nodes leave out the default value
  if (typeof result !== 'string' || !resultName.test(result)) return err(`no result of ${txid}`)
  return ok({ txid, result, contract: read.value.contract, mayTransfer: read.value.mayTransfer })
}

/** Parses a transaction's bytes, which must hash to its txid. */
function readBytes(txID: unknown, rawData: unknown): Parsed<ReadBytes> {
  const bytes = apiBytes(rawData)
  if (bytes === null) return err('a transaction without its bytes')
  const txid = bytesToHex(sha256(bytes))
  if (txID !== txid && apiHash(txID) !== txid) return err(`the bytes of ${txid} with another txid`)
  const mayTransfer = String(rawData).toLowerCase().includes(transferSelector)
  return ok({ txid: txid as Txid, contract: readContract(bytes), mayTransfer }) // safe: 32 bytes
}

/** A block as JSON-RPC shows it, with txids instead of transactions. */
export interface BriefBlock extends Header {
  readonly txids: readonly Txid[]
}

/** Parses a block with txids. Both of its hashes contain a height (PROTOCOL.md, Blocks). */
export function parseBriefBlock(value: unknown): Parsed<BriefBlock> {
  if (!isObject(value) || !Array.isArray(value.transactions)) return err('a block with missing fields')
  const seconds = parseSmallQuantity(value.timestamp)
  const header = headerOf(
    parseSmallQuantity(value.number),
    parseHash(value.hash),
    parseHash(value.parentHash),
    seconds === null ? null : seconds * 1000,
  )
  if (!header.ok) return header
  const txids = value.transactions.map(parseHash)
  if (txids.includes(null)) return err('a malformed txid')
  if (new Set(txids).size < txids.length) return err('a duplicate txid')
  return ok({ ...header.value, txids: txids as Txid[] }) // safe: 32 bytes each
}

/**
 * Parses `blockHash` and `blockNumber`; null if they are malformed, or if the hash is not of that
 * height.
 */
export function parseBlockRef({ blockHash, blockNumber }: Record<string, unknown>): BlockRef | null {
  const height = parseSmallQuantity(blockNumber)
  const hash = parseHash(blockHash)
  if (height === null || hash === null || !hasHeight(hash, height)) return null
  return { height: height as BlockHeight, hash: hash as BlockHash } // safe: checked above
}

/**
 * Makes a header of parsed fields. The result is an error if a field is null, because it was
 * malformed, or if a hash is not of its height.
 */
function headerOf(
  height: number | null,
  hash: string | null,
  parentHash: string | null,
  timestamp: number | null,
): Parsed<Header> {
  if (height === null || hash === null || parentHash === null || timestamp === null) return err('a malformed block')
  if (!hasHeight(hash, height)) return err(`a hash that is not of height ${height}`)
  if (height > 0 && !hasHeight(parentHash, height - 1)) return err(`a parent hash that is not of height ${height - 1}`)
  return ok({
    height: height as BlockHeight, // safe: an integer from 0
    hash: hash as BlockHash, // safe: 32 bytes
    parentHash: parentHash as BlockHash, // safe: 32 bytes
    timestamp: timestamp as UnixMs, // safe: callers give milliseconds since 1970
  })
}

/** Whether a hash is that of a block at this height (PROTOCOL.md, Blocks). */
const hasHeight = (hash: string, height: number) => heightInHash(hash as BlockHash) === height // safe: 32 bytes
