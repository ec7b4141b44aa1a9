import type { Txid } from '../../chain/block.ts'
import type { ChainResult, TransactionLocation } from '../../chain/chain.ts'
import { err, ok } from '../../common/result.ts'
import { transactionCall } from '../calls.ts'
import { createNodeSelector, failureOf, type NodeAnswer } from '../nodes/failover.ts'
import type { NodePool, TronNode } from '../nodes/node.ts'
import type { NodeResult } from '../nodes/node-error.ts'
import { parseBlockRef, parseTransaction } from '../parse/block.ts'
import { isObject, type Parsed } from '../parse/fields.ts'
import { queryNode } from '../transport/batch.ts'
import { parseResult } from '../transport/json-rpc.ts'
import { collectAnswers, largestGroup } from './agreement.ts'

/** Where a transaction is: in the block that most nodes name. This is not a quorum, so credits need the block itself. */
export async function locateTransaction(pool: NodePool, txid: Txid): ChainResult<TransactionLocation> {
  const selector = createNodeSelector(pool, 'chain', pool.quorum)
  const inOneBlock = (all: readonly NodeAnswer<TransactionLocation>[]) =>
    largestGroup(all, ({ value }) => (value.kind === 'mined' ? value.block.hash : null))
  const answers = await collectAnswers(
    selector,
    (node) => locateAt(node, txid),
    (all) => pool.quorum - inOneBlock(all).length,
  )
  const found = inOneBlock(answers)[0] ?? answers.find(({ value }) => value.kind === 'unmined')
  if (found !== undefined) return ok(found.value)
  const isUnknown = answers.length >= pool.quorum && selector.candidates.every(({ error }) => error === null)
  return isUnknown ? ok({ kind: 'unknown' }) : err(failureOf(selector))
}

async function locateAt(node: TronNode, txid: Txid): NodeResult<TransactionLocation> {
  const result = await queryNode(node, 'chain', [transactionCall(txid)])
  if (!result.ok) return result
  const [reply] = result.value.replies
  if (reply?.kind === 'result' && reply.value === null) return ok({ kind: 'unknown' })
  return parseResult(reply, 'a transaction', (value): Parsed<TransactionLocation> => {
    const transaction = isObject(value) ? parseTransaction(value) : null
    if (!isObject(value) || transaction?.txid !== txid) return err('another transaction')
    if (value.blockHash === '0x' && value.blockNumber === '0x') return ok({ kind: 'unmined' })
    const block = parseBlockRef(value)
    return block === null ? err('a malformed block reference') : ok({ kind: 'mined', block, transaction })
  })
}
