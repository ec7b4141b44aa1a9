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
import { type ContractFacts, readContract } from '../../chain/contract.ts'
import { err, ok } from '../../common/result.ts'
import type { UnixMs } from '../../common/time.ts'
import { isObject, type Parsed, parseHash, parseSmallQuantity } from './fields.ts'

/** A mined transaction as its block has it: its own bytes and its result (PROTOCOL.md, Transactions). */
export interface BlockTransaction {
  readonly txid: Txid
  /** Such as `SUCCESS`, `REVERT`, `OUT_OF_ENERGY`. */
  readonly result: string
  /** What its bytes say, or null if they cannot be read. */
  readonly facts: ContractFacts | null
}

/**
 * Transactions of which the bytes were hashed and read, by txid. Another node's copy with the same `raw_data_hex`, character for
 * character, says the same: that is compared, and no node is trusted for it.
 */
export type ReadTransactions = Map<unknown, ReadBytes & { readonly rawData: unknown }>

/** What the bytes of a transaction say. */
type ReadBytes = Pick<BlockTransaction, 'txid' | 'facts'>

/** A block of the HTTP API. */
export interface ParsedBlock {
  readonly header: Header
  readonly transactions: readonly BlockTransaction[]
  /** Index of each transaction. */
  readonly indexes: ReadonlyMap<string, number>
}

/** Result of a transaction that did what it says. */
export const successResult = 'SUCCESS'

/**
 * The blocks in a reply to `getblockbylimitnext`, from `from` on. They end before the first one that is malformed, and `fault` says
 * why. Above the node's head there are none. Transactions that are read are added to `known`.
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
    const block = parseBlock(item, from + blocks.length, known)
    const parent = blocks.at(-1)
    const isChild = block.ok && (parent === undefined || block.value.header.parentHash === parent.header.hash)
    if (!block.ok || !isChild) return ok({ blocks, fault: block.ok ? 'a block that is no child' : block.error })
    blocks.push(block.value)
  }
  return ok({ blocks, fault: null })
}

/** One block, with bytes that hash to the txids. */
export function parseBlock(value: unknown, height: number, known: ReadTransactions = new Map()): Parsed<ParsedBlock> {
  const raw = isObject(value) && isObject(value.block_header) ? value.block_header.raw_data : null
  if (!isObject(value) || !isObject(raw)) return err('a block without header')
  const { number = 0, parentHash, timestamp = 0 } = raw // zeros are left out
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
/** 32 bytes of the HTTP API. */
const apiHash = (value: unknown) => (typeof value === 'string' ? parseHash(`0x${value}`) : null)

function apiBytes(value: unknown): Uint8Array | null {
  try {
    return typeof value === 'string' ? hexToBytes(value) : null
  } catch {
    return null // it throws on anything but whole bytes in hex
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
  const { txid, facts } = read.value
  if (before === undefined) known.set(txid, { txid, facts, rawData: raw_data_hex })
  const first: unknown = Array.isArray(ret) ? ret[0] : undefined
  const result = isObject(first) ? (first.contractRet ?? 'DEFAULT') : undefined // the default is left out
  if (typeof result !== 'string' || !resultName.test(result)) return err(`no result of ${txid}`)
  return ok({ txid, result, facts })
}

/** The txid of a transaction and what its bytes say, which must hash to it. */
function readBytes(txID: unknown, rawData: unknown): Parsed<ReadBytes> {
  const bytes = apiBytes(rawData)
  if (bytes === null) return err('a transaction without its bytes')
  const txid = bytesToHex(sha256(bytes))
  if (txID !== txid && apiHash(txID) !== txid) return err(`the bytes of ${txid} with another txid`)
  return ok({ txid: txid as Txid, facts: readContract(bytes) }) // safe: 32 bytes
}

/** A block of JSON-RPC with txids. */
export interface BriefBlock extends Header {
  readonly txids: readonly Txid[]
}

/** A block with txids. Both of its hashes contain a height (PROTOCOL.md, Blocks). */
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

/** The block that an object names by `blockHash` and `blockNumber`, or null. */
export function parseBlockRef({ blockHash, blockNumber }: Record<string, unknown>): BlockRef | null {
  const height = parseSmallQuantity(blockNumber)
  const hash = parseHash(blockHash)
  if (height === null || hash === null || !hasHeight(hash, height)) return null
  return { height: height as BlockHeight, hash: hash as BlockHash } // safe: checked above
}

/** A header of checked fields, each of which is null if it is malformed. */
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
    timestamp: timestamp as UnixMs, // safe: milliseconds
  })
}

/** Whether a hash is that of a block at this height (PROTOCOL.md, Blocks). */
const hasHeight = (hash: string, height: number) => heightInHash(hash as BlockHash) === height // safe: 32 bytes
