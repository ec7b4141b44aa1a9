import type { Wire } from '../support/block-json.ts'
import type { CallResponse, IncomingCall } from '../support/node-methods.ts'
import type { NodePlan } from './scenario.ts'

/** A correct node's response in its own way: without the logs that its index lacks, or without energy. */
export function asReplied(plan: NodePlan, { method, params }: IncomingCall, response: CallResponse): CallResponse {
  if (!('result' in response)) return response
  const { result } = response
  if (method === 'eth_getLogs' && plan.indexGapEvery > 0 && isFiltered(params[0])) {
    const logs = result as readonly Wire[] // the scripted node's
    return { result: logs.filter(({ blockNumber }) => Number(blockNumber) % plan.indexGapEvery !== 0) }
  }
  if (method === 'eth_getBlockByNumber' && !plan.reportsEnergy && params[1] === true && result !== null) {
    const block = result as Wire & { readonly transactions: readonly Wire[] } // with whole transactions
    return { result: { ...block, transactions: block.transactions.map((one) => ({ ...one, gas: '0x0' })) } }
  }
  return response
}

/** Only a filter by contract uses the index (PROTOCOL.md, Log queries). */
function isFiltered(filter: unknown): boolean {
  const { address } = filter as { readonly address?: readonly string[] }
  return address !== undefined && address.length > 0
}
