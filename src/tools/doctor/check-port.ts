import type { TronNode } from '../../tron/nodes/node.ts'
import { isObject } from '../../tron/parse/fields.ts'
import { postJson } from '../../tron/transport/http.ts'
import { encodeCalls } from '../../tron/transport/json-rpc.ts'

/** Only the port of the full state has this method, which changes nothing: it returns an unsigned transaction. */
const fullStateCall = {
  method: 'buildTransaction',
  params: [{ from: `0x${'0'.repeat(39)}1`, to: `0x${'0'.repeat(39)}2`, value: '0x1' }],
}

/**
 * Whether a node's JSON-RPC is that of java-tron's solidity or PBFT port. False where the answer does not show it (PROTOCOL.md,
 * Block tags).
 */
export async function servesFinalStateOnly({ endpoint, pool, allowance }: TronNode): Promise<boolean> {
  const target = { url: endpoint.rpc, key: endpoint.key }
  const reply = await postJson(pool.budget, target, encodeCalls([fullStateCall], 1, true), allowance)
  const error = reply.ok && isObject(reply.value) ? reply.value.error : null
  return (
    isObject(error) && typeof error.message === 'string' && / not available in (SOLIDITY|PBFT)$/.test(error.message)
  )
}
