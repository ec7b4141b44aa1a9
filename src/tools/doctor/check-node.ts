import type { BlockHeight, Header } from '../../chain/block.ts'
import { ok } from '../../common/result.ts'
import { askApi, askRpc } from '../../tron/ask.ts'
import { blockCall, encodeCalls, parseResult, versionCall } from '../../tron/json-rpc.ts'
import { batchCallsMax } from '../../tron/limits.ts'
import type { Pool, Session, TronNode } from '../../tron/node.ts'
import { isCall, type NodeBlock, readNodeBlocks } from '../../tron/node-blocks.ts'
import type { NodeError, NodeErrorKind, NodeResult } from '../../tron/node-error.ts'
import { parseBlocks } from '../../tron/parse/block.ts'
import { isObject } from '../../tron/parse/fields.ts'
import { parseBriefBlock } from '../../tron/parse/header.ts'
import { genesisHashes, parseFinalized, requireFit } from '../../tron/probe.ts'
import { postJson } from '../../tron/transport.ts'
import { atNode, sessionOf } from '../node-pool.ts'
import { publicNetworks } from './check-key.ts'
import { type CheckResult, failed, hostInUrl, passed, warned } from './check-result.ts'

/** Milliseconds for all checks of one node together. */
export const nodeMs = 30_000
/** Callers notice a small request that takes longer than this. */
const roundTripMsMax = 1_500
/** Difference between the time of the newest block and the clock of this machine: a block is made every 3 s. */
const clockDifferenceMsMax = 30_000
/** Finality is normally about 54 s behind the newest block (PROTOCOL.md, Finality). */
const finalityLagMsMax = 180_000
/** Blocks that are read, the newest final ones; fewer where a reply of so many is too large. */
const blockCounts = [20, 5, 1]

/** Only the port of the full state has this method, which changes nothing: it returns an unsigned transaction. */
const fullStateCall = {
  method: 'buildTransaction',
  params: [{ from: `0x${'0'.repeat(39)}1`, to: `0x${'0'.repeat(39)}2`, value: '0x1' }],
}

/** Checks one node, up to the first fault that makes further checks meaningless. Then it is not usable for credits. */
export async function checkNode(
  pool: Pool,
  chainId: string,
  node: TronNode,
): Promise<{ readonly results: readonly CheckResult[]; readonly isUsable: boolean }> {
  const { clock } = pool
  const session = atNode(sessionOf(pool, nodeMs), node)
  const results: CheckResult[] = []
  const name = `node ${node.number} (${hostInUrl(node.endpoint.rpc)})`
  const add = ({ level, text }: CheckResult) => results.push({ level, text: `${name}: ${text}` })
  const stop = (why: NodeError | string) => {
    add(failed(typeof why === 'string' ? why : describeNodeError(why)))
    return { results, isUsable: false }
  }

  const version = await readVersion(session, node) // it opens the connection; the next query is measured
  if (!version.ok) {
    const isOther = version.error.kind === 'wrong-chain'
    return stop(isOther ? `${version.error.detail}, not ${chainId} (TRON_CHAIN_ID)` : version.error)
  }
  const network = publicNetworks.get(chainId)
  add(passed(`chain id ${chainId}${network === undefined ? '' : `, ${network}`}`))
  const startedAt = clock.now()
  const heads = await readHeads(session, node)
  if (!heads.ok && heads.error.kind !== 'unfit') return stop(heads.error)
  add(checkLatency(clock.now() - startedAt))
  const fit = await requireFit(session, node)
  if (!fit.ok) return stop(fit.error.kind === 'unfit' ? `${fit.error.detail}: nothing can be credited` : fit.error)
  if (!heads.ok) return stop(heads.error)
  const isKnown = genesisHashes.has(pool.chainId)
  add(passed(isKnown ? `block 0 is that of ${network}` : 'the hash of block 0 ends in the chain id'))
  add(version.value)
  const { latest, finalized } = heads.value
  add(checkFinality(latest, finalized))
  // The newest block of the chain is not shown there: finality is about as far behind it as behind the newest shown one.
  const hiddenMs = (await servesFinalStateOnly(session, node)) ? latest.timestamp - finalized.timestamp : 0
  if (hiddenMs > 0) {
    const late = `so that deposits are credited about ${seconds(hiddenMs)} late`
    add(warned(`shows final state only (a solidity or PBFT port), ${late}: use the port of its full state`))
  }
  add(checkClock(latest.timestamp + hiddenMs - clock.now(), network !== undefined))

  const api = `HTTP API (${hostInUrl(node.endpoint.api)})`
  const fault = await findApiFault(session, node, finalized)
  if (fault !== null) return stop(`${api}: ${fault}`)
  const scanStartedAt = clock.now()
  const blocks = await readNewest(session, node, finalized.height)
  if (!blocks.ok) return stop(`scan: no blocks: ${describeNodeError(blocks.error)}`)
  for (const result of checkBlocks(blocks.value, finalized.height, api, clock.now() - scanStartedAt)) add(result)
  add(checkBatches(clock.now() < node.callsMaxUntil ? node.callsMax : batchCallsMax))
  return { results, isUsable: true }
}

/** What a kind of error means, where its detail alone does not show it. */
const meanings: Partial<Record<NodeErrorKind, string>> = {
  unreachable: 'unreachable',
  'timed-out': 'timeout',
  'rate-limited': 'rate limit',
  'wrong-chain': 'another chain',
}

/** A node error as a hint for the operator. */
export function describeNodeError({ kind, detail }: NodeError): string {
  if (detail === 'HTTP 401') return 'the API key is missing or refused (HTTP 401)'
  const text = meanings[kind] === undefined ? detail : `${meanings[kind]} (${detail})`
  return kind === 'rate-limited' ? `${text}: try again later, or name the variable of an API key in keyVar` : text
}

/** The version, which only its digits show: a hostile node's text could contain a URL or key. */
async function readVersion(session: Session, node: TronNode): NodeResult<CheckResult> {
  const replies = await askRpc(session, node, [versionCall], (reply) => ok(reply))
  if (!replies.ok) return replies
  const [reply] = replies.value
  const text = reply?.kind === 'result' && typeof reply.value === 'string' ? reply.value : ''
  const digits = /^TRON\/v(\d{1,3}(?:\.\d{1,3}){1,3})\//.exec(text)?.[1]
  if (digits !== undefined) return ok(passed(`java-tron ${digits}`))
  // The error of web3_clientVersion on JDK 17 (PROTOCOL.md, JSON-RPC transport).
  if (reply?.kind === 'error' && reply.code === -32001)
    return ok(passed('java-tron of an unknown version: it is not reported on a newer Java than 8'))
  return ok(warned('web3_clientVersion has no version of java-tron'))
}

interface Heads {
  readonly latest: Header
  readonly finalized: Header
}

async function readHeads(session: Session, node: TronNode): NodeResult<Heads> {
  const calls = [blockCall('latest'), blockCall('finalized')]
  const read = await askRpc(session, node, calls, (reply, i) =>
    i === 0 ? parseResult(reply, 'newest block', parseBriefBlock) : parseFinalized(reply),
  )
  if (!read.ok) return read
  const [latest, finalized] = read.value
  if (latest === undefined || finalized === undefined) throw new Error('two replies to two calls')
  return ok({ latest, finalized })
}

/** Whether it is java-tron's solidity or PBFT port. False where the answer does not show it (PROTOCOL.md, Block tags). */
async function servesFinalStateOnly({ pool, deadline }: Session, { endpoint }: TronNode): Promise<boolean> {
  const target = { url: endpoint.rpc, key: endpoint.key }
  const reply = await postJson(pool.network, target, encodeCalls([fullStateCall], 1, true), deadline, ok)
  const error = reply.ok && isObject(reply.value) ? reply.value.error : null
  const message = isObject(error) ? error.message : null
  return typeof message === 'string' && / not available in (SOLIDITY|PBFT)$/.test(message)
}

/** Why the HTTP API is not one to read this block from, or null. It must be the one that the JSON-RPC has. */
async function findApiFault(session: Session, node: TronNode, { height, hash }: Header): Promise<string | null> {
  const body = { startNum: height, endNum: height + 1 }
  const read = await askApi(session, node, '/wallet/getblockbylimitnext', body, (reply) =>
    ok(parseBlocks(reply, height, 1)),
  )
  if (!read.ok) return `not usable: ${describeNodeError(read.error)}`
  const blocks = read.value
  if (!blocks.ok) return `not that of a java-tron: ${blocks.error}`
  if (blocks.value.fault !== null) return `not usable: ${blocks.value.fault}`
  const [block] = blocks.value.blocks
  if (block === undefined) return `it does not have block ${height}, which is final for the JSON-RPC`
  return block.header.hash === hash ? null : 'another chain or node: it has other blocks than the JSON-RPC'
}

/** Reads the newest final blocks as the scan does; none where only block 0 is final. */
async function readNewest(session: Session, node: TronNode, to: BlockHeight): NodeResult<readonly NodeBlock[]> {
  for (const count of blockCounts) {
    const from = Math.max(1, to - count + 1) as BlockHeight // safe: a height, at least 1
    if (to < from) break
    const blocks = await readNodeBlocks(session, node, from, to - from + 1)
    if (blocks.ok || blocks.error.kind !== 'too-large' || count === 1) return blocks
  }
  return ok([])
}

function* checkBlocks(
  blocks: readonly NodeBlock[],
  to: BlockHeight,
  api: string,
  ms: number,
): Generator<CheckResult, void> {
  const end = blocks.at(-1)?.header.height
  if (end !== undefined && end < to) yield failed(`${api}: block ${end + 1} cannot be read: it would be a gap`)
  const transactions = blocks.flatMap((block) => block.transactions)
  if (transactions.length === 0) {
    yield warned(`${api}: has the final blocks; the last ones have no transaction, so that bytes could not be checked`)
  } else yield passed(`${api}: the bytes of ${transactions.length} transactions hash to their txids`)
  const calls = transactions.filter(isCall).length
  if (calls === 0)
    yield warned('history: could not be checked, because the last final blocks have no call of a contract')
  else yield passed('history: a block with calls has their logs or receipts')
  yield passed(`scan: ${blocks.length} blocks, ${transactions.length} transactions, ${calls} calls in ${ms} ms`)
}

function checkLatency(ms: number): CheckResult {
  if (ms <= roundTripMsMax) return passed(`answers in ${ms} ms`)
  return warned(`answers in ${ms} ms (limit ${roundTripMsMax} ms): callers wait for it`)
}

function checkFinality(latest: Header, finalized: Header): CheckResult {
  const lagMs = latest.timestamp - finalized.timestamp
  const lag = `${latest.height - finalized.height} blocks (${seconds(lagMs)})`
  const text = `final up to block ${finalized.height}, ${lag} behind the newest block`
  if (lagMs <= finalityLagMsMax) return passed(text)
  return failed(`${text} (limit ${seconds(finalityLagMsMax)}): finality has stalled on the chain or on this node`)
}

/** `aheadMs`: how far the time of the newest block is ahead of the clock of this machine. A private chain can have its own time. */
function checkClock(aheadMs: number, isPublic: boolean): CheckResult {
  const difference = aheadMs > 0 ? `${seconds(aheadMs)} ahead of` : `${seconds(-aheadMs)} behind`
  const text = `the newest block is ${difference} the clock of this machine (limit ${seconds(clockDifferenceMsMax)})`
  if (Math.abs(aheadMs) <= clockDifferenceMsMax) return passed(text)
  const behind = 'the node is behind or shows final state only, or the clock is fast'
  return (isPublic ? failed : warned)(`${text}: ${aheadMs > 0 ? 'the clock is slow' : behind}`)
}

function checkBatches(callsMax: number): CheckResult {
  const text = callsMax === 1 ? 'accepts no batches' : `accepts batches of ${callsMax} calls`
  if (callsMax >= batchCallsMax) return passed(text)
  return warned(`${text}: a scan needs more requests and reads fewer blocks a minute`)
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`
