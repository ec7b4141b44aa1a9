import type { Block, BlockHeight, Header } from '../../chain/block.ts'
import type { ChainResult } from '../../chain/chain.ts'
import { readBlocksMax } from '../../chain/limits.ts'
import { ok } from '../../common/result.ts'
import { blockCall, versionCall } from '../../tron/calls.ts'
import { batchCallsMax } from '../../tron/limits.ts'
import type { TronNode } from '../../tron/nodes/node.ts'
import type { NodeError } from '../../tron/nodes/node-error.ts'
import { clientOf, genesisHashes, probedFacts } from '../../tron/nodes/probe.ts'
import { parseHeader } from '../../tron/parse/block.ts'
import { readFinalBlocks } from '../../tron/quorum/final-blocks.ts'
import { queryFinal, queryNode } from '../../tron/transport/batch.ts'
import { parseResult, type RpcReply } from '../../tron/transport/json-rpc.ts'
import { checkApi } from './check-api.ts'
import { publicNetworks } from './check-key.ts'
import { servesFinalStateOnly } from './check-port.ts'
import { type CheckResult, failed, hostOf, passed, warned } from './check-result.ts'
import {
  describeFailure,
  describeNodeError,
  type NodeAccess,
  type NodeUnderTest,
  nodeMs,
  openNode,
} from './node-under-test.ts'

/** Callers notice a small request that takes longer than this. */
const roundTripMsMax = 1_500
/** Difference between the time of the newest block and the clock of this machine: a block is made every 3 s. */
const clockDifferenceMsMax = 30_000
/** Finality is normally about 54 s behind the newest block (PROTOCOL.md, Finality). */
const finalityLagMsMax = 180_000
/** The error of web3_clientVersion on JDK 17 (PROTOCOL.md, JSON-RPC transport). */
const noVersionCode = -32001
const finalStateText = 'shows final state only (a solidity or PBFT port), so that deposits are credited'

/** Checks one node, up to the first fault that makes further checks meaningless. Then it is not usable for credits. */
export async function checkNode(
  access: NodeAccess,
  underTest: NodeUnderTest,
): Promise<{ readonly results: readonly CheckResult[]; readonly isUsable: boolean }> {
  const { chainId, clock } = access
  const node = openNode(access, underTest, nodeMs)
  const results: CheckResult[] = []
  const name = `node ${node.number} (${hostOf(underTest.rpc)})`
  const add = ({ level, text }: CheckResult) => results.push({ level, text: `${name}: ${text}` })
  const stop = (why: NodeError | string) => {
    add(failed(typeof why === 'string' ? why : describeNodeError(why)))
    return { results, isUsable: false }
  }

  const first = await queryNode(node, 'chain', []) // it opens the connection; the next query is measured
  if (!first.ok) {
    const isOther = first.error.kind === 'wrong-chain'
    return stop(isOther ? `${first.error.detail}, not ${chainId} (TRON_CHAIN_ID)` : first.error)
  }
  const network = publicNetworks.get(chainId)
  add(passed(`chain id ${chainId}${network === undefined ? '' : `, ${network}`}`))
  const startedAt = clock.now()
  const version = await queryNode(node, 'chain', [versionCall])
  add(version.ok ? checkLatency(clock.now() - startedAt) : failed(describeNodeError(version.error)))

  const facts = await probedFacts(node)
  if (!facts.ok) return stop(facts.error)
  const isKnown = genesisHashes.has(node.pool.chainId)
  add(passed(isKnown ? `block 0 is that of ${network}` : 'the hash of block 0 ends in the chain id'))
  add(checkVersion(version.ok ? version.value.replies[0] : undefined))
  if (!facts.value.finalized) return stop('no finalized blocks (before java-tron 4.8.0): nothing can be credited')
  if (!facts.value.history) return stop('no history of receipts and logs: nothing can be credited')

  const heads = await queryFinal(node, 0, [blockCall('latest', false)])
  if (!heads.ok) return stop(heads.error)
  const latest = parseResult(heads.value.replies[0], 'newest block', parseHeader)
  if (!latest.ok) return stop(latest.error)
  const { finalized } = heads.value
  add(checkFinality(latest.value, finalized))
  // The newest block of the chain is not shown there: finality is about as far behind it as behind the newest shown one.
  const hiddenMs = (await servesFinalStateOnly(node)) ? latest.value.timestamp - finalized.timestamp : null
  if (hiddenMs !== null)
    add(warned(`${finalStateText} about ${seconds(hiddenMs)} late: use the port of its full state`))
  add(checkClock(latest.value.timestamp + (hiddenMs ?? 0) - clock.now()))

  const scanStartedAt = clock.now()
  const blocks = await readAsScan(node, finalized.height)
  if (!blocks.ok) return stop(`scan: no blocks: ${describeFailure(node, blocks.error)}`)
  add(checkScan(blocks.value, clock.now() - scanStartedAt))
  add(checkBatches(node.health.callsMax))
  if (underTest.api !== null) add(await checkApi(node, underTest.api, blocks.value))
  return { results, isUsable: true }
}

function checkLatency(ms: number): CheckResult {
  if (ms <= roundTripMsMax) return passed(`answers in ${ms} ms`)
  return warned(`answers in ${ms} ms (limit ${roundTripMsMax} ms): callers wait for it`)
}

function checkVersion(reply: RpcReply | undefined): CheckResult {
  const client = clientOf(reply)
  if (client !== 'unknown') return passed(`java-tron ${client}`)
  if (reply?.kind === 'error' && reply.code === noVersionCode) {
    return passed('java-tron of an unknown version: it is not reported on a newer Java than 8')
  }
  return warned('web3_clientVersion has no version of java-tron')
}

function checkFinality(latest: Header, finalized: Header): CheckResult {
  const lagMs = latest.timestamp - finalized.timestamp
  const lag = `${latest.height - finalized.height} blocks (${seconds(lagMs)})`
  const text = `final up to block ${finalized.height}, ${lag} behind the newest block`
  if (lagMs <= finalityLagMsMax) return passed(text)
  return failed(`${text} (limit ${seconds(finalityLagMsMax)}): finality has stalled on the chain or on this node`)
}

/** `aheadMs`: how far the time of the newest block is ahead of the clock of this machine. */
function checkClock(aheadMs: number): CheckResult {
  const difference = aheadMs > 0 ? `${seconds(aheadMs)} ahead of` : `${seconds(-aheadMs)} behind`
  const limit = seconds(clockDifferenceMsMax)
  const text = `the newest block is ${difference} the clock of this machine (limit ${limit})`
  if (Math.abs(aheadMs) <= clockDifferenceMsMax) return passed(text)
  return failed(
    `${text}: ${aheadMs > 0 ? 'the clock is slow' : 'the node is behind or shows final state only, or the clock is fast'}`,
  )
}

/** Reads the newest final blocks as the scan does; none where only block 0 is final. */
async function readAsScan(node: TronNode, to: BlockHeight): ChainResult<readonly Block[]> {
  const from = Math.max(1, to - readBlocksMax + 1) as BlockHeight // safe: a height, at least 1
  return to < from ? ok([]) : readFinalBlocks(node.pool, from, to)
}

function checkScan(blocks: readonly Block[], ms: number): CheckResult {
  if (blocks.length === 0) return warned('scan: nothing to read, because only block 0 is final')
  const total = (list: 'transactions' | 'logs') => blocks.reduce((sum, block) => sum + (block[list]?.length ?? 0), 0)
  const read = `${blocks.length} blocks, ${total('transactions')} transactions, ${total('logs')} logs`
  return passed(`scan: ${read} in ${ms} ms`)
}

function checkBatches(callsMax: number): CheckResult {
  if (callsMax >= batchCallsMax) return passed(`accepts batches of ${batchCallsMax} calls`)
  const text = callsMax === 1 ? 'accepts no batches' : `accepts batches of at most ${callsMax} calls`
  return warned(`${text}: a scan needs more requests and reads fewer blocks a minute`)
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`
