import { type BlockHeight, blockSeconds, type Header } from '../../worker/chain/block.ts'
import { nodeName } from '../../worker/chain/node-name.ts'
import { type NodeState, nodeStates } from '../../worker/common/node-states.ts'
import { ok } from '../../worker/common/result.ts'
import { genesisHashes, requireFit } from '../../worker/tron/ask.ts'
import { readPeers } from '../../worker/tron/check-nodes.ts'
import { encodeCalls } from '../../worker/tron/json-rpc.ts'
import { labelOf, type Pool, type Session, type TronNode } from '../../worker/tron/node.ts'
import { isCall, type NodeBlock, readNodeBlocks } from '../../worker/tron/node-blocks.ts'
import type { NodeError, NodeResult } from '../../worker/tron/node-errors.ts'
import { stateOfError } from '../../worker/tron/node-health.ts'
import { isObject } from '../../worker/tron/parse/fields.ts'
import { postJson } from '../../worker/tron/transport.ts'
import { hostInUrl } from '../deployed-health.ts'
import { atNode, sessionOf } from '../node-pool.ts'
import { publicNetworks } from '../place.ts'
import { askQuestions, questionTexts } from './ask-questions.ts'
import { type CheckResult, failed, passed, warned } from './check-settings.ts'

/** Time limit for all checks of one node together. */
export const nodeMs = 30_000
/**
 * The time of the newest block may differ from the clock of this machine by this much; a block is
 * made every 3 s.
 */
const clockDifferenceMsMax = 30_000
/** Finality is normally about 54 s behind the newest block (PROTOCOL.md, Finality). */
const finalityLagMsMax = 180_000
/**
 * The newest block of a node may be this many blocks behind that of another node. Healthy nodes
 * differ by one or two.
 */
const behindBlocksMax = 20
/** The number of newest final blocks to read; fewer if a reply is too large. */
const blockCounts = [20, 5, 1]

/**
 * Only the port of the full state has this method, which changes nothing: it returns an unsigned
 * transaction.
 */
const fullStateCall = {
  method: 'buildTransaction',
  params: [{ from: `0x${'0'.repeat(39)}1`, to: `0x${'0'.repeat(39)}2`, value: '0x1' }],
}

export interface CheckedNode {
  readonly node: TronNode
  readonly results: readonly CheckResult[]
  /** The node's newest block, or null if the node cannot be used for credits. */
  readonly newest: NewestBlock | null
}

/** Height and time of a node's newest block; estimates if the node shows only final state. */
interface NewestBlock {
  readonly height: number
  readonly timestamp: number
}

/**
 * Checks both services of a node, up to the first fault that makes further checks meaningless. A
 * node with such a fault cannot be used for credits.
 */
export async function checkNode(pool: Pool, chainId: string, node: TronNode): Promise<CheckedNode> {
  const session = atNode(sessionOf(pool, nodeMs), node)
  const results: CheckResult[] = []
  const name = nameOf(node)
  const add = (result: CheckResult) => results.push({ ...result, text: `${name}: ${result.text}` })
  const fail = (what: string, error: NodeError) =>
    add(withState(stateOfError(error), `${what}: ${describeNodeError(error)}`, error.remedy))
  const stop = (why: string) => {
    add(failed(why))
    return { node, results, newest: null }
  }

  const { rpcFault, answered, refused, heads } = await askQuestions(session, node)
  if (rpcFault?.kind === 'wrong-chain') return stop(`${rpcFault.detail}, not ${chainId} (TRON_CHAIN_ID)`)
  if (answered.length > 0) add(passed(`answers ${answered.map((one) => questionTexts[one]).join('; ')}`))
  if (rpcFault !== null) fail('does not answer JSON-RPC', rpcFault)
  for (const { question, error } of refused) fail(`does not answer ${questionTexts[question]}`, error)
  if (heads === null || refused.length > 0) return { node, results, newest: null }
  const fit = await requireFit(session, node)
  if (!fit.ok) {
    fail(fit.error.kind === 'unfit' ? 'nothing can be credited' : 'cannot be used', fit.error)
    return { node, results, newest: null }
  }
  const network = publicNetworks.get(chainId)
  const origin = genesisHashes.has(pool.chainId) ? `is that of ${network}` : 'ends in the chain id'
  add(passed(`chain id ${chainId}, and the hash of block 0 ${origin}`))
  const { latest, finalized } = heads
  add(checkFinality(latest, finalized))
  const isFinalOnly = await servesFinalStateOnly(session, node)
  const newest = isFinalOnly ? hiddenNewest(latest, finalized) : latest
  if (isFinalOnly) {
    const late = `so that deposits are credited about ${seconds(newest.timestamp - latest.timestamp)} late`
    add(warned(`shows final state only (a solidity or PBFT port), ${late}: use the port of its full state`))
  }
  const clock = checkClock(newest.timestamp - pool.clock.now(), network !== undefined)
  const isOld = clock.level !== 'ok' && newest.timestamp < pool.clock.now()
  if (isOld && (await readPeers(session, node)) === 0n) {
    add(withState('no-peers', clock.text))
    return { node, results, newest: null }
  }
  add(clock)

  const api = `HTTP API (${hostInUrl(node.endpoint.api.url)})`
  const blocks = await readNewest(session, node, finalized.height)
  if (!blocks.ok) {
    fail(`${api}, and logs: the newest final blocks`, blocks.error)
    return { node, results, newest: null }
  }
  const last = blocks.value.at(-1)?.header
  if ((last?.height ?? 0) < finalized.height)
    return stop(`${api}: it does not have block ${finalized.height}, which is final for the JSON-RPC`)
  if (last !== undefined && last.hash !== finalized.hash)
    return stop(`${api}: another chain or node: it has other blocks than the JSON-RPC`)
  for (const result of checkBlocks(blocks.value, api)) add(result)
  return { node, results, newest }
}

/** How lines name a node: its number, with its configured name or a part of its host. */
export const nameOf = (node: TronNode) =>
  node.endpoint.name === null ? nodeName(node.number, node.endpoint) : labelOf(node)

/**
 * The estimated newest block of a node that shows only final state. Such a node hides newer blocks,
 * which are about as far ahead of its `latest` as its `latest` is ahead of its `finalized`.
 */
function hiddenNewest(latest: Header, finalized: Header): NewestBlock {
  return {
    height: 2 * latest.height - finalized.height,
    timestamp: 2 * latest.timestamp - finalized.timestamp,
  }
}

/**
 * The usable nodes that are far behind the newest block of all nodes, each with its fault. They may
 * have no peers, and cannot be used.
 */
export async function findBehind(
  pool: Pool,
  checked: readonly CheckedNode[],
): Promise<ReadonlyMap<TronNode, CheckResult>> {
  const usable = checked.flatMap(({ node, newest }) => (newest === null ? [] : [{ node, newest }]))
  const [first] = usable.toSorted((a, b) => b.newest.timestamp - a.newest.timestamp)
  const behind = new Map<TronNode, CheckResult>()
  if (first === undefined) return behind
  for (const { node, newest } of usable) {
    const blocks = first.newest.height - newest.height
    const ms = first.newest.timestamp - newest.timestamp
    if (blocks <= behindBlocksMax && ms <= behindBlocksMax * blockSeconds * 1000) continue
    const peers = await readPeers(atNode(sessionOf(pool, nodeMs), node), node)
    const text = `its newest block ${newest.height} is ${blocks} blocks (${seconds(ms)}) behind that of ${nameOf(first.node)}`
    const fault = withState(peers === 0n ? 'no-peers' : 'behind', text)
    behind.set(node, { ...fault, text: `${nameOf(node)}: ${fault.text}` })
  }
  return behind
}

/**
 * A fault of a node, which begins with the word for its state. `remedy`: what else to do than what
 * the state asks for.
 */
function withState(state: NodeState, text: string, remedy?: string): CheckResult {
  const known = nodeStates[state]
  return failed(`${known.word}: ${text}`, remedy ?? known.remedy ?? undefined)
}

const noHistory = 'it has no transaction history (storage.transHistory.switch), or lacks that of this block'

/** The detail of a node error, with its remedy. */
function describeNodeError({ kind, detail, remedy }: NodeError): string {
  const more = kind === 'no-receipt' ? noHistory : remedy
  return more === undefined ? detail : `${detail}: ${more}`
}

/**
 * Whether this is java-tron's solidity or PBFT port. False if the answer does not show it
 * (PROTOCOL.md, Block tags).
 */
async function servesFinalStateOnly({ pool, deadline }: Session, { endpoint }: TronNode): Promise<boolean> {
  const reply = await postJson(pool.network, endpoint.rpc, encodeCalls([fullStateCall], 1, true), deadline, ok)
  const error = reply.ok && isObject(reply.value) ? reply.value.error : null
  const message = isObject(error) ? error.message : null
  return typeof message === 'string' && / not available in (SOLIDITY|PBFT)$/.test(message)
}

/**
 * Reads the newest final blocks as the scan does; none if only block 0 is final. The scan goes on
 * without the blocks that a node lacks. Here they are its error, because what arrives now could not
 * be credited.
 */
async function readNewest(session: Session, node: TronNode, to: BlockHeight): NodeResult<readonly NodeBlock[]> {
  for (const count of blockCounts) {
    const from = Math.max(1, to - count + 1) as BlockHeight // safe: a height, at least 1
    if (to < from) break
    const blocks = await readNodeBlocks(session, node, from, to - from + 1)
    if (blocks.ok) return readLacked(session, node, blocks.value, to)
    if (blocks.error.kind !== 'too-large' || count === 1) return blocks
  }
  return ok([])
}

/** These blocks, or the error of the block after them, if it is final and the node lacks it. */
async function readLacked(
  session: Session,
  node: TronNode,
  blocks: readonly NodeBlock[],
  to: BlockHeight,
): NodeResult<readonly NodeBlock[]> {
  const last = blocks.at(-1)?.header.height ?? to
  if (last >= to) return ok(blocks)
  const next = await readNodeBlocks(session, node, (last + 1) as BlockHeight, 1) // safe: the height after a block's
  return next.ok ? ok(blocks) : next
}

/**
 * Yields whether the node gives the bytes of transactions, and the history (logs or receipts) of
 * calls, in these blocks. Blocks without transactions or calls prove nothing, which is a warning.
 */
function* checkBlocks(blocks: readonly NodeBlock[], api: string): Generator<CheckResult, void> {
  const transactions = blocks.flatMap((block) => block.transactions)
  const unchecked = 'could not be checked, because the last final blocks have no'
  if (transactions.length > 0)
    yield passed(`${api}: the bytes of ${transactions.length} transactions hash to their txids`)
  else yield warned(`${api}: has the final blocks; bytes ${unchecked} transaction`)
  if (transactions.some(isCall)) yield passed('history: blocks with calls have their logs or receipts')
  else yield warned(`history: ${unchecked} call of a contract`)
}

function checkFinality(latest: Header, finalized: Header): CheckResult {
  const lagMs = latest.timestamp - finalized.timestamp
  const lag = `${latest.height - finalized.height} blocks (${seconds(lagMs)})`
  const text = `final up to block ${finalized.height}, ${lag} behind the newest block`
  if (lagMs <= finalityLagMsMax) return passed(text)
  return failed(`${text} (limit ${seconds(finalityLagMsMax)}): finality has stalled on the chain or on this node`)
}

/**
 * `aheadMs`: how far the newest block is ahead of the clock of this machine. On a private chain,
 * which may have its own time, a fault is a warning.
 */
function checkClock(aheadMs: number, isPublic: boolean): CheckResult {
  const difference = aheadMs > 0 ? `${seconds(aheadMs)} ahead of` : `${seconds(-aheadMs)} behind`
  const text = `the newest block is ${difference} the clock of this machine (limit ${seconds(clockDifferenceMsMax)})`
  if (Math.abs(aheadMs) <= clockDifferenceMsMax) return passed(text)
  const behind = 'the node is behind or shows final state only, or the clock is fast'
  return (isPublic ? failed : warned)(`${text}: ${aheadMs > 0 ? 'the clock is slow' : behind}`)
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`
