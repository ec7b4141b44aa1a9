import type { BlockHeight, BlockRef, Log, Txid } from '../chain/block.ts'
import type {
  ChainResult,
  ChainTransfer,
  MatchOwn,
  ReceiptReading,
  TransactionLocation,
  TransactionReading,
} from '../chain/chain.ts'
import { receiptsMax } from '../chain/limits.ts'
import { err, ok, type Result } from '../common/result.ts'
import { type Answer, agreeByQuorum, agreeOnOne, collect, failureOf, largestGroup, type Vote } from './agreement.ts'
import { askRpc } from './ask.ts'
import { ownBlocks, ownTransfers } from './final-blocks.ts'
import { isTooLarge, parseResult, type RpcReply, receiptCall, transactionCall } from './json-rpc.ts'
import type { Session, TronNode } from './node.ts'
import { blockVote, type NodeBlock, readNodeBlocks, renderTransfers } from './node-blocks.ts'
import { type NodeError, type NodeResult, nodeError } from './node-error.ts'
import { successResult } from './parse/block.ts'
import { isObject, type Parsed, parseHash } from './parse/fields.ts'
import { parseBlockRef } from './parse/header.ts'
import { tokenTransfers } from './parse/log.ts'
import { type ParsedReceipt, parseReceipt } from './parse/receipt.ts'
import { noHistory, recordUnfit } from './probe.ts'

/** What receipts of a final block have, as `quorum` nodes agree on it. */
interface AgreedReceipts {
  readonly transfers: readonly ChainTransfer[]
  readonly logs: readonly Log[]
  readonly unreadable: readonly Txid[]
}

/** Token transfers of successful calls of a final block, from their receipts (see `Chain`). */
export async function readReceiptTransfers(
  session: Session,
  block: BlockRef,
  txids: readonly Txid[],
  match: MatchOwn,
): ChainResult<ReceiptReading> {
  const receipts = await agreeOnReceipts(session, block, txids)
  if (!receipts.ok) return receipts
  const { transfers, unreadable } = receipts.value
  const own = transfers.length === 0 ? new Set<never>() : await match(transfers.flatMap(({ from, to }) => [from, to]))
  return ok({ transfers: ownTransfers(transfers, own), unreadable })
}

async function agreeOnReceipts(session: Session, block: BlockRef, txids: readonly Txid[]): ChainResult<AgreedReceipts> {
  if (txids.length > receiptsMax) return err({ kind: 'no-answer', why: `${txids.length} receipts at once` })
  const { tokens } = session.pool
  const agreement = await agreeByQuorum(session, 'chain', async (node) => {
    const receipts = await askRpc(session, node, txids.map(receiptCall), (reply, i) =>
      readReceipt(session, node, reply, txids[i] ?? (block.hash as string as Txid), block),
    )
    return receipts.ok ? ok(receipts.value.map((one, i) => receiptVote(one, txids[i], tokens))) : receipts
  })
  const found = { transfers: [] as ChainTransfer[], logs: [] as Log[], unreadable: [] as Txid[] }
  for (const [i, txid] of txids.entries()) {
    const verdict = agreement.verdicts[i]
    if (verdict?.kind === 'differs') return err({ kind: 'disagreement', about: `receipt ${txid}` })
    if (verdict?.kind !== 'agreed') return err(failureOf(session, agreement.errors))
    if (verdict.value === null) found.unreadable.push(txid)
    const logs = verdict.value?.succeeded === true ? verdict.value.logs : []
    found.transfers.push(...tokenTransfers(logs, tokens))
    found.logs.push(...logs)
  }
  return ok(found)
}

/** The receipt in a reply, or null where it is too large. */
function readReceipt(
  session: Session,
  node: TronNode,
  reply: RpcReply,
  txid: Txid,
  block: BlockRef,
): Result<ParsedReceipt | null, NodeError> {
  if (isTooLarge(reply)) return ok(null)
  if (reply.kind === 'result' && reply.value === null) {
    // The block is final, so the node does not keep it (PROTOCOL.md, Receipts).
    recordUnfit(session, node, noHistory)
    return nodeError('unfit', noHistory)
  }
  return parseResult(reply, 'a receipt', (value): Parsed<ParsedReceipt> => parseReceipt(value, txid, block))
}

function receiptVote(
  receipt: ParsedReceipt | null,
  txid: Txid | undefined,
  tokens: Parameters<typeof tokenTransfers>[1],
): Vote<ParsedReceipt | null> {
  const logs = receipt?.succeeded === true ? receipt.logs : null
  const facts = logs === null ? 'failed' : renderTransfers(tokenTransfers(logs, tokens))
  const rest = logs === null ? '' : JSON.stringify(logs)
  return { about: `receipt ${txid}`, facts: receipt === null ? 'too large' : facts, rest, value: receipt }
}

/** Where a transaction is: in the block that most nodes name. This is no quorum, so credits need the block itself. */
export async function locateTransaction(session: Session, txid: Txid): ChainResult<TransactionLocation> {
  const { quorum, nodes } = session.pool
  const inOneBlock = (all: readonly Answer<TransactionLocation>[]) =>
    largestGroup(all, ({ value }) => (value.kind === 'mined' ? String(value.height) : null))
  const { answers, errors } = await collect(
    session,
    'chain',
    (node) => locateAt(session, node, txid),
    (all) => quorum - inOneBlock(all).length,
  )
  const found = inOneBlock(answers)[0] ?? answers.find(({ value }) => value.kind === 'unmined')
  if (found !== undefined) return ok(found.value)
  return answers.length === nodes.length ? ok({ kind: 'unknown' }) : err(failureOf(session, errors))
}

async function locateAt(session: Session, node: TronNode, txid: Txid): NodeResult<TransactionLocation> {
  const result = await askRpc(session, node, [transactionCall(txid)], (reply) => {
    if (reply.kind === 'result' && reply.value === null) return ok<TransactionLocation>({ kind: 'unknown' })
    return parseResult(reply, 'a transaction', (value): Parsed<TransactionLocation> => {
      if (!isObject(value) || parseHash(value.hash) !== txid) return { ok: false, error: 'another transaction' }
      if (value.blockHash === '0x' && value.blockNumber === '0x') return ok({ kind: 'unmined' })
      const block = parseBlockRef(value)
      return block === null ? { ok: false, error: 'a malformed block' } : ok({ kind: 'mined', height: block.height })
    })
  })
  if (!result.ok) return result
  return result.value[0] === undefined ? nodeError('bad-answer', 'no transaction') : ok(result.value[0])
}

/** Nodes must agree on the logs of the transaction too: they explain it to its caller. */
function withWantedLogs(block: NodeBlock): Vote<NodeBlock> {
  const vote = blockVote(block)
  return { ...vote, rest: vote.rest === null ? null : `${vote.rest}\n${JSON.stringify(block.wantedLogs)}` }
}

/** One transaction of a final block with all of its logs (see `Chain`). */
export async function readFinalTransaction(
  session: Session,
  txid: Txid,
  height: BlockHeight,
  match: MatchOwn,
): ChainResult<TransactionReading | null> {
  const agreed = await agreeOnOne(session, 'money', `block ${height}`, async (node) => {
    const blocks = await readNodeBlocks(session, node, height, 1, txid)
    return blocks.ok ? ok(blocks.value.map(withWantedLogs)) : blocks
  })
  if (!agreed.ok) return agreed
  const { kind, value: block } = agreed.value
  const { header, transactions, native, tokens, wantedLogs } = block
  const transaction = transactions.find((one) => one.txid === txid)
  if (transaction === undefined) return ok(null)
  const { result, type, owner, target } = transaction
  const isMissing = kind === 'partial' && result === successResult
  const receipts = isMissing ? await agreeOnReceipts(session, header, [txid]) : null
  if (receipts !== null && !receipts.ok) return receipts
  if ((receipts?.value.unreadable.length ?? 0) > 0) return err({ kind: 'disagreement', about: `receipt ${txid}` })
  const only = { ...block, transactions: [transaction] }
  const isOwn = (one: ChainTransfer) => one.txid === txid
  const tokensOfIt = (receipts?.value.transfers ?? tokens ?? []).filter(isOwn)
  const own = (await ownBlocks([{ ...only, native: native.filter(isOwn), tokens: tokensOfIt }], match))
    .values()
    .next().value
  const logs = receipts?.value.logs ?? wantedLogs
  return ok({
    header,
    succeeded: result === successResult,
    contractType: type,
    owner,
    target,
    transfers: own?.transfers ?? [],
    logs,
  })
}
