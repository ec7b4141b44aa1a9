import * as z from 'zod/mini'
import type { BlockRef, Log, Txid } from '../../chain/block.ts'
import { parseSmallQuantity } from '../../chain/quantity.ts'
import { err, ok } from '../../common/result.ts'
import { isObject, type Parsed, parseHash } from './fields.ts'
import { parseBlockRef } from './header.ts'
import { parseLog } from './log.ts'

/** The result and the logs of a mined transaction. Those of a failed one are worth nothing. */
export interface ParsedReceipt {
  readonly succeeded: boolean
  readonly logs: readonly Log[]
}

const schema = z.object({
  transactionHash: z.string(),
  blockHash: z.string(),
  blockNumber: z.string(),
  transactionIndex: z.string(),
  status: z.enum(['0x0', '0x1']),
  logs: z.array(z.unknown()),
})

/** The receipt of `txid` in `block`. Its logs name both, and their numbers have no hole. */
export function parseReceipt(value: unknown, txid: Txid, block: BlockRef): Parsed<ParsedReceipt> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) return err('a receipt with missing fields')
  if (parseHash(parsed.data.transactionHash) !== txid) return err('a receipt of another transaction')
  if (parseBlockRef(parsed.data)?.hash !== block.hash) return err('a receipt of another block')
  const index = parseSmallQuantity(parsed.data.transactionIndex)
  const logs: Log[] = []
  let firstNumber = Number.NaN
  for (const item of parsed.data.logs) {
    const log = isObject(item) ? parseLog(item, block) : 'a log that is not an object'
    if (typeof log === 'string' || !isObject(item)) return err(String(log))
    if (log.txid !== txid) return err('a receipt with a log of another transaction')
    if (parseSmallQuantity(item.transactionIndex) !== index) return err('a log with a wrong index')
    const number = parseSmallQuantity(item.logIndex) ?? Number.NaN
    if (logs.length === 0) firstNumber = number
    if (number !== firstNumber + logs.length) return err('a hole in the numbers of logs')
    logs.push({ ...log, position: logs.length })
  }
  return ok({ succeeded: parsed.data.status === '0x1', logs })
}
