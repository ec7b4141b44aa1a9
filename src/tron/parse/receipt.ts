import type { Log, Receipt, Txid } from '../../chain/block.ts'
import { parseSmallQuantity } from '../../chain/quantity.ts'
import { err, ok } from '../../common/result.ts'
import { parseBlockRef } from './block.ts'
import { isObject, type Parsed, parseHash, receiptSchema } from './fields.ts'
import { createLogParser } from './log.ts'

/** The receipt of `txid`. Its logs name the transaction and its block, and their numbers have no gap. */
export function parseReceipt(value: unknown, txid: Txid): Parsed<Receipt> {
  const parsed = receiptSchema.safeParse(value)
  if (!parsed.success) return err('a receipt with missing fields')
  const { transactionHash, transactionIndex, status } = parsed.data
  if (parseHash(transactionHash) !== txid) return err('a receipt of another transaction')
  const block = parseBlockRef(parsed.data)
  if (block === null) return err('a receipt without its block')
  const parse = createLogParser(block)
  const index = parseSmallQuantity(transactionIndex)
  const logs: Log[] = []
  let firstNumber = Number.NaN
  for (const item of parsed.data.logs) {
    if (!isObject(item)) return err('a log that is not an object')
    const log = parse(item)
    if (typeof log === 'string') return err(log)
    if (log.txid !== txid) return err('a receipt with a log of another transaction')
    if (parseSmallQuantity(item.transactionIndex) !== index) return err('a log with a wrong index')
    const number = parseSmallQuantity(item.logIndex) ?? Number.NaN
    if (logs.length === 0) firstNumber = number
    if (number !== firstNumber + logs.length) return err('a gap in the numbers of logs')
    log.position = logs.length
    logs.push(log)
  }
  return ok({ txid, block, succeeded: status === '0x1', logs })
}
