import type { TronNode } from './node.ts'
import { signatureOf } from './transaction.ts'

/** `POST /wallet/gettransactionbyid`: the transaction with its own bytes, `{}` for one that is in no block. */
export async function getTransactionById(node: TronNode, body: string): Promise<unknown> {
  const id = readId(body)
  if (id === null) return { Error: 'INVALID hex String' } // HTTP 200, like every answer of this API
  const found = await node.find(id)
  if (found?.kind !== 'mined') return {}
  const { tron, ret } = found.placed
  return {
    ret: [{ contractRet: ret }],
    signature: [signatureOf(tron.evm)],
    txID: tron.txid,
    raw_data: tron.rawJson,
    raw_data_hex: tron.rawHex,
  }
}

function readId(body: string): string | null {
  try {
    const { value } = JSON.parse(body) as { value?: unknown } // anything else throws, or is no text
    return typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() : null
  } catch {
    return null
  }
}
