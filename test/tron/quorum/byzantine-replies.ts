import type { Wire } from '../../support/block-json.ts'
import { type BuiltChain, createChain } from '../../support/chain-builder.ts'
import { changing, type Fault } from '../../support/scripted-node.ts'
import { token, trx } from '../harness.ts'

const otherAddress = `0x${'9'.repeat(40)}`
const otherTopic = `0x${'9'.repeat(64)}`

/** Changes all logs and numbers them anew, so that no log seems to be missing. */
const logs = (change: (list: readonly Wire[]) => readonly Wire[]): Fault =>
  changing('eth_getLogs', (value) => {
    const changed = change(value as readonly Wire[])
    return changed.map((log, i) => {
      const first = changed.findIndex(({ blockNumber }) => blockNumber === log.blockNumber)
      return { ...log, logIndex: `0x${(i - first).toString(16)}` }
    })
  })

/** Changes the transactions of full blocks. */
const transactions = (change: (list: readonly Wire[]) => readonly Wire[]): Fault =>
  changing('eth_getBlockByNumber', (value, call) => {
    const block = value as { transactions: readonly Wire[] }
    if (call.params[1] !== true) return block
    const changed = change(block.transactions).map((item, i) => ({ ...item, transactionIndex: `0x${i.toString(16)}` }))
    return { ...block, transactions: changed }
  })

/** Hides the first log. */
export const hiddenLog = logs((list) => list.slice(1))

/** Hides the last transaction of each block. */
export const hiddenTransaction = transactions((list) => list.slice(0, -1))

/** Hides all logs, and shows all transactions as failed. */
export const hiddenLogsAndReceipts: Fault = {
  kind: 'changed-calls',
  change: (call, response) => {
    if (call.method === 'eth_getLogs') return { result: [] }
    if (call.method !== 'eth_getTransactionReceipt' || !('result' in response)) return undefined
    return { result: { ...(response.result as Wire), status: '0x0', logs: [] } }
  },
}

/** Wrong replies that no check of a single node can find. */
export const byzantineReplies: readonly (readonly [what: string, fault: Fault])[] = [
  ['hides a log', hiddenLog],
  ['hides all logs and receipts', hiddenLogsAndReceipts],
  ['shows another amount', logs((list) => list.map((log) => ({ ...log, data: `0x${'0'.repeat(60)}ffff` })))],
  [
    'shows another recipient in logs',
    logs((list) => list.map((log) => ({ ...log, topics: (log.topics as string[]).with(2, otherTopic) }))),
  ],
  ['shows another contract', logs((list) => list.map((log) => ({ ...log, address: otherAddress })))],
  ['hides a transaction', hiddenTransaction],
  [
    'shows another recipient in transactions',
    transactions((list) => list.map((item) => ({ ...item, to: otherAddress }))),
  ],
]

/** A consistent chain of the same height with other blocks. */
export function otherHistory(chain: BuiltChain): BuiltChain {
  const other = createChain({ salt: 'other' })
  while (other.tip().height < chain.tip().height) other.add([trx(7n), token(9n)])
  return other
}
