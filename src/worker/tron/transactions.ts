import type { Address } from '../chain/address.ts'
import type { BlockHeight, BlockRef, Log, Txid } from '../chain/block.ts'
import {
  type ChainResult,
  type ChainTransfer,
  type IssuerAct,
  type ReceiptReading,
  receiptsMax,
  type TransactionLocation,
  type TransactionReading,
} from '../chain/chain.ts'
import { err, ok } from '../common/result.ts'
import { type Answer, agreeByQuorum, agreeOnOne, collect, failureOf, largestGroup, type Vote } from './agreement.ts'
import { askOne, askRpc } from './ask.ts'
import { blockVote, lengthForQuorum, renderLogs } from './blocks.ts'
import { parseResult, receiptCall, transactionCall } from './json-rpc.ts'
import { nodeMsMin } from './limits.ts'
import type { Session, TronNode } from './node.ts'
import { isCall, isUnreadable, readNodeBlocks, readReceipt } from './node-blocks.ts'
import type { NodeResult } from './node-errors.ts'
import { noteHealth } from './node-health.ts'
import { parseBlockRef, type ReadTransactions, successResult } from './parse/block.ts'
import { isObject, type Parsed, parseHash } from './parse/fields.ts'
import { parseActs } from './parse/issuer.ts'
import { type ParsedReceipt, tokenTransfers } from './parse/log.ts'

/**
 * Reads token transfers and acts of issuers from the receipts of these successful calls of a final
 * block, as `quorum` nodes agree. A call is `unreadable` if its receipt is too large for a reply.
 * Nodes can be slow to give each receipt of a large block, so only as many are read as they give in
 * their time.
 */
export async function readReceiptTransfers(
  session: Session,
  block: BlockRef,
  txids: readonly Txid[],
): ChainResult<ReceiptReading> {
  const { pool, deadline } = session
  await pool.ready
  for (let left = txids.length; ; ) {
    const count = Math.min(
      lengthForQuorum(pool, ({ receiptsMax }) => receiptsMax),
      left,
    )
    const timing: { isLate: boolean } = { isLate: false }
    const receipts = await agreeOnReceipts(session, block, txids.slice(0, count), timing)
    if (receipts.ok) {
      const { transfers, acts, unreadable } = receipts.value
      return ok({ count, transfers, acts, unreadable })
    }
    if (!timing.isLate || count === 1 || receipts.error.kind === 'disagreement') return receipts
    if (deadline - pool.clock.now() < nodeMsMin) return err({ ...receipts.error, kind: 'out-of-time' })
    left = Math.ceil(count / 2)
  }
}

/**
 * Reads the receipts of these transactions of a final block, agreed by `quorum` nodes. Sets
 * `timing.isLate` if a node did not give them in its time, and learns how many the node can give.
 */
async function agreeOnReceipts(
  session: Session,
  block: BlockRef,
  txids: readonly Txid[],
  timing: { isLate: boolean } = { isLate: false },
) {
  const { tokens, clock } = session.pool
  if (txids.length > receiptsMax) throw new Error(`${txids.length} receipts at once`)
  const { verdicts, errors } = await agreeByQuorum(session, 'chain', async (node, nodeSession) => {
    const left = () => nodeSession.nodeDeadline.until - clock.now()
    const before = left()
    node.receiptAsked = txids[0] ?? null
    const read = await askRpc(nodeSession, node, txids.map(receiptCall), (reply, i) => {
      const txid = txids[i]
      if (txid === undefined) throw new Error('a reply without a call')
      const receipt = readReceipt(reply, txid, block.hash)
      return receipt.ok ? ok(receiptVote(receipt.value, txid, tokens)) : receipt
    })
    const isLate = !read.ok && (read.error.kind === 'timed-out' || read.error.kind === 'out-of-time')
    timing.isLate ||= isLate
    const fitsTwice = read.ok && txids.length >= node.receiptsMax && before <= 2 * left()
    if (isLate) node.receiptsMax = Math.min(node.receiptsMax, Math.ceil(txids.length / 2))
    else if (fitsTwice) node.receiptsMax = Math.min(node.receiptsMax * 2, receiptsMax)
    noteHealth(nodeSession, node, 'receipts', read.ok ? null : read.error)
    return read
  })
  const found = {
    transfers: [] as ChainTransfer[],
    acts: [] as IssuerAct[],
    logs: [] as Log[],
    unreadable: [] as Txid[],
  }
  for (const [i, txid] of txids.entries()) {
    const verdict = verdicts[i]
    if (verdict?.kind === 'differs') return err({ kind: 'disagreement' as const, about: `receipt ${txid}` })
    if (verdict?.kind !== 'agreed') return err(failureOf(session, errors))
    if (verdict.value === null) found.unreadable.push(txid)
    const logs = verdict.value?.succeeded === true ? verdict.value.logs : []
    found.transfers.push(...tokenTransfers(logs, tokens))
    found.acts.push(...actsOf(verdict.value, tokens))
    found.logs.push(...logs)
  }
  return ok(found)
}

/**
 * The acts of issuers in a transaction; none if the transaction failed or its receipt is too large.
 */
function actsOf(receipt: ParsedReceipt | null, tokens: ReadonlySet<Address>): readonly IssuerAct[] {
  return receipt?.succeeded === true ? parseActs(receipt.logs, tokens, () => receipt.index) : []
}

function receiptVote(
  receipt: ParsedReceipt | null,
  txid: Txid,
  tokens: ReadonlySet<Address>,
): Vote<ParsedReceipt | null> {
  const logs = receipt?.succeeded === true ? receipt.logs : null
  const canonicalText = logs === null ? 'failed' : renderLogs(tokenTransfers(logs, tokens), actsOf(receipt, tokens))
  const logsText = logs === null ? '' : JSON.stringify(logs)
  return {
    about: { txid },
    canonicalText: receipt === null ? 'too large' : canonicalText,
    logs: logsText,
    value: receipt,
  }
}

/**
 * Finds the block of a transaction: the one that most nodes name. This is not a quorum, so a credit
 * needs the block itself.
 */
export async function locateTransaction(session: Session, txid: Txid): ChainResult<TransactionLocation> {
  const { quorum, nodes } = session.pool
  const inOneBlock = (all: readonly Answer<TransactionLocation>[]) =>
    largestGroup(all, ({ value }) => (value.kind === 'mined' ? String(value.height) : null))
  const query = (node: TronNode, nodeSession: Session) => locateAt(nodeSession, node, txid)
  const { answers, errors } = await collect(session, 'chain', query, (all) => quorum - inOneBlock(all).length)
  const found = inOneBlock(answers)[0] ?? answers.find(({ value }) => value.kind === 'unmined')
  if (found !== undefined) return ok(found.value)
  return answers.length === nodes.length ? ok({ kind: 'unknown' }) : err(failureOf(session, errors))
}

function locateAt(session: Session, node: TronNode, txid: Txid): NodeResult<TransactionLocation> {
  return askOne(session, node, transactionCall(txid), (reply) => {
    if (reply.kind === 'result' && reply.value === null) return ok<TransactionLocation>({ kind: 'unknown' })
    return parseResult(reply, 'a transaction', (value): Parsed<TransactionLocation> => {
      if (!isObject(value) || parseHash(value.hash) !== txid) return err('another transaction')
      if (isNone(value.blockHash) && isNone(value.blockNumber)) return ok({ kind: 'unmined' })
      const block = parseBlockRef(value)
      return block === null ? err('a malformed block') : ok({ kind: 'mined', height: block.height })
    })
  })
}

/**
 * The value for "no block": java-tron writes `0x`, and gateways may write null as Ethereum does
 * (PROTOCOL.md, Transactions).
 */
const isNone = (value: unknown) => value === '0x' || value === null

/**
 * Reads one transaction of a final block with all of its logs, agreed by `quorum` nodes. Null: the
 * block does not contain it.
 */
export async function readFinalTransaction(
  session: Session,
  txid: Txid,
  height: BlockHeight,
): ChainResult<TransactionReading | null> {
  const known: ReadTransactions = new Map()
  const agreed = await agreeOnOne(session, 'money', `block ${height}`, async (node, nodeSession) => {
    const blocks = await readNodeBlocks(nodeSession, node, height, 1, { wanted: txid, known })
    if (!blocks.ok) return blocks
    // Nodes must agree on the logs of the transaction, too, because the service explains the
    // transaction to its user by its logs.
    const withLogs = blocks.value.map((block) => {
      const vote = blockVote(block)
      return { ...vote, logs: vote.logs === null ? null : `${vote.logs}\n${JSON.stringify(block.wantedLogs)}` }
    })
    return ok(withLogs)
  })
  if (!agreed.ok) return agreed
  const { kind, value: block } = agreed.value
  const transaction = block.transactions.find((one) => one.txid === txid)
  if (transaction === undefined) return ok(null)
  const succeeded = transaction.result === successResult
  const receipts = kind === 'partial' && succeeded ? await agreeOnReceipts(session, block.header, [txid]) : null
  if (receipts !== null && !receipts.ok) return receipts
  const tokens = receipts?.value.transfers ?? block.tokens ?? []
  const counted = tokens.filter(({ asset }) => asset.kind === 'trc20' && session.pool.tokens.has(asset.contract))
  const transfers = [...block.native, ...counted].filter((one) => one.txid === txid)
  const isWhole = (receipts?.value.unreadable.length ?? 0) === 0 && !isUnreadable(transaction)
  const { type: contractType, owner, target } = transaction.contract ?? { type: -1, owner: null, target: null }
  const logs = receipts?.value.logs ?? block.wantedLogs
  const common = { header: block.header, succeeded, isCall: isCall(transaction), isWhole }
  return ok({ ...common, contractType, owner, target, transfers, logs })
}
