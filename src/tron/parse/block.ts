import type { Address } from '../../addresses/address.ts'
import {
  type BlockHash,
  type BlockHeight,
  type BlockRef,
  type Header,
  heightInHash,
  type Log,
  type Receipt,
  type Transaction,
  type Txid,
} from '../../chain/block.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { UnixMs } from '../../common/time.ts'
import { isObject } from '../transport/http.ts'
import {
  headerSchema,
  isQuantity,
  parseBytes,
  parseHash,
  parseNodeAddress,
  parseQuantityField,
  parseSafeInteger,
  parseWord,
  receiptSchema,
} from './fields.ts'

/** From a node's words to the domain's: every check that needs no second node. A fault is one phrase for the log. */
export type Parsed<T> = Result<T, string>

/** A block's header with its transactions as the node wrote them. */
export interface ParsedHeader extends Header {
  readonly rawTransactions: readonly unknown[]
}

/** A block without its logs. `places` is each txid's place in the block. */
export interface ParsedBlock extends Header {
  readonly transactions: readonly Transaction[]
  readonly indexes: TransactionIndexes
}

/** Each txid's place in its block. */
export type TransactionIndexes = ReadonlyMap<string, number>

/** The header in a block of either form. Both hashes carry their heights (5.1), which is checked here. */
export function parseHeader(value: unknown): Parsed<ParsedHeader> {
  const parsed = headerSchema.safeParse(value)
  if (!parsed.success) return err('a block without its fields')
  const { number, timestamp, transactions } = parsed.data
  const height = parseSafeInteger(number)
  const hash = parseHash(parsed.data.hash)
  const parentHash = parseHash(parsed.data.parentHash)
  const seconds = parseSafeInteger(timestamp)
  if (height === null || hash === null || parentHash === null || seconds === null) return err('a malformed block')
  if (!carries(hash, height)) return err(`a hash that is not of height ${height}`)
  if (height > 0 && !carries(parentHash, height - 1)) return err(`a parent hash that is not of height ${height - 1}`)
  return ok({
    height: height as BlockHeight, // safe: a small quantity is a height
    hash: hash as BlockHash, // safe: 32 bytes
    parentHash: parentHash as BlockHash, // safe: 32 bytes
    timestamp: (seconds * 1000) as UnixMs, // safe: the node gives seconds (5.1)
    rawTransactions: transactions,
  })
}

const carries = (hash: string, height: number) => heightInHash(hash as BlockHash) === height // safe: 32 bytes

/** The txids of a block that was asked for without its transactions. */
export function parseTxids(head: ParsedHeader): Parsed<TransactionIndexes> {
  const places = new Map<string, number>()
  for (const value of head.rawTransactions) {
    const txid = parseHash(value)
    if (txid === null) return err('a malformed txid')
    places.set(txid, places.size)
  }
  return places.size === head.rawTransactions.length ? ok(places) : err('a txid twice in one block')
}

/** A full block at `height`, each of its transactions naming it and its own place in it. */
export function parseBlock(value: unknown, height: number): Parsed<ParsedBlock> {
  const head = parseHeader(value)
  if (!head.ok) return head
  const { rawTransactions: wire, ...header } = head.value
  if (header.height !== height) return err(`block ${header.height} in place of ${height}`)
  const named = { hash: `0x${header.hash}`, number: `0x${height.toString(16)}` }
  const transactions: Transaction[] = []
  const places = new Map<string, number>()
  for (const item of wire) {
    if (!isObject(item)) return err('a transaction that is no object')
    if (!names(item, header, named)) return err('a transaction that names another block')
    if (!isQuantity(item.transactionIndex, places.size)) return err('a transaction out of its place')
    const transaction = parseTransaction(item)
    if (transaction === null) return err('a malformed transaction')
    places.set(transaction.txid, places.size)
    transactions.push(transaction)
  }
  if (places.size !== transactions.length) return err('a transaction twice in one block')
  return ok({ ...header, transactions, indexes: places })
}

/** Whether `item` names the block. The usual spelling is compared as text: this runs for every transaction and log. */
function names(item: Record<string, unknown>, block: BlockRef, usual: { hash: string; number: string }): boolean {
  return (
    (item.blockHash === usual.hash || parseHash(item.blockHash) === block.hash) &&
    (item.blockNumber === usual.number || parseSafeInteger(item.blockNumber) === block.height)
  )
}

const nobody = '0'.repeat(40) as Address // safe: 40 hex digits

/** A transaction object of a block or of `eth_getTransactionByHash` (5.2), or null where it is malformed. */
export function parseTransaction(item: Record<string, unknown>): Transaction | null {
  const txid = parseHash(item.hash)
  // Contract types without an owner or a target have null or "0x" there (5.3). Nobody owns the zero address.
  const from = absent(item.from) ? nobody : parseNodeAddress(item.from)
  const to = absent(item.to) ? null : parseNodeAddress(item.to)
  if (txid === null || from === null || (to === null && !absent(item.to))) return null
  const { value, input, gas } = item
  if (typeof value !== 'string' || typeof input !== 'string' || typeof gas !== 'string') return null
  if (!value.startsWith('0x') || !input.startsWith('0x') || !gas.startsWith('0x')) return null
  return { txid: txid as Txid, from, to, value, input, gas } // safe: 32 bytes
}

const absent = (value: unknown) => value === null || value === '0x'

/**
 * All logs of a block. They are numbered through the block, those of other contracts too (7.5), so in an unfiltered
 * answer a hole in the numbers is a hidden log. A log's position is its rank among those of its own transaction.
 */
export function parseLogs(values: unknown, block: BlockRef, places: TransactionIndexes): Parsed<readonly Log[]> {
  if (!Array.isArray(values)) return err('logs that are no array')
  const usual = { hash: `0x${block.hash}`, number: `0x${block.height.toString(16)}` }
  const logs: Log[] = []
  let place = -1
  let position = 0
  for (const item of values) {
    if (!isObject(item)) return err('a log that is no object')
    const log = readLog(item, block, usual)
    if (typeof log === 'string') return err(log)
    if (!isQuantity(item.logIndex, logs.length)) return err('logs with a hole in their numbers')
    const own = places.get(log.txid)
    if (own === undefined) return err('a log of a transaction that is not in its block')
    if (own < place || !isQuantity(item.transactionIndex, own)) return err('logs out of order')
    position = own === place ? position + 1 : 0
    place = own
    log.position = position
    logs.push(log)
  }
  return ok(logs)
}

function readLog(item: Record<string, unknown>, block: BlockRef, usual: { hash: string; number: string }) {
  if (!names(item, block, usual)) return 'a log that names another block'
  if (item.removed !== undefined && item.removed !== false) return 'a removed log'
  const txid = parseHash(item.transactionHash)
  const contract = parseNodeAddress(item.address)
  const data = parseBytes(item.data)
  const wire = item.topics
  if (txid === null || contract === null || data === null || !Array.isArray(wire)) return 'a malformed log'
  const topics: string[] = []
  for (const value of wire) {
    const topic = parseWord(value)
    if (topic === null || topics.length === 4) return 'a malformed topic'
    topics.push(topic)
  }
  return { txid: txid as Txid, position: 0, contract, topics, data } satisfies Log // safe: 32 bytes
}

/** The receipt of `txid`. Its logs all name the transaction and its block; their numbers have no hole. */
export function parseReceipt(value: unknown, txid: Txid): Parsed<Receipt> {
  const parsed = receiptSchema.safeParse(value)
  if (!parsed.success) return err('a receipt without its fields')
  const { transactionHash, blockHash, blockNumber, transactionIndex, status, logs: wire } = parsed.data
  if (parseHash(transactionHash) !== txid) return err('a receipt of another transaction')
  const height = parseSafeInteger(blockNumber)
  const hash = parseHash(blockHash)
  if (height === null || hash === null || !carries(hash, height)) return err('a receipt without its block')
  const block: BlockRef = { height: height as BlockHeight, hash: hash as BlockHash } // safe: checked above
  const usual = { hash: `0x${hash}`, number: `0x${height.toString(16)}` }
  const logs: Log[] = []
  let first = 0
  for (const item of wire) {
    if (!isObject(item)) return err('a log that is no object')
    const log = readLog(item, block, usual)
    if (typeof log === 'string') return err(log)
    if (log.txid !== txid) return err('a receipt with a log of another transaction')
    if (parseSafeInteger(item.transactionIndex) !== parseSafeInteger(transactionIndex))
      return err('a log out of its place')
    const index = parseSafeInteger(item.logIndex)
    if (logs.length === 0 && index !== null) first = index
    if (index === null || index !== first + logs.length) return err('logs with a hole in their numbers')
    log.position = logs.length
    logs.push(log)
  }
  return ok({ txid, block, succeeded: status === '0x1', logs })
}

/** The number in a contract's answer: exactly 32 bytes, as anything else is no answer of that function (section 4). */
export function parseUint256(value: unknown): Parsed<bigint> {
  const word = parseWord(value)
  return word === null ? err('not exactly 32 bytes') : ok(BigInt(word))
}

/** A balance in sun. */
export function parseSun(value: unknown): Parsed<bigint> {
  const units = parseQuantityField(value)
  return units === null ? err('no quantity') : ok(units)
}
