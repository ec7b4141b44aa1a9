import type { Address } from '../../chain/address.ts'
import type { Header, Transaction, Txid } from '../../chain/block.ts'
import { type BlockHash, type BlockHeight, type BlockRef, heightInHash } from '../../chain/block.ts'
import { formatQuantity, isQuantity, isQuantityOf, parseSmallQuantity } from '../../chain/quantity.ts'
import { err, ok } from '../../common/result.ts'
import type { UnixMs } from '../../common/time.ts'
import { blockSchema, isObject, type Parsed, parseHash, parseNodeAddress } from './fields.ts'

/** A block and the index of each of its transactions: what its logs are checked against. */
export interface IndexedBlock extends BlockRef {
  readonly indexes: ReadonlyMap<string, number>
}

/** A block with its transactions and without its logs. */
export interface ParsedBlock extends Header, IndexedBlock {
  readonly transactions: readonly Transaction[]
}

/** The header of a block with full transactions or txids. Both of its hashes contain a height (PROTOCOL.md, Blocks). */
export function parseHeader(value: unknown): Parsed<Header> {
  const parsed = blockSchema.safeParse(value)
  if (!parsed.success) return err('a block with missing fields')
  const height = parseSmallQuantity(parsed.data.number)
  const hash = parseHash(parsed.data.hash)
  const parentHash = parseHash(parsed.data.parentHash)
  const seconds = parseSmallQuantity(parsed.data.timestamp)
  if (height === null || hash === null || parentHash === null || seconds === null) return err('a malformed block')
  if (!hasHeight(hash, height)) return err(`a hash that is not of height ${height}`)
  if (height > 0 && !hasHeight(parentHash, height - 1)) return err(`a parent hash that is not of height ${height - 1}`)
  return ok({
    height: height as BlockHeight, // safe: a small quantity
    hash: hash as BlockHash, // safe: 32 bytes
    parentHash: parentHash as BlockHash, // safe: 32 bytes
    timestamp: (seconds * 1000) as UnixMs, // safe: nodes write seconds
  })
}

const hasHeight = (hash: string, height: number) => heightInHash(hash as BlockHash) === height // safe: 32 bytes
const transactionsOf = (value: unknown) => (value as { transactions: readonly unknown[] }).transactions // safe: a parsed block

/** A block with txids. */
export function parseBriefBlock(value: unknown): Parsed<Header & IndexedBlock> {
  const header = parseHeader(value)
  if (!header.ok) return header
  const items = transactionsOf(value)
  const indexes = new Map<string, number>()
  for (const item of items) {
    const txid = parseHash(item)
    if (txid === null) return err('a malformed txid')
    indexes.set(txid, indexes.size)
  }
  return indexes.size === items.length ? ok({ ...header.value, indexes }) : err('a duplicate txid')
}

/** The blocks that objects were parsed to: two nodes can have replied with the same object (`reply-parser.ts`). */
const parsedBlocks = new WeakMap<object, ParsedBlock>()

/** The block at `height` with full transactions, each of which names the block and its own index. */
export function parseBlock(value: unknown, height: number): Parsed<ParsedBlock> {
  const block = parseOnce(value)
  return !block.ok || block.value.height === height ? block : err(`block ${block.value.height} in place of ${height}`)
}

function parseOnce(value: unknown): Parsed<ParsedBlock> {
  if (!isObject(value)) return err('a block that is not an object')
  const known = parsedBlocks.get(value)
  if (known !== undefined) return ok(known)
  const block = parseNewBlock(value)
  if (block.ok) parsedBlocks.set(value, block.value)
  return block
}

function parseNewBlock(value: unknown): Parsed<ParsedBlock> {
  const header = parseHeader(value)
  if (!header.ok) return header
  const isOfBlock = createBlockMatcher(header.value)
  const transactions: Transaction[] = []
  const indexes = new Map<string, number>()
  for (const item of transactionsOf(value)) {
    if (!isObject(item)) return err('a transaction that is not an object')
    if (!isOfBlock(item)) return err('a transaction of another block')
    if (!isQuantityOf(item.transactionIndex, indexes.size)) return err('a transaction with a wrong index')
    const transaction = parseTransaction(item)
    if (transaction === null) return err('a malformed transaction')
    indexes.set(transaction.txid, indexes.size)
    transactions.push(transaction)
  }
  if (indexes.size !== transactions.length) return err('a duplicate transaction')
  return ok({ ...header.value, transactions, indexes })
}

/** The block that an object names by `blockHash` and `blockNumber`, or null. */
export function parseBlockRef({ blockHash, blockNumber }: Record<string, unknown>): BlockRef | null {
  const height = parseSmallQuantity(blockNumber)
  const hash = parseHash(blockHash)
  if (height === null || hash === null || !hasHeight(hash, height)) return null
  return { height: height as BlockHeight, hash: hash as BlockHash } // safe: checked above
}

/** Tests whether a transaction or log names `block`. It runs for each of them, so the usual spelling is compared as text. */
export function createBlockMatcher({ hash, height }: BlockRef): (item: Record<string, unknown>) => boolean {
  const usualHash = `0x${hash}`
  const usualNumber = formatQuantity(height)
  return ({ blockHash, blockNumber }) =>
    (blockHash === usualHash || parseHash(blockHash) === hash) &&
    (blockNumber === usualNumber || parseSmallQuantity(blockNumber) === height)
}

const zeroAddress = '0'.repeat(40) as Address // safe: 40 hex digits

/** A transaction of a block or of `eth_getTransactionByHash`, or null where it is malformed (PROTOCOL.md, Transactions). */
export function parseTransaction(item: Record<string, unknown>): Transaction | null {
  const txid = parseHash(item.hash)
  // Contract types without an owner or a recipient have null or "0x" (PROTOCOL.md, Contract types).
  const from = isAbsent(item.from) ? zeroAddress : parseNodeAddress(item.from)
  const to = isAbsent(item.to) ? null : parseNodeAddress(item.to)
  if (txid === null || from === null || (to === null && !isAbsent(item.to))) return null
  const { value, input } = item
  if (!isQuantityOrAbsent(value)) return null
  if (typeof input !== 'string' || !input.startsWith('0x')) return null
  return { txid: txid as Txid, from, to, value, input } // safe: 32 bytes
}

const isAbsent = (value: unknown) => value === null || value === '0x'
const isQuantityOrAbsent = (value: unknown): value is string => value === '0x0' || value === '0x' || isQuantity(value)
