import type { BlockHeight, BlockRef, Header, Txid } from '../chain/block.ts'
import {
  type BlockReading,
  type ChainResult,
  type ChainTransfer,
  type IssuerAct,
  type ReadBlock,
  readBlocksMax,
  type Tail,
} from '../chain/chain.ts'
import { err, ok } from '../common/result.ts'
import { agreeByQuorum, failureOf, firstAnswer, type QuorumVerdict, type Vote } from './agreement.ts'
import { alarmTextMax, blockBytesAtFirst, nodeMsMin, queryBytes, singleBlocksMax } from './limits.ts'
import { demote, type Pool, type ServiceHealth, type Session, type TronNode, takesNoBatches } from './node.ts'
import { isCall, isUnreadable, type NodeBlock, readNodeBlocks } from './node-blocks.ts'
import { meanings, type NodeError } from './node-errors.ts'
import { type ReadTransactions, successResult } from './parse/block.ts'
import { renderActs } from './parse/issuer.ts'

/**
 * The text on which nodes must agree about a block: its hashes and time, and one line for each
 * transaction, each relevant token transfer, and each act of an issuer.
 */
export function blockVote(block: NodeBlock): Vote<NodeBlock> {
  const { header, transactions, native, tokens, acts } = block
  const amounts = new Map(native.map(({ txid, to, amount }) => [txid, ` ${to} ${amount}`]))
  const lines = transactions.map(({ txid, result, contract }) => {
    return `${txid} ${result} ${contract === null ? 'unreadable' : contract.owner}${amounts.get(txid) ?? ''}`
  })
  // The time is included, because we do not compute the header's hash, and transactions expire by
  // this time.
  const { hash, parentHash, timestamp } = header
  const canonicalText = [`hash ${hash}`, `parent ${parentHash}`, `time ${timestamp}`, ...lines].join('\n')
  return { about: { height: header.height }, canonicalText, logs: tokens && renderLogs(tokens, acts), value: block }
}

/** The text on which nodes must agree about logs: one line for each transfer and each act. */
export const renderLogs = (transfers: readonly ChainTransfer[], acts: readonly IssuerAct[]) =>
  `${renderTransfers(transfers)}\n${renderActs(acts)}`

function renderTransfers(transfers: readonly ChainTransfer[]): string {
  const lines = transfers.map(({ txid, position, asset, from, to, amount }) => {
    return `${txid} ${position} ${asset.kind === 'native' ? 'TRX' : asset.contract} ${from} ${to} ${amount}`
  })
  return lines.join('\n')
}

/**
 * The number of blocks that fit into one reply of this node, estimated from its newest reply. A
 * node without a reply yet is assumed to have blocks as small as the smallest known ones.
 */
function blocksOfReply({ nodes, clock }: Pool, node: TronNode): number {
  const known = nodes.flatMap(({ blockBytes }) => blockBytes ?? [])
  const bytes = node.blockBytes ?? (known.length > 0 ? Math.min(...known) : blockBytesAtFirst)
  const most = takesNoBatches(node, clock.now()) ? Math.min(node.blocksMax, singleBlocksMax) : node.blocksMax
  return Math.min(Math.max(Math.floor(queryBytes / bytes), 1), most)
}

/** The number of blocks to ask all nodes for. */
const blocksOfQuestion = (pool: Pool) => lengthForQuorum(pool, (node) => blocksOfReply(pool, node))

/**
 * The length of a question to all nodes: as much as `quorum` of them can give (`lengthAt`), so that
 * one node with short replies does not slow the others. Nodes that rest or are behind count only if
 * the quorum needs them.
 */
export function lengthForQuorum({ nodes, quorum, clock }: Pool, lengthAt: (node: TronNode) => number): number {
  const now = clock.now()
  const isAwake = (health: ServiceHealth) => health.restUntil <= now && health.behindUntil <= now
  const awake = nodes.filter(({ rpc, api }) => isAwake(rpc) && isAwake(api))
  const asked = awake.length < quorum ? nodes : awake
  const lengths = asked.map(lengthAt).sort((a, b) => b - a)
  return lengths[quorum - 1] ?? 1
}

/**
 * A query for a range of blocks to one node: how many blocks, the time that it took, and what was
 * then left of the time allowed to this node.
 */
interface AskedRange {
  readonly length: number
  readonly usedMs: number
  readonly leftMs: number
}

/**
 * Learns from a query how many blocks the node can give. Only a query for `blocksMax` blocks can
 * show that the node can give more. A caught-up scan asks for fewer, which shows nothing.
 */
function learnLength(
  pool: Pool,
  node: TronNode,
  { length, usedMs, leftMs }: AskedRange,
  error: NodeError | null,
): void {
  const fitsTwice = error === null && length >= node.blocksMax && usedMs <= leftMs
  if (fitsTwice) node.blocksMax = Math.min(node.blocksMax * 2, readBlocksMax)
  else if (error !== null && isAboutLength(error)) shorten(node, length)
  pool.remember()
}

/** A query for a single block cannot be shorter, so its failure changes nothing. */
function shorten(node: TronNode, length: number): void {
  if (length > 1) node.blocksMax = Math.min(node.blocksMax, Math.ceil(length / 2))
}

const isAboutLength = ({ kind }: NodeError) => !['nothing', 'first'].includes(meanings[kind].query)

/**
 * Reads final blocks agreed by `quorum` nodes. `Chain.finalBlocks` says what is returned
 * (PROTOCOL.md, Scanner rules).
 */
export async function readFinalBlocks(
  session: Session,
  from: BlockHeight,
  to: BlockHeight,
): ChainResult<readonly BlockReading[]> {
  await session.pool.ready // `blocksOfQuestion` needs the sizes of earlier replies, which are in the stored memory
  const found = await agreeOrPass(session, from, to)
  if (!found.ok) return found
  const blocks = found.value.map((verdict, i): BlockReading => {
    const height = (from + i) as BlockHeight // safe: an integer above a height
    if (!('value' in verdict)) return { kind: 'not-agreed', height }
    raiseUnreadable(session.pool, verdict.value)
    return toReadBlock(verdict.value)
  })
  return ok(blocks)
}

/**
 * Raises an alarm for transactions on which nodes agree, and whose bytes hash to their txids, but
 * which this service cannot parse.
 */
function raiseUnreadable(pool: Pool, { header: { height }, transactions }: NodeBlock): void {
  const txids = transactions.filter(isUnreadable).map(({ txid }) => txid)
  if (txids.length === 0) return
  pool.raiseAlarm('transaction-unreadable', { height }, { height, txids: txids.join(' ').slice(0, alarmTextMax) })
}

type Verdicts = readonly QuorumVerdict<NodeBlock>[]

/** How often a block must be refused just after the newest one was given, until it is passed. */
const contradictionsMax = 2

/**
 * The verdicts on the blocks from `from` on. After some errors (`rate-limited`, `unfit`) a node
 * gets no request for a while, so `agreeOnBlocks` cannot try later blocks. Therefore a block that
 * could not be read is remembered, and every second time the newest block is asked for before it.
 * If nodes give that one and refuse this one, twice in a row, the cause is this block, which is
 * passed.
 */
async function agreeOrPass(session: Session, from: BlockHeight, to: BlockHeight): ChainResult<Verdicts> {
  const { pool, quota, refused } = session
  const { tries, contradictions } = pool.stuck?.height === from ? pool.stuck : { tries: 0, contradictions: 0 }
  const isNewestFirst = tries % 2 === 1 && from < to
  const isNewestGiven = isNewestFirst && (await readAlone(session, to)) !== null
  const length = isNewestGiven ? 1 : Math.min(blocksOfQuestion(pool), to - from + 1)
  const found = await agreeOnBlocks(session, from, length, to)
  // A rescan needs no such memory: it waits longer each time, and no other block waits for it.
  const isRefused = !found.ok && found.error.kind === 'no-answer' && refused.has(from)
  if (found.ok && pool.stuck?.height === from) pool.stuck = null
  if (quota.kind === 'leftover' || !isRefused) return found
  const inARow = isNewestFirst && !isNewestGiven ? 0 : contradictions + (isNewestGiven ? 1 : 0)
  if (inARow >= contradictionsMax) return ok([{ kind: 'differs' }])
  for (const node of pool.nodes) shorten(node, length) // so that the refused block is soon asked for alone
  pool.stuck = { height: from, tries: tries + 1, contradictions: inARow }
  pool.remember()
  return found
}

/**
 * How far above an unreadable block other blocks are tried, before the newest one. There are
 * several, because nodes can lack a range of blocks.
 */
const laterBlocks = [1, 8, 64] as const

const lacksFirst = ({ kind }: NodeError) => meanings[kind].query === 'first'
/**
 * Whether a node answered that it does not give the blocks, or gave something that is none. Without
 * one of them it may give the others.
 */
const refusesOneBlock = (error: NodeError) =>
  lacksFirst(error) || ['content', 'size'].includes(meanings[error.kind].query)
/**
 * Whether the cause of an error can be one of the blocks. A node that is silent or out of reach may
 * be so because of a block, too.
 */
const canBeOneBlock = (error: NodeError) => refusesOneBlock(error) || meanings[error.kind].query === 'perhaps'

/**
 * The verdicts on the blocks from `from` on: at least one, at most `count` unless blocks are
 * passed. A query that fails because of its length or of a block is halved, so that in the end only
 * the unreadable block lacks agreement. A query is also halved if nodes differ about its first
 * block and another node refused: its vote on that block decides. After a node that is silent
 * nothing is halved, since each look would cost its time again. `to` is the highest final block.
 */
async function agreeOnBlocks(session: Session, from: BlockHeight, count: number, to: number): ChainResult<Verdicts> {
  // the first verdicts in which votes were missing; they count if fewer blocks bring no agreement
  let disputed: Verdicts | null = null
  let next = 0
  for (let length = count; ; length = next) {
    const { verdicts, errors } = await agreeOnRange(session, from, length)
    const failed = [...errors.values()]
    next = failed.some(lacksFirst) ? 1 : Math.ceil(length / 2)
    const isOfBlock = failed.some(canBeOneBlock)
    const isRefused = failed.some(refusesOneBlock)
    // how many of the first blocks are agreed; -1: all of them
    const agreed = verdicts.findIndex((verdict) => !('value' in verdict))
    if (agreed > 0 && isRefused) return ok(verdicts.slice(0, agreed))
    if (verdicts.length > 0 && (agreed !== 0 || !isRefused)) return ok(verdicts)
    disputed ??= verdicts.length > 0 ? verdicts : null
    const hasTime = session.deadline - session.pool.clock.now() >= nodeMsMin
    const failure = failureOf(session, errors)
    if (disputed !== null) {
      if (!hasTime || !isRefused) return ok(disputed)
      if (length > 1) continue
    } else {
      if (failure.kind !== 'no-answer' && failure.kind !== 'out-of-time') return err(failure)
      if (length > 1 && (isOfBlock || failed.some(({ kind }) => meanings[kind].query === 'time'))) {
        if (hasTime) continue
        return err({ ...failure, kind: 'out-of-time' }) // a query that was too long says nothing about a block
      }
      if (length > 1 || failure.kind === 'out-of-time' || !isOfBlock) return err(failure)
    }
    const passed = await passUnreadable(session, from, to)
    if (passed !== null) return ok(passed)
    return disputed === null ? err(failure) : ok(disputed)
  }
}

/**
 * Called if the block `from` cannot be read. If nodes can give a later block, they work, and the
 * blocks before it are passed: `from`, and those up to the last later one that could not be read
 * either. Null if no later block can be read: then the nodes are to blame, not the block.
 */
async function passUnreadable(session: Session, from: BlockHeight, to: number): Promise<Verdicts | null> {
  let passed = 1
  for (const distance of new Set([...laterBlocks.filter((one) => from + one < to), to - from])) {
    if (distance < 1) return null
    const other = await readAlone(session, from + distance)
    if (other !== null) {
      const first = await readAlone(session, from)
      if (first !== null) return [first] // the nodes were down for a moment
      const gaps = Array.from({ length: passed }, () => ({ kind: 'differs' }) as const)
      return distance === passed ? [...gaps, other] : gaps
    }
    if (session.pool.clock.now() >= session.deadline) return null
    passed = distance + 1
  }
  return null
}

/** The verdict on one block if it can be read; else null. */
async function readAlone(session: Session, height: number) {
  const { verdicts } = await agreeOnRange(session, height as BlockHeight, 1) // safe: callers pass a height
  const [verdict] = verdicts
  return verdict !== undefined && 'value' in verdict ? verdict : null
}

/**
 * The verdicts on `length` blocks from `from` on, up to the first block that too few nodes know, or
 * that is not a child of the one before.
 */
async function agreeOnRange(session: Session, from: BlockHeight, length: number) {
  const known: ReadTransactions = new Map()
  const { verdicts, errors } = await agreeByQuorum(session, 'money', async (node, nodeSession) => {
    // While a request waits for its turn, `until` moves with the clock, so the wait does not count
    // as used time.
    const left = () => nodeSession.nodeDeadline.until - session.pool.clock.now()
    const before = left()
    const blocks = await readNodeBlocks(nodeSession, node, from, length, { known })
    const asked = { length, usedMs: before - left(), leftMs: left() }
    learnLength(session.pool, node, asked, blocks.ok ? null : blocks.error)
    if (!blocks.ok && blocks.error.kind !== 'limited' && blocks.error.kind !== 'out-of-time') session.refused.add(from)
    return blocks.ok ? ok(blocks.value.map(blockVote)) : blocks
  })
  // We cannot learn the right length from a node that answers nothing, so we halve its limit.
  // Otherwise a node that the quorum needs would fail for ever at a length that is too long for it.
  if ([...errors.values()].some(isAboutLength) && verdicts.every(({ kind }) => kind === 'missing')) {
    for (const node of errors.keys()) shorten(node, length)
    session.pool.remember()
  }
  const end = verdicts.findIndex((verdict, i) => {
    const before = verdicts[i - 1]
    if (verdict.kind === 'missing') return true
    if (before === undefined || !('value' in before) || !('value' in verdict)) return false
    return verdict.value.header.parentHash !== before.value.header.hash
  })
  // A node that failed with `too-large` could not give blocks that other nodes have given. From now
  // on those nodes are asked before it.
  const [first] = verdicts
  if (first !== undefined && 'value' in first) {
    for (const [node, { kind }] of errors) if (kind === 'too-large') demote(node, session.pool.clock)
  }
  return { verdicts: end === -1 ? verdicts : verdicts.slice(0, end), errors }
}

/** Reads the blocks after `known` from one node. `Chain.tail` says what is returned. */
export async function readNodeTail(session: Session, known: BlockRef, head: Header): ChainResult<Tail> {
  const from = (known.height + 1) as BlockHeight // safe: an integer above a height
  return firstAnswer(session, 'money', async (node, nodeSession) => {
    const read = await readNodeBlocks(nodeSession, node, from, blocksOfReply(session.pool, node), { final: head })
    const isEnd = !read.ok && read.error.kind === 'behind' // the known block is the newest one
    if (!read.ok && !isEnd) return read
    const blocks = read.ok ? read.value : []
    const follows = (blocks[0]?.header.parentHash ?? known.hash) === known.hash
    const latest = blocks.at(-1)?.header.height ?? known.height
    return ok({ node: node.number, latest, follows, blocks: follows ? blocks.map(toReadBlock) : [] })
  })
}

function toReadBlock({ header, transactions, native, tokens, acts }: NodeBlock): ReadBlock {
  const transfersOf = Map.groupBy([...native, ...(tokens ?? [])], ({ txid }) => txid)
  return {
    kind: 'read',
    header,
    transfers: transactions.flatMap(({ txid }) => transfersOf.get(txid) ?? []),
    acts,
    sent: transactions.flatMap(({ txid, contract, result }) => {
      const owner = contract?.owner ?? null
      return owner === null ? [] : [{ txid, owner, succeeded: result === successResult, result }]
    }),
    callsToRead: tokens === null ? orderCalls(transactions) : null,
  }
}

/**
 * The calls in a block, those that look like a token transfer first: whoever fills a block with
 * junk delays no plain deposit. The bytes alone decide.
 */
function orderCalls(transactions: NodeBlock['transactions']): readonly Txid[] {
  const calls = transactions.filter(isCall)
  return [...calls.filter(({ mayTransfer }) => mayTransfer), ...calls.filter(({ mayTransfer }) => !mayTransfer)].map(
    ({ txid }) => txid,
  )
}
