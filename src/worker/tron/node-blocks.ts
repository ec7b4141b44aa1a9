import type { Address } from '../chain/address.ts'
import { type BlockHeight, type BlockRef, type Header, type Log, nativeAsset, type Txid } from '../chain/block.ts'
import type { ChainTransfer, IssuerAct } from '../chain/chain.ts'
import { callTypes } from '../chain/contract.ts'
import type { NodeQuestion } from '../common/node-states.ts'
import { ok, type Result } from '../common/result.ts'
import { isAhead } from '../common/time.ts'
import { askApi, askOne, askRpc, recordError } from './ask.ts'
import { isTooLarge, logsCall, parseResult, type RpcReply, receiptCall } from './json-rpc.ts'
import { checkMs } from './limits.ts'
import { fieldsOf, type NodeService, type Session, type TronNode } from './node.ts'
import { type NodeError, type NodeResult, needed, nodeError } from './node-errors.ts'
import { hasQuietTrouble, noteHealth } from './node-health.ts'
import {
  type BlockTransaction,
  type ParsedBlock,
  parseBlocks,
  type ReadTransactions,
  successResult,
} from './parse/block.ts'
import { parseActs } from './parse/issuer.ts'
import { type ParsedReceipt, parseBlockLogs, parseReceipt, tokenTransfers } from './parse/log.ts'
import { whyImplausible } from './plausible.ts'

/** A block as one node shows it, with the transfers in it. */
export interface NodeBlock {
  readonly header: Header
  readonly transactions: readonly BlockTransaction[]
  /**
   * Transfers of TRX, each by a transaction of its own. TRX that a contract sends is not among
   * them.
   */
  readonly native: readonly ChainTransfer[]
  /**
   * Transfers of configured tokens, and in transactions of the payout address those of any token.
   * Null if the node could not give the logs of the block because there are too many.
   */
  readonly tokens: readonly ChainTransfer[] | null
  /** Acts of token issuers; empty if the logs are missing. */
  readonly acts: readonly IssuerAct[]
  /** All logs of the transaction `wanted`; empty without one. */
  readonly wantedLogs: readonly Log[]
}

interface BlockQuery {
  /** The transaction of which all logs are kept. */
  readonly wanted?: Txid
  /** The transactions that other nodes have shown for the same query. */
  readonly known?: ReadTransactions
  /**
   * The newest final block, if the query is for blocks above it. There cannot be more blocks above
   * it than slots since its time.
   */
  readonly final?: Header
}

/**
 * Reads blocks of one node from `from` on, with their transfers: at least one and at most `max`.
 * They end before the first block that is malformed, or that the node lacks although it is final
 * (`lacking`). Reading takes two requests, one more for each further batch of logs, and one more if
 * a final block has calls but no log.
 */
export async function readNodeBlocks(
  session: Session,
  node: TronNode,
  from: BlockHeight,
  max: number,
  { wanted, known = new Map(), final }: BlockQuery = {},
): NodeResult<readonly NodeBlock[]> {
  const parsed = await readApiBlocks(session, node, from, max, known)
  const note = (question: NodeQuestion, error: NodeError | null) => noteHealth(session, node, question, error)
  if (!parsed.ok) {
    note('blocks', parsed.error)
    return parsed
  }
  // A final block must exist. An empty reply about blocks above the newest final one is no fault.
  if (parsed.value.length === 0) {
    if (final !== undefined) return nodeError('behind', `no block ${from}`)
    const lack = nodeError('lacking', `no block ${from}`)
    note('blocks', lack.error)
    return recordLack(session, node, 'api', lack)
  }
  note('blocks', null)
  // Check before the logs are requested: the logs of a hundred invented blocks would take more
  // requests than a tick has.
  const lie = final === undefined ? null : findImplausible(session, node, parsed.value, final)
  if (lie !== null) return lie
  const { tokens, payoutAddresses } = session.pool
  const calls = parsed.value.map(({ header }) => logsCall(header.hash))
  const read = await askRpc(session, node, calls, (reply, i) => {
    const block = parsed.value[i]
    if (block === undefined) throw new Error('a reply without a call')
    const logs = parseLogsReply(reply, block)
    const isLack = !logs.ok && logs.error.kind === 'behind' && final === undefined
    if (!logs.ok && !isLack) return logs
    const lack = logs.ok ? null : nodeError('lacking', logs.error.detail)
    // Keep only the relevant logs, because there can be tens of thousands.
    const all = logs.ok ? (logs.value ?? []) : []
    const isSuspect = logs.ok && logs.value?.length === 0 && block.transactions.some(isCall)
    const transfers =
      logs.ok && logs.value === null ? null : tokenTransfers(all, tokens, sentBy(payoutAddresses, block))
    const acts = parseActs(all, tokens, (txid) => block.indexes.get(txid) ?? 0)
    return ok({ block, lack, isSuspect, transfers, acts, wantedLogs: all.filter(({ txid }) => txid === wanted) })
  })
  const noLogs = read.ok ? await lackOfLogs(session, node, read.value) : read.error
  note('logs', noLogs)
  if (noLogs === null) noteGiven(session, node)
  if (!read.ok) return read
  const lacks = final === undefined ? await findLacks(session, node, read.value) : ok([])
  if (!lacks.ok) note('receipts', lacks.error)
  // One block without receipts says nothing about the next one: a probe finds whether it has any
  // (`agreement.ts`).
  else if (lacks.value.length > 0 && lacks.value.every((lack) => lack === null)) note('receipts', null)
  if (!lacks.ok) return lacks
  const shown = untilLack(read.value.map((one, i) => ({ ...one, lack: one.lack ?? lacks.value[i] ?? null })))
  if (!shown.ok) return recordLack(session, node, 'rpc', shown)
  return ok(
    shown.value.map(({ block: { header, transactions }, transfers, acts, wantedLogs }) => {
      const native = transactions.flatMap(nativeTransfer)
      return { header, transactions, native, tokens: transfers, acts, wantedLogs }
    }),
  )
}

type Lack = ReturnType<typeof nodeError>

/**
 * Notes to within half of `checkMs` that the node has given a block, so that what is stored about
 * it rarely changes, and no node is checked that gives blocks with each tick. Not of a node with a
 * quiet trouble: the scan may not ask it again what it has failed at, so checks do, until it is
 * well.
 */
function noteGiven({ pool: { clock } }: Session, node: TronNode): void {
  const now = clock.now()
  if (hasQuietTrouble(node, now)) return
  if (!isAhead(node.givenAt + checkMs / 2, checkMs / 2, now)) node.givenAt = now
}

/**
 * The error of a node that gives the logs of none of these blocks; null if it gives some. A single
 * block may have too many logs for a reply: then the node is to blame only if it does not give
 * those of the block before, either.
 */
async function lackOfLogs(
  session: Session,
  node: TronNode,
  blocks: readonly { readonly block: ParsedBlock; readonly lack: Lack | null; readonly transfers: unknown }[],
): Promise<NodeError | null> {
  const [first] = blocks
  if (first === undefined || blocks.some(({ lack, transfers }) => lack === null && transfers !== null)) return null
  if (first.lack !== null) return first.lack.error
  const { parentHash } = first.block.header
  const before =
    blocks.length > 1 ? ok(true) : await askOne(session, node, logsCall(parentHash), (reply) => ok(isTooLarge(reply)))
  return before.ok && !before.value ? null : nodeError('too-large', 'the logs of each block would be too much').error
}

/** The blocks before the first one that the node lacks. If that is the first block, the error. */
function untilLack<T extends { readonly lack: Lack | null }>(blocks: readonly T[]): Result<readonly T[], NodeError> {
  const end = blocks.findIndex(({ lack }) => lack !== null)
  return (end === 0 ? blocks[0]?.lack : null) ?? ok(end === -1 ? blocks : blocks.slice(0, end))
}

/** Records and returns the error of a node that lacks something of a final block. */
function recordLack(session: Session, node: TronNode, service: NodeService, lack: Lack) {
  recordError(session, node, service, lack.error)
  return lack
}

/**
 * The error of a block that the clock rules out; null if there is none. With the error an alarm
 * about the node is raised, because no honest node shows such a block.
 */
function findImplausible(session: Session, node: TronNode, blocks: readonly ParsedBlock[], final: Header) {
  const { pool } = session
  const now = pool.clock.now()
  const [why] = blocks.flatMap(({ header }) => whyImplausible(header, final, now) ?? [])
  if (why === undefined) return null
  const lie = nodeError('bad-answer', why)
  recordError(session, node, 'api', lie.error)
  pool.raiseAlarm('node-lies', { node: node.number }, { ...fieldsOf(node), why })
  return lie
}

/**
 * Reads at most `max` blocks of a node's HTTP API from `from` on. They end before the first
 * malformed block.
 */
export async function readApiBlocks(
  session: Session,
  node: TronNode,
  from: number,
  max: number,
  known: ReadTransactions = new Map(),
): NodeResult<readonly ParsedBlock[]> {
  const body = { startNum: from, endNum: from + max }
  const read = await askApi(session, node, '/wallet/getblockbylimitnext', body, (value, bytes) => {
    const parsed = parseBlocks(value, from, max, known)
    if (!parsed.ok) return nodeError('bad-answer', parsed.error)
    const { blocks, fault } = parsed.value
    if (fault !== null) session.pool.raiseAlarm('node-lies', { node: node.number }, { ...fieldsOf(node), why: fault })
    if (blocks.length === 0 && fault !== null) return nodeError('bad-answer', fault)
    if (blocks.length > 0) node.blockBytes = bytes / blocks.length
    return ok(blocks)
  })
  return needed(read)
}

/** Reads the logs in a reply; null if there are too many for one reply. */
function parseLogsReply(reply: RpcReply, block: ParsedBlock): Result<readonly Log[] | null, NodeError> {
  if (isTooLarge(reply)) return ok(null)
  // The HTTP API has the block, but the server that answers JSON-RPC behind the same URL does not
  // (PROTOCOL.md, Log queries).
  if (reply.kind === 'error' && reply.code === -32602) {
    return nodeError('behind', `its JSON-RPC lacks block ${block.header.height} of its HTTP API`)
  }
  return needed(parseResult(reply, `logs of ${block.header.height}`, (value) => parseBlockLogs(value, block)))
}

/** The txids of the transactions in the block that these addresses have sent. */
function sentBy(owners: ReadonlySet<Address>, { transactions }: ParsedBlock): ReadonlySet<Txid> {
  if (owners.size === 0) return new Set()
  const isSent = ({ contract }: BlockTransaction) =>
    contract !== null && contract.owner !== null && owners.has(contract.owner)
  return new Set(transactions.filter(isSent).map(({ txid }) => txid))
}

function nativeTransfer({ txid, result, contract }: BlockTransaction): readonly ChainTransfer[] {
  const { owner, target, amount } = contract ?? { owner: null, target: null, amount: null }
  if (result !== successResult || owner === null || target === null || amount === null) return []
  return [{ txid, position: 0, asset: nativeAsset, from: owner, to: target, amount }]
}

/** Whether the transaction can have logs. */
export function isCall({ result, contract }: BlockTransaction): boolean {
  return result === successResult && (contract === null || callTypes.has(contract.type))
}

/**
 * Whether the transaction did something that we cannot read in its bytes, although java-tron could.
 */
export function isUnreadable({ result, contract }: BlockTransaction): boolean {
  return result === successResult && contract === null
}

/**
 * A node that does not keep the results of a block, or of any block, replies `[]` in place of logs
 * (PROTOCOL.md, Log queries), and null in place of receipts. So if a final block has calls but no
 * log (`isSuspect`), one call must have a receipt. Returns the error of each block without, by the
 * index of the block; an empty list if no receipt was needed. The receipt may name another block:
 * the scan itself notices another chain.
 */
async function findLacks(
  session: Session,
  node: TronNode,
  blocks: readonly { readonly block: ParsedBlock; readonly isSuspect: boolean }[],
): NodeResult<readonly (Lack | null)[]> {
  const lacks: (Lack | null)[] = blocks.map(() => null)
  const suspects = blocks.flatMap(({ block, isSuspect }, i) => {
    const txid = isSuspect ? block.transactions.find(isCall)?.txid : undefined
    return txid === undefined ? [] : [{ i, txid, header: block.header }]
  })
  const [suspect] = suspects
  if (suspect === undefined) return ok([])
  node.receiptAsked = suspect.txid
  const calls = suspects.map(({ txid }) => receiptCall(txid))
  const read = await askRpc(session, node, calls, (reply, at) => {
    const asked = suspects[at]
    if (asked === undefined) throw new Error('a reply without a call')
    const { i, txid, header } = asked
    const receipt = readReceipt(reply, txid, null)
    if (!receipt.ok && receipt.error.kind !== 'no-receipt') return receipt
    if (!receipt.ok) {
      lacks[i] = nodeError('no-receipt', `${receipt.error.detail} of block ${header.height}`)
      return ok(null)
    }
    // If several nodes must agree, another node shows that logs are missing.
    const hasLogs =
      receipt.value === null || (receipt.value.logs.length > 0 && receipt.value.block.hash === header.hash)
    if (!hasLogs || session.pool.quorum > 1) return ok(null)
    return nodeError('bad-answer', `no logs of block ${header.height}, and a receipt with logs`)
  })
  return read.ok ? ok(lacks) : read
}

/**
 * Reads the receipt of a transaction of a final block; null if the receipt is too large for a
 * reply.
 */
export function readReceipt(
  reply: RpcReply,
  txid: Txid,
  hash: BlockRef['hash'] | null,
): Result<ParsedReceipt | null, NodeError> {
  if (isTooLarge(reply)) return ok(null)
  // The block is final, so a node without the receipt does not keep receipts, or not those of this
  // block (PROTOCOL.md, Receipts).
  if (reply.kind === 'result' && reply.value === null) return nodeError('no-receipt', 'no receipt of a call')
  return needed(parseResult(reply, 'a receipt', (value) => parseReceipt(value, txid, hash)))
}
