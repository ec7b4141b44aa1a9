import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Receipt, TransactionRef, Txid } from '../../chain/block.ts'
import type { ChainResult } from '../../chain/chain.ts'
import { receiptsMax } from '../../chain/limits.ts'
import { err, ok } from '../../common/result.ts'
import { receiptCall } from '../calls.ts'
import type { NodePool, TronNode } from '../nodes/node.ts'
import { type NodeResult, nodeError } from '../nodes/node-error.ts'
import { parseReceipt } from '../parse/receipt.ts'
import { queryFinal } from '../transport/batch.ts'
import { parseResults } from '../transport/json-rpc.ts'
import { agreeByQuorum } from './agreement.ts'

/** Receipts by txid. */
export type Receipts = ReadonlyMap<Txid, Receipt>

/** Receipts whose block, status and logs `quorum` nodes agree on. */
export async function readReceipts(pool: NodePool, transactions: readonly TransactionRef[]): ChainResult<Receipts> {
  const [first] = transactions
  if (first === undefined) return ok(new Map())
  const count = transactions.length
  if (count > receiptsMax) return err({ kind: 'no-answer', why: `${count} receipts at once` })
  const txids = transactions.map(({ txid }) => txid)
  const height = Math.max(...transactions.map(({ block }) => block.height))
  const about = count === 1 ? `receipt ${first.txid}` : `${count} receipts from ${first.txid}`
  const agreed = await agreeByQuorum(pool, about, (node) => readNodeReceipts(node, txids, height), renderReceipts)
  if (!agreed.ok) return agreed
  const moved = transactions.find(({ txid, block }) => agreed.value.get(txid)?.block.hash !== block.hash)
  return moved === undefined ? agreed : err({ kind: 'disagreement', about: `the block of ${moved.txid}` })
}

/** One line for each receipt, without the logs of failed transactions (PROTOCOL.md, Failed transactions with logs). */
function renderReceipts(receipts: Receipts): string {
  const lines = [...receipts.values()].map(({ txid, block, succeeded, logs }) => {
    if (!succeeded) return `${txid} failed in ${block.hash}`
    const text = logs.map(({ contract, topics, data }) => `${contract} ${topics.join(',')} ${data}`).join('\n')
    return `${txid} succeeded in ${block.hash} with ${logs.length} logs ${bytesToHex(sha256(utf8ToBytes(text)))}`
  })
  return lines.join('\n')
}

/** The receipts of transactions in blocks up to `height`, from one node. */
export async function readNodeReceipts(node: TronNode, txids: readonly Txid[], height: number): NodeResult<Receipts> {
  const result = await queryFinal(node, height, txids.map(receiptCall))
  if (!result.ok) return result
  const { replies } = result.value
  const hasNull = replies.some((reply) => reply.kind === 'result' && reply.value === null)
  // The block is final, so a node without the receipt is not behind: it does not keep it (PROTOCOL.md, Receipts).
  if (hasNull) return nodeError('bad-answer', 'null for a receipt')
  const receipts = parseResults(replies, txids, () => 'a receipt', parseReceipt)
  return receipts.ok ? ok(new Map(receipts.value.map((receipt) => [receipt.txid, receipt]))) : receipts
}
