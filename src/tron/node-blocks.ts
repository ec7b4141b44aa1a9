import { nativeAsset } from '../chain/asset.ts'
import type { BlockHeight, Header, Log, Txid } from '../chain/block.ts'
import type { ChainTransfer } from '../chain/chain.ts'
import { ok, type Result } from '../common/result.ts'
import type { Vote } from './agreement.ts'
import { askApi, askRpc } from './ask.ts'
import { isTooLarge, logsCall, parseResult, type RpcReply, receiptCall } from './json-rpc.ts'
import type { Pool, Session, TronNode } from './node.ts'
import { type NodeError, type NodeResult, nodeError } from './node-error.ts'
import { type BlockTransaction, type ParsedBlock, parseBlocks, successResult } from './parse/block.ts'
import { callTypes } from './parse/contract.ts'
import { parseBlockLogs, tokenTransfers } from './parse/log.ts'
import { noHistory, recordUnfit } from './probe.ts'

/** A block as one node shows it, and the transfers in it. */
export interface NodeBlock {
  readonly header: Header
  readonly transactions: readonly BlockTransaction[]
  /** TRX. */
  readonly native: readonly ChainTransfer[]
  /** Tokens that count, or null where the node could not give the logs of the block: it has too many. */
  readonly tokens: readonly ChainTransfer[] | null
  /** Logs of the transaction that was asked for. */
  readonly wantedLogs: readonly Log[]
}

/**
 * The blocks of one node from `from` on, `max` at most, with their transfers: at least one. Blocks end before the first one
 * that is malformed. Two requests, and one more for each further batch of logs.
 */
export async function readNodeBlocks(
  session: Session,
  node: TronNode,
  from: BlockHeight,
  max: number,
  wanted: Txid | null = null,
): NodeResult<readonly NodeBlock[]> {
  const parsed = await readBlocks(session, node, from, max)
  if (!parsed.ok) return parsed
  if (parsed.value.length === 0) return nodeError('behind', `no block ${from}`)
  const { pool } = session
  const calls = parsed.value.map(({ header }) => logsCall(header.hash))
  const logs = await askRpc(session, node, calls, (reply, i) => {
    const block = parsed.value[i]
    const read = block === undefined ? nodeError('bad-answer', 'no block') : parseLogsReply(reply, block)
    return read.ok ? ok(read.value && reduceLogs(read.value, pool, wanted)) : read
  })
  if (!logs.ok) return logs
  const blocks = parsed.value.map(({ header, transactions }, i): NodeBlock => {
    const own = logs.value[i] ?? null
    const native = transactions.flatMap(nativeTransfer)
    return { header, transactions, native, tokens: own?.transfers ?? null, wantedLogs: own?.wanted ?? [] }
  })
  const silent = parsed.value.findLast(({ transactions }, i) => {
    return logs.value[i]?.count === 0 && transactions.some(isCall)
  })
  const history = silent === undefined ? ok(null) : await requireReceipt(session, node, silent)
  return history.ok ? ok(blocks) : history
}

async function readBlocks(
  session: Session,
  node: TronNode,
  from: number,
  max: number,
): NodeResult<readonly ParsedBlock[]> {
  const body = { startNum: from, endNum: from + max }
  return askApi(session, node, '/wallet/getblockbylimitnext', body, (value, bytes) => {
    const parsed = parseBlocks(value, from, max)
    if (!parsed.ok) return nodeError('bad-answer', parsed.error)
    const { blocks, fault } = parsed.value
    if (fault !== null) session.pool.report('node-lies', `node ${node.number}`, { node: node.number, why: fault })
    if (blocks.length === 0 && fault !== null) return nodeError('bad-answer', fault)
    if (blocks.length > 0) session.pool.blockBytes = bytes / blocks.length
    return ok(blocks)
  })
}

/** The logs in a reply, or null where they are too many for one. */
function parseLogsReply(reply: RpcReply, block: ParsedBlock): Result<readonly Log[] | null, NodeError> {
  if (isTooLarge(reply)) return ok(null)
  // The HTTP API has the block, and the backend that answers here does not (PROTOCOL.md, Log queries).
  if (reply.kind === 'error' && reply.code === -32602) return nodeError('behind', 'no logs of an unknown block')
  return parseResult(reply, `logs of ${block.header.height}`, (value) => parseBlockLogs(value, block))
}

/** Only what is needed of the logs is kept: there can be tens of thousands. */
function reduceLogs(logs: readonly Log[], { tokens }: Pool, wanted: Txid | null) {
  return {
    count: logs.length,
    transfers: tokenTransfers(logs, tokens),
    wanted: logs.filter(({ txid }) => txid === wanted),
  }
}

function nativeTransfer({ txid, result, owner, target, amount }: BlockTransaction): readonly ChainTransfer[] {
  if (result !== successResult || owner === null || target === null || amount === null) return []
  return [{ txid, position: 0, asset: nativeAsset, from: owner, to: target, amount }]
}

/** Whether it can have logs. */
export function isCall({ type, result }: BlockTransaction): boolean {
  return result === successResult && callTypes.has(type)
}

/**
 * A node whose history is off replies `[]` in place of logs (PROTOCOL.md, Log queries), and null in place of receipts. So where a
 * block has calls and no log, the receipt of a call must exist.
 */
async function requireReceipt(session: Session, node: TronNode, { transactions }: ParsedBlock): NodeResult<null> {
  const call = transactions.find(isCall)
  if (call === undefined) return ok(null)
  const replies = await askRpc(session, node, [receiptCall(call.txid)], (reply) => ok(reply))
  if (!replies.ok) return replies
  const [reply] = replies.value
  if (reply?.kind !== 'result' || reply.value !== null) return ok(null)
  recordUnfit(session, node, noHistory)
  return nodeError('unfit', noHistory)
}

/** What nodes must agree on: one line for each transaction and each transfer of a token that counts. */
export function blockVote(block: NodeBlock): Vote<NodeBlock> {
  const { header, transactions, native, tokens } = block
  const amounts = new Map(native.map(({ txid, to, amount }) => [txid, ` ${to} ${amount}`]))
  const lines = transactions.map(({ txid, result, owner }) => `${txid} ${result} ${owner}${amounts.get(txid) ?? ''}`)
  const facts = [`hash ${header.hash}`, `parent ${header.parentHash}`, ...lines].join('\n')
  return { about: `block ${header.height}`, facts, rest: tokens && renderTransfers(tokens), value: block }
}

/** One line for each token transfer. */
export function renderTransfers(transfers: readonly ChainTransfer[]): string {
  const lines = transfers.map(({ txid, position, asset, from, to, amount }) => {
    return `${txid} ${position} ${asset.kind === 'native' ? 'TRX' : asset.contract} ${from} ${to} ${amount}`
  })
  return lines.join('\n')
}
