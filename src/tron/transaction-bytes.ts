import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import * as z from 'zod/mini'
import type { BlockHeight, Txid } from '../chain/block.ts'
import type { ChainResult, TransactionBytes } from '../chain/chain.ts'
import { ok } from '../common/result.ts'
import { noBlocksMs } from './limits.ts'
import { createNodeSelector, firstAnswer } from './nodes/failover.ts'
import type { NodePool, TronNode } from './nodes/node.ts'
import { type NodeErrorKind, nodeError } from './nodes/node-error.ts'
import { isObject } from './parse/fields.ts'
import { postJson } from './transport/http.ts'

// The hash of the bytes is the txid, so that one node is enough (PROTOCOL.md, Transaction bytes and HTTP API).

const bytesSchema = z.object({ raw_data_hex: z.string().check(z.regex(/^(?:[0-9a-fA-F]{2})+$/)) })
/** A block without transactions has no such field. */
const bytesOfBlockSchema = z.object({ transactions: z._default(z.array(bytesSchema), []) })

/** The bytes of a transaction, from one node: their SHA-256 is the txid. Null where no node has an HTTP API. */
export async function readTransactionBytes(pool: NodePool, txid: Txid): ChainResult<TransactionBytes | null> {
  const nodes = pool.nodes.filter(({ endpoint }) => endpoint.api !== null)
  if (nodes.length === 0) return ok(null)
  return firstAnswer(createNodeSelector(pool, 'api', 1, nodes), async (node) => {
    const reply = await postTo(node, '/wallet/gettransactionbyid', { value: txid })
    if (!reply.ok) return reply
    const isEmpty = isObject(reply.value) && Object.keys(reply.value).length === 0
    if (isEmpty) return nodeError('behind', 'the API does not have the transaction')
    const parsed = bytesSchema.safeParse(reply.value)
    if (!parsed.success) return nodeError('bad-answer', 'no raw_data_hex')
    const bytes = hexToBytes(parsed.data.raw_data_hex)
    return txidOf(bytes) === txid ? ok(bytes) : nodeError('bad-answer', 'bytes of another transaction')
  })
}

/** Errors by which an HTTP API shows that it cannot serve whole blocks, though it may serve transactions. */
const blockRefusals: ReadonlySet<NodeErrorKind> = new Set(['batch-refused', 'bad-answer', 'too-large'])

/**
 * The bytes of the transactions that one node shows in a block, by their SHA-256; null where no node serves blocks. A node that
 * does not is not asked for blocks for a while; it is still asked for transactions.
 */
export async function readBytesInBlock(
  pool: NodePool,
  height: BlockHeight,
): ChainResult<ReadonlyMap<Txid, TransactionBytes> | null> {
  const { clock } = pool.budget
  const nodes = pool.nodes.filter(
    ({ endpoint, health }) => endpoint.api !== null && health.noBlocksUntil <= clock.now(),
  )
  if (nodes.length === 0) return ok(null)
  return firstAnswer(createNodeSelector(pool, 'api', 1, nodes), async (node) => {
    const reply = await postTo(node, '/wallet/getblockbynum', { num: height })
    if (!reply.ok && !blockRefusals.has(reply.error.kind)) return reply
    const parsed = bytesOfBlockSchema.safeParse(reply.ok ? reply.value : null)
    if (!parsed.success) {
      node.health.noBlocksUntil = clock.now() + noBlocksMs
      return nodeError('unfit', 'no blocks with raw_data_hex')
    }
    const all = parsed.data.transactions.map(({ raw_data_hex }) => hexToBytes(raw_data_hex))
    return ok(new Map(all.map((bytes) => [txidOf(bytes), bytes])))
  })
}

function postTo({ pool, endpoint: { api, key }, allowance }: TronNode, path: string, body: object) {
  return postJson(pool.budget, { url: `${api}${path}`, key }, JSON.stringify(body), allowance)
}

function txidOf(bytes: TransactionBytes): Txid {
  return bytesToHex(sha256(bytes)) as Txid // safe: the definition of a txid
}
