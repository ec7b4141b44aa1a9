import type { Address } from '../../chain/address.ts'
import { trc20Asset } from '../../chain/asset.ts'
import type { BlockRef, Log, Txid } from '../../chain/block.ts'
import type { ChainTransfer } from '../../chain/chain.ts'
import { formatQuantity, isQuantityOf, parseSmallQuantity } from '../../chain/quantity.ts'
import { err, ok } from '../../common/result.ts'
import { type ParsedBlock, successResult } from './block.ts'
import { isObject, type Parsed, parseBytes, parseHash, parseNodeAddress, parseWord } from './fields.ts'

/**
 * The logs of a block's successful transactions. They name the block and a transaction of it, in order, and are numbered without a
 * hole, through the block or through each transaction (PROTOCOL.md, Logs). Logs of failed ones are left
 * out: nodes can differ in them.
 */
export function parseBlockLogs(
  values: unknown,
  { header, transactions, indexes }: ParsedBlock,
): Parsed<readonly Log[]> {
  if (!Array.isArray(values)) return err('logs that are not an array')
  const logs: Log[] = []
  let [lastIndex, lastNumber, position] = [-1, -1, 0]
  for (const item of values) {
    const log = isObject(item) ? parseLog(item, header) : 'a log that is not an object'
    if (typeof log === 'string') return err(log)
    const index = indexes.get(log.txid)
    if (index === undefined) return err('a log of a transaction that is not in its block')
    if (index < lastIndex) return err('logs in the wrong order')
    if (!isQuantityOf(item.transactionIndex, index)) return err('a log with a wrong index')
    const number = parseSmallQuantity(item.logIndex)
    const isNext = number === lastNumber + 1 || (number === 0 && index !== lastIndex)
    if (number === null || !isNext) return err('a hole in the numbers of logs')
    position = index === lastIndex ? position + 1 : 0
    ;[lastIndex, lastNumber] = [index, number]
    if (transactions[index]?.result === successResult) logs.push({ ...log, position })
  }
  return ok(logs)
}

/** A log that names its block, without its position; otherwise why it is malformed. */
export function parseLog(item: Record<string, unknown>, block: BlockRef): Omit<Log, 'position'> | string {
  const { blockHash, blockNumber, removed } = item
  const isOfHash = blockHash === `0x${block.hash}` || parseHash(blockHash) === block.hash
  const isOfHeight = blockNumber === formatQuantity(block.height) || parseSmallQuantity(blockNumber) === block.height
  if (!isOfHash || !isOfHeight) return 'a log of another block'
  if (removed !== undefined && removed !== false) return 'a removed log'
  const txid = parseHash(item.transactionHash)
  const contract = parseNodeAddress(item.address)
  const data = parseBytes(item.data)
  if (txid === null || contract === null || data === null || !Array.isArray(item.topics)) return 'a malformed log'
  const topics: string[] = []
  for (const value of item.topics) {
    const topic = parseWord(value)
    if (topic === null || topics.length === 4) return 'a malformed topic'
    topics.push(topic)
  }
  return { txid: txid as Txid, contract, topics, data } // safe: 32 bytes
}

/** `keccak256("Transfer(address,address,uint256)")`: the same for TRC-20 and TRC-721. */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const addressTopicPrefix = `0x${'0'.repeat(24)}` // 12 zero bytes before the 20 bytes of the address
const wordLength = 2 + 64

/**
 * The transfers in logs of successful transactions: emitted by an accepted contract, which cannot be forged; exactly 3 topics, so no
 * TRC-721; clean addresses; 32 bytes of data; more than zero (PROTOCOL.md, Token transfers).
 */
export function tokenTransfers(logs: readonly Log[], tokens: ReadonlySet<Address>): readonly ChainTransfer[] {
  const transfers: ChainTransfer[] = []
  for (const { txid, position, contract, topics, data } of logs) {
    if (!tokens.has(contract) || topics.length !== 3 || topics[0] !== transferTopic) continue
    const [from, to] = [addressInTopic(topics[1]), addressInTopic(topics[2])]
    const amount = data.length === wordLength ? BigInt(data) : 0n
    if (from === null || to === null || amount === 0n) continue
    transfers.push({ txid, position, asset: trc20Asset(contract), from, to, amount })
  }
  return transfers
}

/** The address in a topic of 32 bytes, or null where one of its first 12 bytes is not zero. */
function addressInTopic(topic = ''): Address | null {
  return topic.startsWith(addressTopicPrefix) ? (topic.slice(addressTopicPrefix.length) as Address) : null // safe: 32 bytes
}
