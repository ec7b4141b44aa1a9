import type { BlockHeight, Header, Txid } from '../chain/block.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { readBlocksMax } from '../chain/limits.ts'
import { parseResult } from '../tron/calls.ts'
import { batchCallsMax } from '../tron/limits.ts'
import { probedFacts } from '../tron/nodes/probe.ts'
import { parseHeader } from '../tron/parse/block.ts'
import { toQuantity } from '../tron/parse/fields.ts'
import { readTransactionBytes } from '../tron/queries.ts'
import { readFinalBlocks } from '../tron/quorum/final-blocks.ts'
import { type NodePool, queryNode, type TronNode } from '../tron/transport/batch.ts'
import { type CheckResult, failed, hostOf, passed, warned } from './check-result.ts'
import * as limits from './limits.ts'
import { networkOf } from './networks.ts'
import { type DoctorPlatform, describeNodeError, type NodeUnderTest, openPool } from './node-under-test.ts'

/** What was found about one node, and whether the service would use it for money. */
export interface NodeChecks {
  readonly results: readonly CheckResult[]
  readonly usable: boolean
}

/** All checks of one node. The first that makes the others meaningless ends them. */
export async function checkNode(machine: DoctorPlatform, patient: NodeUnderTest, chainId: string): Promise<NodeChecks> {
  const { name, captured: hearing } = patient
  const [pool, node] = openPool(machine, patient, chainId, limits.nodeMs)
  const findings: CheckResult[] = []
  const add = (finding: CheckResult) => findings.push({ ...finding, text: `${name}: ${finding.text}` })
  const stop = (text: string): NodeChecks => {
    add(failed(text))
    return { results: findings, usable: false }
  }

  const greeted = await queryNode(pool, node, 'chain', []) // opens the connection, so that the next one measures a request
  if (!greeted.ok) {
    const isOther = greeted.error.kind === 'wrong-chain'
    return stop(isOther ? `${greeted.error.detail}, not ${chainId} (TRON_CHAIN_ID)` : describeNodeError(greeted.error))
  }
  add(passed(`chain id ${chainId}${networkOf(chainId) === null ? '' : `, ${networkOf(chainId)}`}`))
  add(await measure(pool, node))

  const facts = await probedFacts(pool, node)
  if (!facts.ok) return stop(describeNodeError(facts.error))
  add(passed(pool.genesis === null ? 'block 0 ends in the chain id' : `block 0 is that of ${networkOf(chainId)}`))
  const client = hearing.events.get('node-probed')?.client
  add(client === 'unknown' ? warned('its version is not that of a java-tron') : passed(`java-tron ${client}`))
  if (!facts.value.finalized)
    return stop('it has no finalized blocks (before java-tron 4.8.0): nothing can be credited')
  if (!facts.value.history) return stop('it keeps no receipts and logs: nothing can be credited')

  const heads = await readHeads(pool, node)
  if (typeof heads === 'string') return stop(heads)
  add(checkFinality(heads))
  add(checkClock(heads.latest.timestamp - machine.clock.now()))

  const read = await readAsScan(pool, node, heads.finalized.height)
  add(read.finding)
  if (read.finding.level === 'FAIL') return { results: findings, usable: false }
  add(checkBatches(patient.health.callsMax))
  add(await checkBlockReceipts(pool, node, heads.finalized.height))
  if (patient.endpoint.api !== null) add(await checkApi(pool, patient.endpoint.api, read.txid))
  return { results: findings, usable: true }
}

async function measure(pool: NodePool, node: TronNode): Promise<CheckResult> {
  const { clock } = pool.budget
  const startedAt = clock.now()
  const heard = await queryNode(pool, node, 'chain', [])
  const ms = clock.now() - startedAt
  if (!heard.ok) return failed(describeNodeError(heard.error))
  if (ms <= limits.roundTripMsMax) return passed(`answers in ${ms} ms`)
  return warned(`answers in ${ms} ms: callers wait for it (limit ${limits.roundTripMsMax} ms)`)
}

interface Heads {
  readonly latest: Header
  readonly finalized: Header
}

async function readHeads(pool: NodePool, node: TronNode): Promise<Heads | string> {
  const heard = await queryNode(pool, node, 'finalized', [
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ])
  if (!heard.ok) return describeNodeError(heard.error)
  const { finalized, replies } = heard.value
  const latest = parseResult(replies[0], 'newest block', parseHeader)
  if (!latest.ok) return describeNodeError(latest.error)
  return finalized === null ? 'no finalized head' : { latest: latest.value, finalized }
}

function checkFinality({ latest, finalized }: Heads): CheckResult {
  const behind = latest.height - finalized.height
  const ms = latest.timestamp - finalized.timestamp
  const said = `final up to block ${finalized.height}, ${behind} blocks (${seconds(ms)}) behind the newest`
  if (ms <= limits.finalityLagMsMax) return passed(said)
  return failed(
    `${said}: the chain’s finality stands still, or the node does (limit ${seconds(limits.finalityLagMsMax)})`,
  )
}

/** `aheadMs`: how far the newest block's time is ahead of this machine's. */
function checkClock(aheadMs: number): CheckResult {
  const where = aheadMs > 0 ? `${seconds(aheadMs)} ahead of` : `${seconds(-aheadMs)} behind`
  const said = `its newest block is ${where} this machine’s clock (limit ${seconds(limits.clockDifferenceMsMax)})`
  if (Math.abs(aheadMs) <= limits.clockDifferenceMsMax) return passed(said)
  return failed(`${said}: ${aheadMs > 0 ? 'the clock is slow' : 'the node is behind, or the clock is fast'}`)
}

/** One read exactly as the scan makes it, and its newest transaction to try the HTTP API with. */
async function readAsScan(
  pool: NodePool,
  node: TronNode,
  to: BlockHeight,
): Promise<{ readonly finding: CheckResult; readonly txid: Txid | null }> {
  const from = Math.max(1, to - readBlocksMax + 1) as BlockHeight // safe: a height at most `to`
  if (to < from) return { finding: warned('no final block after block 0 to read yet'), txid: null }
  const startedAt = pool.budget.clock.now()
  const blocks = await readFinalBlocks(pool, from, to)
  const ms = pool.budget.clock.now() - startedAt
  if (!blocks.ok) return { finding: failed(`a read of the scan fails: ${reason(node, blocks.error)}`), txid: null }
  const transactions = blocks.value.flatMap((block) => block.transactions)
  const logs = blocks.value.reduce((sum, block) => sum + block.logs.length, 0)
  const said = `a read of the scan: ${blocks.value.length} blocks, ${transactions.length} transactions, ${logs} logs`
  return { finding: passed(`${said} in ${ms} ms`), txid: transactions.at(-1)?.txid ?? null }
}

function checkBatches(callsMax: number): CheckResult {
  if (callsMax >= batchCallsMax) return passed(`takes batches of ${batchCallsMax} calls`)
  const said = callsMax === 1 ? 'takes no batches' : `takes batches of ${callsMax} calls at most`
  return warned(`${said}: the scan needs more requests, and reads fewer blocks a minute`)
}

async function checkBlockReceipts(pool: NodePool, node: TronNode, height: BlockHeight): Promise<CheckResult> {
  const heard = await queryNode(pool, node, 'chain', [{ method: 'eth_getBlockReceipts', params: [toQuantity(height)] }])
  const [reply] = heard.ok ? heard.value.replies : []
  if (reply?.kind === 'result' && (Array.isArray(reply.value) || height === 0))
    return passed('has eth_getBlockReceipts')
  return warned('has no eth_getBlockReceipts (before java-tron 4.8.1): blocks of more than 10,000 logs can’t be read')
}

async function checkApi(pool: NodePool, api: string, txid: Txid | null): Promise<CheckResult> {
  const name = `its HTTP API (${hostOf(api)})`
  if (txid === null) return warned(`${name} is not tried: there is no transaction in its last final blocks`)
  const bytes = await readTransactionBytes(pool, txid)
  if (bytes.ok) return passed(`${name} gives a transaction’s bytes, which hash to its id`)
  const [node] = pool.nodes
  return failed(`${name} can’t be used, and without one TRX deposits wait: ${reason(node, bytes.error)}`)
}

/** The pool's reason without the node's number, which stands in front of the line already. */
function reason(node: TronNode | undefined, failure: ChainFailure): string {
  if (failure.kind === 'no-answer') return failure.why.replace(`node ${node?.number}: `, '')
  return failure.kind === 'out-of-budget' ? 'no answer in time' : failure.kind
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`
