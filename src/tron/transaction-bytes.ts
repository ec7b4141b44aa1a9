import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import * as z from 'zod/mini'
import type { Txid } from '../chain/block.ts'
import type { ChainResult, TransactionBytes } from '../chain/chain.ts'
import { ok } from '../common/result.ts'
import { createNodeSelector, firstAnswer } from './nodes/failover.ts'
import type { NodePool } from './nodes/node.ts'
import { nodeError } from './nodes/node-error.ts'
import { isObject } from './parse/fields.ts'
import { postJson } from './transport/http.ts'

/** The field of a reply that can be verified (PROTOCOL.md, HTTP API). */
const bytesSchema = z.object({ raw_data_hex: z.string().check(z.regex(/^(?:[0-9a-fA-F]{2})+$/)) })

/** The bytes of a transaction, from one node: their SHA-256 is the txid (PROTOCOL.md, Transaction bytes). */
export async function readTransactionBytes(pool: NodePool, txid: Txid): ChainResult<TransactionBytes | null> {
  const nodes = pool.nodes.filter(({ endpoint }) => endpoint.api !== null)
  if (nodes.length === 0) return ok(null)
  return firstAnswer(createNodeSelector(pool, 'api', 1, nodes), async ({ endpoint: { api, key }, allowance }) => {
    const target = { url: `${api}/wallet/gettransactionbyid`, key }
    const reply = await postJson(pool.budget, target, JSON.stringify({ value: txid }), allowance)
    if (!reply.ok) return reply
    const isEmpty = isObject(reply.value) && Object.keys(reply.value).length === 0
    if (isEmpty) return nodeError('behind', 'the API does not have the transaction')
    const parsed = bytesSchema.safeParse(reply.value)
    if (!parsed.success) return nodeError('bad-answer', 'no raw_data_hex')
    const bytes = hexToBytes(parsed.data.raw_data_hex)
    return bytesToHex(sha256(bytes)) === txid ? ok(bytes) : nodeError('bad-answer', 'bytes of another transaction')
  })
}
