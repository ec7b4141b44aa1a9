import type { BlockRef, Log, Txid } from '../../chain/block.ts'
import { isQuantityOf } from '../../chain/quantity.ts'
import { err, ok } from '../../common/result.ts'
import { createBlockMatcher, type IndexedBlock } from './block.ts'
import { isObject, type Parsed, parseBytes, parseHash, parseNodeAddress, parseWord } from './fields.ts'

/** All logs of a block. The numbers of all logs have no gap, so a gap is a hidden log (PROTOCOL.md, Logs). */
export function parseLogs(values: unknown, block: IndexedBlock): Parsed<readonly Log[]> {
  if (!Array.isArray(values)) return err('logs that are not an array')
  const parse = createLogParser(block)
  const logs: Log[] = []
  let index = -1
  let position = 0
  for (const item of values) {
    const log = isObject(item) ? parse(item) : 'a log that is not an object'
    if (typeof log === 'string') return err(log)
    if (!isQuantityOf(item.logIndex, logs.length)) return err('a gap in the numbers of logs')
    const ownIndex = block.indexes.get(log.txid)
    if (ownIndex === undefined) return err('a log of a transaction that is not in its block')
    if (ownIndex < index || !isQuantityOf(item.transactionIndex, ownIndex)) return err('logs in the wrong order')
    position = ownIndex === index ? position + 1 : 0
    index = ownIndex
    log.position = position
    logs.push(log)
  }
  return ok(logs)
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
