import type { Address } from '../../chain/address.ts'
import {
  addressInTopic,
  type BlockHash,
  type BlockRef,
  type Log,
  type Txid,
  transferTopic,
  trc20Asset,
} from '../../chain/block.ts'
import type { ChainTransfer } from '../../chain/chain.ts'
import { err, ok } from '../../common/result.ts'
import { type ParsedBlock, parseBlockRef, successResult } from './block.ts'
import {
  formatQuantity,
  isObject,
  type Parsed,
  parseBytes,
  parseHash,
  parseNodeAddress,
  parseSmallQuantity,
  parseWord,
} from './fields.ts'

/**
 * Parses the logs of a block's successful transactions. They must name the block and one of its
 * transactions, in order, and be numbered without a gap, through the block or through each
 * transaction (PROTOCOL.md, Logs). Logs of failed transactions are left out, because nodes may
 * differ about them.
 */
export function parseBlockLogs(
  values: unknown,
  { header, transactions, indexes }: ParsedBlock,
): Parsed<readonly Log[]> {
  if (!Array.isArray(values)) return err('logs that are not an array')
  const logs: Log[] = []
  let [lastIndex, lastNumber, position] = [-1, -1, 0]
  for (const item of values) {
    const log = parseLog(item, header)
    if (!log.ok) return log
    const { index, number, ...rest } = log.value
    if (index !== indexes.get(rest.txid)) return err('a log of a transaction that is not in its block')
    if (index < lastIndex) return err('logs in the wrong order')
    if (number !== lastNumber + 1 && !(number === 0 && index !== lastIndex)) return err('a hole in the numbers of logs')
    position = index === lastIndex ? position + 1 : 0
    ;[lastIndex, lastNumber] = [index, number]
    if (transactions[index]?.result === successResult) logs.push({ ...rest, position })
  }
  return ok(logs)
}

/** The result and the logs of a mined transaction. Logs of a failed one do not count. */
export interface ParsedReceipt {
  readonly succeeded: boolean
  readonly logs: readonly Log[]
  readonly block: BlockRef
  /** The index of the transaction in its block. */
  readonly index: number
}

/**
 * Parses the receipt of `txid` in the block with this hash, or in any block if the hash is null.
 * Its logs must name the transaction and the block, and be numbered without a gap.
 */
export function parseReceipt(value: unknown, txid: Txid, hash: BlockHash | null): Parsed<ParsedReceipt> {
  if (!isObject(value) || !Array.isArray(value.logs)) return err('a receipt with missing fields')
  const { status, transactionHash, transactionIndex } = value
  if (status !== '0x0' && status !== '0x1') return err('a receipt without a status')
  if (parseHash(transactionHash) !== txid) return err('a receipt of another transaction')
  const block = parseBlockRef(value)
  if (block === null || block.hash !== (hash ?? block.hash)) return err('a receipt of another block')
  const ownIndex = parseSmallQuantity(transactionIndex)
  if (ownIndex === null) return err('a receipt without an index')
  const logs: Log[] = []
  let firstNumber = 0
  for (const item of value.logs) {
    const log = parseLog(item, block)
    if (!log.ok) return log
    const { index, number, ...rest } = log.value
    if (rest.txid !== txid || index !== ownIndex) return err('a receipt with a log of another transaction')
    if (logs.length === 0) firstNumber = number
    if (number !== firstNumber + logs.length) return err('a hole in the numbers of logs')
    logs.push({ ...rest, position: logs.length })
  }
  return ok({ succeeded: status === '0x1', logs, block, index: ownIndex })
}

/**
 * A log as nodes write it: `index` is that of its transaction in the block, and `number` counts the
 * logs (`logIndex`).
 */
type NumberedLog = Omit<Log, 'position'> & { readonly index: number; readonly number: number }

function parseLog(item: unknown, block: BlockRef): Parsed<NumberedLog> {
  if (!isObject(item)) return err('a log that is not an object')
  const { blockHash, blockNumber, removed } = item
  // The usual spelling is compared as text, because this runs for each log, and parsing is slower.
  const isOfHash = blockHash === `0x${block.hash}` || parseHash(blockHash) === block.hash
  const isOfHeight = blockNumber === formatQuantity(block.height) || parseSmallQuantity(blockNumber) === block.height
  if (!isOfHash || !isOfHeight) return err('a log of another block')
  if (removed !== undefined && removed !== false) return err('a removed log')
  const txid = parseHash(item.transactionHash)
  const contract = parseNodeAddress(item.address)
  const data = parseBytes(item.data)
  const [index, number] = [parseSmallQuantity(item.transactionIndex), parseSmallQuantity(item.logIndex)]
  if (txid === null || contract === null || data === null || index === null || number === null) {
    return err('a malformed log')
  }
  const topics = Array.isArray(item.topics) ? item.topics.map(parseWord) : [null]
  if (topics.includes(null) || topics.length > 4) return err('a malformed topic')
  return ok({ txid: txid as Txid, contract, topics: topics as string[], data, index, number }) // safe: checked above
}

const wordLength = 2 + 64

/**
 * Finds token transfers in logs of successful transactions. A log counts if an accepted contract
 * emitted it, because nobody can forge such a log. In the transactions `own`, which the service's
 * payout addresses sent, a log of any contract counts. A log that is a transfer also has exactly 3
 * topics (so it is not TRC-721), clean addresses, 32 bytes of data, and an amount above zero
 * (PROTOCOL.md, Token transfers).
 */
export function tokenTransfers(
  logs: readonly Log[],
  tokens: ReadonlySet<Address>,
  own: ReadonlySet<Txid> = new Set(),
): readonly ChainTransfer[] {
  const transfers: ChainTransfer[] = []
  for (const { txid, position, contract, topics, data } of logs) {
    if (!(tokens.has(contract) || own.has(txid)) || topics.length !== 3 || topics[0] !== transferTopic) continue
    const [from, to] = [addressInTopic(topics[1]), addressInTopic(topics[2])]
    const amount = data.length === wordLength ? BigInt(data) : 0n
    if (from === null || to === null || amount === 0n) continue
    transfers.push({ txid, position, asset: trc20Asset(contract), from, to, amount })
  }
  return transfers
}
