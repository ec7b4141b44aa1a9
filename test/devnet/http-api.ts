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
  const { tron, ret } = found.transaction
  return {
    ret: [{ contractRet: ret }],
    signature: [signatureOf(tron)],
    txID: tron.txid,
    raw_data: tron.rawJson,
    raw_data_hex: tron.rawHex,
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
