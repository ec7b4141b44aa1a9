import type { MinedTransaction } from './blocks.ts'
import type { DevnetNode } from './node.ts'
import { signatureOf } from './transaction.ts'

/**
 * `POST /wallet/gettransactionbyid`: the transaction with its raw bytes, or `{}` if it is in no block (PROTOCOL.md,
 * HTTP API).
 */
export async function getTransactionById(node: DevnetNode, body: string): Promise<unknown> {
  const id = readId(body)
  if (id === null) return { Error: 'INVALID hex String' } // HTTP 200, like every response of this API
  const found = await node.findTransaction(id)
  if (found?.kind !== 'mined') return {}
  return toApiTransaction(found.transaction)
}

/** `POST /wallet/getblockbynum`: the block with its transactions and their raw bytes, or `{}` above the head. */
export async function getBlockByNum(node: DevnetNode, body: string): Promise<unknown> {
  const height = readHeight(body)
  if (height === null) return { Error: 'INVALID number' } // HTTP 200, like every response of this API
  const block = await node.blockAt(height)
  if (block === null) return {}
  const transactions = block.transactions.map(toApiTransaction)
  // In an empty block the member is absent.
  return { blockID: block.hash, ...(transactions.length === 0 ? {} : { transactions }) }
}

function toApiTransaction({ tron, ret }: MinedTransaction) {
  return {
    ret: [{ contractRet: ret }],
    signature: [signatureOf(tron)],
    txID: tron.txid,
    raw_data: tron.rawJson,
    raw_data_hex: tron.rawHex,
  }
}

function readHeight(body: string): number | null {
  try {
    const { num } = JSON.parse(body) as { num?: unknown } // checked in the next line
    return typeof num === 'number' && Number.isSafeInteger(num) && num >= 0 ? num : null
  } catch {
    return null
  }
}

function readId(body: string): string | null {
  try {
    const { value } = JSON.parse(body) as { value?: unknown } // checked in the next line
    return typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() : null
  } catch {
    return null
  }
}
