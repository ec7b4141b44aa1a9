import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import type { Header, Txid } from '../../chain/block.ts'
import { err, ok } from '../../common/result.ts'
import { type ContractFacts, readContract, transferType } from './contract.ts'
import { isObject, type Parsed, parseApiBytes, parseApiHash } from './fields.ts'
import { headerOf } from './header.ts'

/** A mined transaction as its block has it: its own bytes and its result (PROTOCOL.md, Transactions). */
export interface BlockTransaction extends ContractFacts {
  readonly txid: Txid
  /** Such as `SUCCESS`, `REVERT`, `OUT_OF_ENERGY`. */
  readonly result: string
}

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
 * why. Above the node's head there are none.
 */
export function parseBlocks(
  value: unknown,
  from: number,
  max: number,
): Parsed<{ readonly blocks: readonly ParsedBlock[]; readonly fault: string | null }> {
  if (!isObject(value) || !('block' in value ? Array.isArray(value.block) : Object.keys(value).length === 0)) {
    return err('a reply without blocks')
  }
  const items: readonly unknown[] = Array.isArray(value.block) ? value.block : []
  if (items.length > max) return err(`${items.length} blocks in place of ${max}`)
  const blocks: ParsedBlock[] = []
  for (const item of items) {
    const block = parseBlock(item, from + blocks.length)
    const parent = blocks.at(-1)
    const isChild = block.ok && (parent === undefined || block.value.header.parentHash === parent.header.hash)
    if (!block.ok || !isChild) return ok({ blocks, fault: block.ok ? 'a block that is no child' : block.error })
    blocks.push(block.value)
  }
  return ok({ blocks, fault: null })
}

/** One block, with bytes that hash to the txids. */
export function parseBlock(value: unknown, height: number): Parsed<ParsedBlock> {
  const header = isObject(value) && isObject(value.block_header) ? value.block_header.raw_data : null
  if (!isObject(value) || !isObject(header)) return err('a block without header')
  const { number = 0, parentHash, timestamp = 0 } = header // zeros are left out
  const isInteger = (one: unknown): one is number => Number.isSafeInteger(one) && Number(one) >= 0
  const parsed = headerOf(
    isInteger(number) ? number : null,
    parseApiHash(value.blockID),
    parseApiHash(parentHash),
    isInteger(timestamp) ? timestamp : null,
  )
  if (!parsed.ok) return parsed
  if (number !== height) return err(`block ${number} in place of ${height}`)
  const items = value.transactions ?? []
  if (!Array.isArray(items)) return err('no list of transactions')
  const transactions: BlockTransaction[] = []
  const indexes = new Map<string, number>()
  for (const item of items) {
    const transaction = parseTransaction(item)
    if (!transaction.ok) return err(`block ${height}: ${transaction.error}`)
    indexes.set(transaction.value.txid, indexes.size)
    transactions.push(transaction.value)
  }
  if (indexes.size !== transactions.length) return err(`block ${height}: a duplicate transaction`)
  return ok({ header: parsed.value, transactions, indexes })
}

const resultName = /^[A-Z_]{1,40}$/

function parseTransaction(item: unknown): Parsed<BlockTransaction> {
  if (!isObject(item)) return err('a transaction that is not an object')
  const { txID, raw_data_hex, ret } = item
  const [txid, digits] = [parseApiHash(txID), parseApiBytes(raw_data_hex)]
  if (txid === null || digits === null) return err('no bytes')
  const bytes = hexToBytes(digits)
  if (bytesToHex(sha256(bytes)) !== txid) return err(`bytes that are not those of ${txid}`)
  const first: unknown = Array.isArray(ret) ? ret[0] : undefined
  const result = isObject(first) ? (first.contractRet ?? 'DEFAULT') : undefined // the default is left out
  if (typeof result !== 'string' || !resultName.test(result)) return err(`no result of ${txid}`)
  const contract = readContract(bytes)
  if (!contract.ok && result === successResult) return err(`${contract.error}: ${txid}`)
  const facts = contract.ok ? contract.value : { type: transferType, owner: null, target: null, amount: null }
  return ok({ ...facts, txid: txid as Txid, result }) // safe: 32 bytes
}
