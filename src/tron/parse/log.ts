import type { BlockRef, Log, Txid } from '../../chain/block.ts'
import { isQuantityOf, parseSmallQuantity } from '../../chain/quantity.ts'
import { err, ok } from '../../common/result.ts'
import { createBlockMatcher, type IndexedBlock } from './block.ts'
import { isObject, type Parsed, parseBytes, parseHash, parseNodeAddress, parseWord } from './fields.ts'

/** The logs in a reply about one block. */
export interface ParsedLogs {
  /** In chain order. Their positions count the logs of the same transaction in the reply. */
  readonly logs: readonly Log[]
  /** Transactions by index, first and last, between which an unfiltered reply can lack logs. */
  readonly gaps: readonly (readonly [first: number, last: number])[]
}

/**
 * The logs of a block, numbered through the block or through each transaction (PROTOCOL.md, Logs). Other numbers have gaps,
 * where a log can be hidden. Numbers through each transaction, and no logs at all, do not show which transactions have logs.
 */
export function parseLogs(values: unknown, block: IndexedBlock): Parsed<ParsedLogs> {
  if (!Array.isArray(values)) return err('logs that are not an array')
  const parse = createLogParser(block)
  const logs: Log[] = []
  const gaps: [number, number][] = []
  let previous = { index: 0, number: -1 }
  let isByTransaction = true
  for (const item of values) {
    const log = isObject(item) ? parse(item) : 'a log that is not an object'
    if (typeof log === 'string') return err(log)
    const number = parseSmallQuantity(item.logIndex)
    if (number === null) return err('a log without a number')
    const index = block.indexes.get(log.txid)
    if (index === undefined) return err('a log of a transaction that is not in its block')
    const isSame = logs.at(-1)?.txid === log.txid
    if (index < previous.index || (isSame && number <= previous.number)) return err('logs in the wrong order')
    if (!isQuantityOf(item.transactionIndex, index)) return err('a log with a wrong index')
    log.position = isSame ? (logs.at(-1)?.position ?? 0) + 1 : 0
    if (number !== log.position) isByTransaction = false
    if (number !== previous.number + 1) gaps.push([previous.index, index])
    previous = { index, number }
    logs.push(log)
  }
  const isByBlock = gaps.length === 0 && logs.length > 0
  return ok({ logs, gaps: isByTransaction && !isByBlock ? [[0, block.indexes.size - 1]] : gaps })
}

/** A parser of single logs of a block. It returns why a log is malformed, and leaves `position` to the caller. */
export function createLogParser(block: BlockRef) {
  const isOfBlock = createBlockMatcher(block)
  return (item: Record<string, unknown>): (Omit<Log, 'position'> & { position: number }) | string => {
    if (!isOfBlock(item)) return 'a log of another block'
    if (item.removed !== undefined && item.removed !== false) return 'a removed log'
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
    return { txid: txid as Txid, position: 0, contract, topics, data } // safe: 32 bytes
  }
}
