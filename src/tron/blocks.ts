import type { Address } from '../chain/address.ts'
import { type BlockHeight, type BlockRef, type Header, type Log, nativeAsset, type Txid } from '../chain/block.ts'
import {
  type BlockReading,
  type ChainResult,
  type ChainTransfer,
  type MatchOwn,
  type ReadBlock,
  readBlocksMax,
  type Tail,
} from '../chain/chain.ts'
import { err, ok, type Result } from '../common/result.ts'
import { agreeByQuorum, failureOf, firstAnswer, type QuorumVerdict, type Vote } from './agreement.ts'
import { askApi, askOne, askRpc, noHistory, recordUnfit } from './ask.ts'
import { isTooLarge, logsCall, parseResult, type RpcReply, receiptCall } from './json-rpc.ts'
import { alarmTextMax, questionBytes } from './limits.ts'
import type { Pool, Session, TronNode } from './node.ts'
import { type BlockTransaction, type ParsedBlock, parseBlocks, successResult } from './parse/block.ts'
import { callTypes } from './parse/contract.ts'
import { type ParsedReceipt, parseBlockLogs, parseReceipt, tokenTransfers } from './parse/log.ts'
import { type NodeError, type NodeResult, nodeError } from './transport.ts'

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
 * that is malformed. Two requests, one more for each further batch of logs, and one where a final block has calls and no log.
 */
export async function readNodeBlocks(
  session: Session,
  node: TronNode,
  from: BlockHeight,
  max: number,
  wanted: Txid | null = null,
  isFinal = true,
): NodeResult<readonly NodeBlock[]> {
  const parsed = await readBlocks(session, node, from, max)
  if (!parsed.ok) return parsed
  if (parsed.value.length === 0) return nodeError('behind', `no block ${from}`)
  const { tokens } = session.pool
  const calls = parsed.value.map(({ header }) => logsCall(header.hash))
  const read = await askRpc(session, node, calls, (reply, i) => {
    const block = parsed.value[i]
    if (block === undefined) throw new Error('a reply without a call')
    const logs = parseLogsReply(reply, block)
    if (!logs.ok) return logs
    // Only what is needed of the logs is kept: there can be tens of thousands.
    const all = logs.value ?? []
    const isSilent = logs.value?.length === 0 && block.transactions.some(isCall)
    const own = logs.value && tokenTransfers(all, tokens)
    return ok({ block, isSilent, tokens: own, wantedLogs: all.filter(({ txid }) => txid === wanted) })
  })
  if (!read.ok) return read
  const silent = isFinal ? read.value.findLast(({ isSilent }) => isSilent)?.block : undefined
  const history = silent === undefined ? ok(null) : await requireReceipt(session, node, silent)
  if (!history.ok) return history
  return ok(
    read.value.map(({ block: { header, transactions }, tokens: own, wantedLogs }) => {
      return { header, transactions, native: transactions.flatMap(nativeTransfer), tokens: own, wantedLogs }
    }),
  )
}

function readBlocks(session: Session, node: TronNode, from: number, max: number): NodeResult<readonly ParsedBlock[]> {
  const { pool } = session
  const body = { startNum: from, endNum: from + max }
  return askApi(session, node, '/wallet/getblockbylimitnext', body, (value, bytes) => {
    const parsed = parseBlocks(value, from, max)
    if (!parsed.ok) return nodeError('bad-answer', parsed.error)
    const { blocks, fault } = parsed.value
    if (fault !== null) pool.report('node-lies', `node ${node.number}`, { node: node.number, why: fault })
    if (blocks.length === 0 && fault !== null) return nodeError('bad-answer', fault)
    if (blocks.length > 0) pool.blockBytes = bytes / blocks.length
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

function nativeTransfer({ txid, result, facts }: BlockTransaction): readonly ChainTransfer[] {
  const { owner, target, amount } = facts ?? { owner: null, target: null, amount: null }
  if (result !== successResult || owner === null || target === null || amount === null) return []
  return [{ txid, position: 0, asset: nativeAsset, from: owner, to: target, amount }]
}

/** Whether it can have logs. */
export function isCall({ result, facts }: BlockTransaction): boolean {
  return result === successResult && (facts === null || callTypes.has(facts.type))
}

/** Whether it did something that its bytes do not show: they are not read as java-tron has read them. */
export function isUnreadable({ result, facts }: BlockTransaction): boolean {
  return result === successResult && facts === null
}

/**
 * A node whose history is off replies `[]` in place of logs (PROTOCOL.md, Log queries), and null in place of receipts. So where a
 * final block has calls and no log, a call must have a receipt: in any block, since one of another chain is for the scan to notice.
 */
async function requireReceipt(
  session: Session,
  node: TronNode,
  { header, transactions }: ParsedBlock,
): NodeResult<null> {
  const txid = transactions.find(isCall)?.txid
  if (txid === undefined) return ok(null)
  const receipt = await askOne(session, node, receiptCall(txid), (reply) =>
    readReceipt(session, node, reply, txid, null),
  )
  if (!receipt.ok) return receipt
  // Where nodes must agree, another one shows the logs.
  const hasLogs = receipt.value === null || (receipt.value.logs.length > 0 && receipt.value.block.hash === header.hash)
  if (!hasLogs || session.pool.quorum > 1) return ok(null)
  return nodeError('bad-answer', `no logs of block ${header.height}, and a receipt with logs`)
}

/** The receipt of a transaction of a final block in a reply, or null where it is too large. */
export function readReceipt(
  session: Session,
  node: TronNode,
  reply: RpcReply,
  txid: Txid,
  hash: BlockRef['hash'] | null,
): Result<ParsedReceipt | null, NodeError> {
  if (isTooLarge(reply)) return ok(null)
  // The block is final, so the node does not keep it (PROTOCOL.md, Receipts).
  if (reply.kind === 'result' && reply.value === null) return recordUnfit(session, node, noHistory)
  return parseResult(reply, 'a receipt', (value) => parseReceipt(value, txid, hash))
}

/** What nodes must agree on: one line for each transaction and each transfer of a token that counts. */
export function blockVote(block: NodeBlock): Vote<NodeBlock> {
  const { header, transactions, native, tokens } = block
  const amounts = new Map(native.map(({ txid, to, amount }) => [txid, ` ${to} ${amount}`]))
  const lines = transactions.map(({ txid, result, facts }) => {
    return `${txid} ${result} ${facts === null ? 'unreadable' : facts.owner}${amounts.get(txid) ?? ''}`
  })
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

/** Blocks that fit into one reply, by the newest replies. */
function blocksOfReply({ blockBytes, blocksMax }: Pool): number {
  return Math.min(Math.max(Math.floor(questionBytes / blockBytes), 1), blocksMax)
}

/** Final blocks as `quorum` nodes agree on them (see `Chain`; PROTOCOL.md, Scanner rules). */
export async function readFinalBlocks(
  session: Session,
  from: BlockHeight,
  to: BlockHeight,
  match: MatchOwn,
): ChainResult<readonly BlockReading[]> {
  const found = await agreeOnBlocks(session, from, Math.min(blocksOfReply(session.pool), to - from + 1), to)
  if (!found.ok) return found
  const blocks = found.value.map((verdict) => ('value' in verdict ? verdict.value : null))
  for (const block of blocks) if (block !== null) reportUnreadable(session.pool, block)
  const own = await ownBlocks(
    blocks.filter((block) => block !== null),
    match,
  )
  return ok(
    blocks.map((block, i): BlockReading => {
      const height = (from + i) as BlockHeight // safe: an integer above a height
      return (block && own.get(block)) ?? { kind: 'not-agreed', height }
    }),
  )
}

/** Nodes agree on these transactions, whose bytes hash to their txids, and only this service cannot read them. */
function reportUnreadable(pool: Pool, { header: { height }, transactions }: NodeBlock): void {
  const txids = transactions.filter(isUnreadable).map(({ txid }) => txid)
  if (txids.length === 0) return
  pool.report('transaction-unreadable', `block ${height}`, { height, txids: txids.join(' ').slice(0, alarmTextMax) })
}

type Verdicts = readonly QuorumVerdict<NodeBlock>[]

/** How far above a block that cannot be read others are tried: the next one can be like it. */
const laterBlocks = [1, 8] as const

/**
 * What nodes say about the blocks from `from` on: `count` at most, and at least one that is agreed or not. Fewer, where too many are
 * too large or malformed, so that only the block that cannot be read is not agreed.
 */
async function agreeOnBlocks(session: Session, from: BlockHeight, count: number, to: number): ChainResult<Verdicts> {
  const { pool } = session
  for (let length = count; ; length = Math.ceil(length / 2)) {
    const { known, errors } = await agreeOnRange(session, from, length)
    if (known.length > 0) {
      pool.blocksMax = Math.min(pool.blocksMax * 2, readBlocksMax)
      return ok(known)
    }
    const failure = failureOf(session, errors)
    const kinds = new Set([...errors.values()].map(({ kind }) => kind))
    const isOfContent = kinds.has('too-large') || kinds.has('bad-answer')
    const canBeOfContent = kinds.has('timed-out') || kinds.has('unreachable')
    if (isOfContent || canBeOfContent) pool.blocksMax = Math.ceil(length / 2)
    // What can be the nodes' own is asked for in smaller parts by the next piece of work: this one has lost its time.
    if (failure.kind !== 'no-answer' || !(isOfContent || (canBeOfContent && length === 1))) return err(failure)
    if (length > 1) continue
    // The nodes are well where they have a later block: then it is this one that cannot be read.
    for (const later of laterBlocks) {
      const [other] = from + later <= to ? (await agreeOnRange(session, (from + later) as BlockHeight, 1)).known : []
      if (other !== undefined && 'value' in other)
        return ok(later === 1 ? [{ kind: 'differs' }, other] : [{ kind: 'differs' }])
    }
    return err(failure)
  }
}

/** The verdicts up to the first block that too few nodes have, or that is no child of the one before. */
async function agreeOnRange(session: Session, from: BlockHeight, length: number) {
  const { verdicts, errors } = await agreeByQuorum(session, 'money', async (node, boxed) => {
    const blocks = await readNodeBlocks(boxed, node, from, length)
    return blocks.ok ? ok(blocks.value.map(blockVote)) : blocks
  })
  const end = verdicts.findIndex((verdict, i) => {
    const before = verdicts[i - 1]
    if (verdict.kind === 'missing') return true
    if (before === undefined || !('value' in before) || !('value' in verdict)) return false
    return verdict.value.header.parentHash !== before.value.header.hash
  })
  return { known: end === -1 ? verdicts : verdicts.slice(0, end), errors }
}

/** Blocks after `known` by one node (see `Chain`). */
export async function readNodeTail(session: Session, known: BlockRef, match: MatchOwn): ChainResult<Tail> {
  const from = (known.height + 1) as BlockHeight // safe: an integer above a height
  const found = await firstAnswer(session, 'money', async (node, boxed) => {
    const blocks = await readNodeBlocks(boxed, node, from, blocksOfReply(session.pool), null, false)
    const isEnd = !blocks.ok && blocks.error.kind === 'behind' // the known block is the newest one
    return isEnd ? ok<readonly NodeBlock[]>([]) : blocks
  })
  if (!found.ok) return found
  const follows = (found.value[0]?.header.parentHash ?? known.hash) === known.hash
  const latest = found.value.at(-1)?.header.height ?? known.height
  const own = await ownBlocks(follows ? found.value : [], match)
  return ok({ latest, follows, blocks: [...own.values()] })
}

/** What concerns addresses of the service in blocks. One lookup for all of them. */
async function ownBlocks(blocks: readonly NodeBlock[], match: MatchOwn): Promise<ReadonlyMap<NodeBlock, ReadBlock>> {
  const addresses = new Set<Address>()
  for (const { transactions, native, tokens } of blocks) {
    for (const { facts } of transactions) if (facts !== null && facts.owner !== null) addresses.add(facts.owner)
    for (const { from, to } of [...native, ...(tokens ?? [])]) addresses.add(from).add(to)
  }
  const own = addresses.size === 0 ? new Set<Address>() : await match([...addresses])
  return new Map(blocks.map((block) => [block, ownBlock(block, own)]))
}

function ownBlock({ header, transactions, native, tokens }: NodeBlock, own: ReadonlySet<Address>): ReadBlock {
  return {
    kind: 'read',
    header,
    transfers: ownTransfers([...native, ...(tokens ?? [])], own),
    sent: transactions.flatMap(({ txid, facts }) => {
      const owner = facts?.owner ?? null
      return owner !== null && own.has(owner) ? [{ txid, owner }] : []
    }),
    callsToRead: tokens === null ? transactions.filter(isCall).map(({ txid }) => txid) : null,
  }
}

/** The transfers to or from these addresses. */
function ownTransfers(transfers: readonly ChainTransfer[], own: ReadonlySet<Address>): readonly ChainTransfer[] {
  return transfers.filter(({ from, to }) => own.has(from) || own.has(to))
}

/** The transfers to or from addresses of the service. */
export async function matchTransfers(transfers: readonly ChainTransfer[], match: MatchOwn) {
  if (transfers.length === 0) return transfers
  return ownTransfers(transfers, await match([...new Set(transfers.flatMap(({ from, to }) => [from, to]))]))
}
