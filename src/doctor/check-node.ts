import { finalizedBlocks } from '../tron/quorum/final-blocks.ts'
import { parsed } from '../tron/calls.ts'
import { ask, type Pool, type PoolNode } from '../tron/transport/batch.ts'
import { readHead } from '../tron/parse/block.ts'
import { factsOf } from '../tron/nodes/probe.ts'
import { rawData } from '../tron/queries.ts'
import { toQuantity } from '../tron/parse/fields.ts'
import type { BlockHeight, Header, Txid } from '../chain/block.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { batchCallsMax, readBlocksMax } from '../scan/limits.ts'
import { bad, doubtful, type Finding, good, hostOf } from './check-result.ts'
import * as limits from './limits.ts'
import { networkOf } from './networks.ts'
import { explain, type Machine, open, type Patient } from './node-under-test.ts'

/** What was found about one node, and whether the service would use it for money. */
export interface Examined {
  readonly findings: readonly Finding[]
  readonly usable: boolean
}

/** All checks of one node. The first that makes the others meaningless ends them. */
export async function examineNode(machine: Machine, patient: Patient, chainId: string): Promise<Examined> {
  const { name, hearing } = patient
  const [pool, node] = open(machine, patient, chainId, limits.nodeMs)
  const findings: Finding[] = []
  const add = (finding: Finding) => findings.push({ ...finding, text: `${name}: ${finding.text}` })
  const stop = (text: string): Examined => {
    add(bad(text))
    return { findings, usable: false }
  }

  const greeted = await ask(pool, node, 'chain', []) // opens the connection, so that the next one measures a request
  if (!greeted.ok) {
    const isOther = greeted.error.kind === 'wrong-chain'
    return stop(isOther ? `${greeted.error.detail}, not ${chainId} (TRON_CHAIN_ID)` : explain(greeted.error))
  }
  add(good(`chain id ${chainId}${networkOf(chainId) === null ? '' : `, ${networkOf(chainId)}`}`))
  add(await measure(pool, node))

  const facts = await factsOf(pool, node)
  if (!facts.ok) return stop(explain(facts.error))
  add(good(pool.genesis === null ? 'block 0 ends in the chain id' : `block 0 is that of ${networkOf(chainId)}`))
  const client = hearing.heard.get('node-probed')?.client
  add(client === 'unknown' ? doubtful('its version is not that of a java-tron') : good(`java-tron ${client}`))
  if (!facts.value.finalized)
    return stop('it has no finalized blocks (before java-tron 4.8.0): nothing can be credited')
  if (!facts.value.history) return stop('it keeps no receipts and logs: nothing can be credited')

  const heads = await readHeads(pool, node)
  if (typeof heads === 'string') return stop(heads)
  add(checkFinality(heads))
  add(checkClock(heads.latest.timestamp - machine.clock.now()))

  const read = await readAsScan(pool, node, heads.finalized.height)
  add(read.finding)
  if (read.finding.level === 'FAIL') return { findings, usable: false }
  add(checkBatches(patient.state.callsMax))
  add(await checkBlockReceipts(pool, node, heads.finalized.height))
  if (patient.endpoint.api !== null) add(await checkApi(pool, patient.endpoint.api, read.txid))
  return { findings, usable: true }
}

async function measure(pool: Pool, node: PoolNode): Promise<Finding> {
  const { clock } = pool.line
  const startedAt = clock.now()
  const heard = await ask(pool, node, 'chain', [])
  const ms = clock.now() - startedAt
  if (!heard.ok) return bad(explain(heard.error))
  if (ms <= limits.roundTripMsMax) return good(`answers in ${ms} ms`)
  return doubtful(`answers in ${ms} ms: callers wait for it (limit ${limits.roundTripMsMax} ms)`)
}

interface Heads {
  readonly latest: Header
  readonly finalized: Header
}

async function readHeads(pool: Pool, node: PoolNode): Promise<Heads | string> {
  const heard = await ask(pool, node, 'finalized', [{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
  if (!heard.ok) return explain(heard.error)
  const { finalized, replies } = heard.value
  const latest = parsed(replies[0], 'newest block', readHead)
  if (!latest.ok) return explain(latest.error)
  return finalized === null ? 'no finalized head' : { latest: latest.value, finalized }
}

function checkFinality({ latest, finalized }: Heads): Finding {
  const behind = latest.height - finalized.height
  const ms = latest.timestamp - finalized.timestamp
  const said = `final up to block ${finalized.height}, ${behind} blocks (${seconds(ms)}) behind the newest`
  if (ms <= limits.finalityLagMsMax) return good(said)
  return bad(`${said}: the chain’s finality stands still, or the node does (limit ${seconds(limits.finalityLagMsMax)})`)
}

/** `aheadMs`: how far the newest block's time is ahead of this machine's. */
function checkClock(aheadMs: number): Finding {
  const where = aheadMs > 0 ? `${seconds(aheadMs)} ahead of` : `${seconds(-aheadMs)} behind`
  const said = `its newest block is ${where} this machine’s clock (limit ${seconds(limits.clockDifferenceMsMax)})`
  if (Math.abs(aheadMs) <= limits.clockDifferenceMsMax) return good(said)
  return bad(`${said}: ${aheadMs > 0 ? 'the clock is slow' : 'the node is behind, or the clock is fast'}`)
}

/** One read exactly as the scan makes it, and its newest transaction to try the HTTP API with. */
async function readAsScan(
  pool: Pool,
  node: PoolNode,
  to: BlockHeight,
): Promise<{ readonly finding: Finding; readonly txid: Txid | null }> {
  const from = Math.max(1, to - readBlocksMax + 1) as BlockHeight // safe: a height at most `to`
  if (to < from) return { finding: doubtful('no final block after block 0 to read yet'), txid: null }
  const startedAt = pool.line.clock.now()
  const blocks = await finalizedBlocks(pool, from, to)
  const ms = pool.line.clock.now() - startedAt
  if (!blocks.ok) return { finding: bad(`a read of the scan fails: ${reason(node, blocks.error)}`), txid: null }
  const transactions = blocks.value.flatMap((block) => block.transactions)
  const logs = blocks.value.reduce((sum, block) => sum + block.logs.length, 0)
  const said = `a read of the scan: ${blocks.value.length} blocks, ${transactions.length} transactions, ${logs} logs`
  return { finding: good(`${said} in ${ms} ms`), txid: transactions.at(-1)?.txid ?? null }
}

function checkBatches(callsMax: number): Finding {
  if (callsMax >= batchCallsMax) return good(`takes batches of ${batchCallsMax} calls`)
  const said = callsMax === 1 ? 'takes no batches' : `takes batches of ${callsMax} calls at most`
  return doubtful(`${said}: the scan needs more requests, and reads fewer blocks a minute`)
}

async function checkBlockReceipts(pool: Pool, node: PoolNode, height: BlockHeight): Promise<Finding> {
  const heard = await ask(pool, node, 'chain', [{ method: 'eth_getBlockReceipts', params: [toQuantity(height)] }])
  const [reply] = heard.ok ? heard.value.replies : []
  if (reply?.kind === 'result' && (Array.isArray(reply.value) || height === 0)) return good('has eth_getBlockReceipts')
  return doubtful('has no eth_getBlockReceipts (before java-tron 4.8.1): blocks of more than 10,000 logs can’t be read')
}

async function checkApi(pool: Pool, api: string, txid: Txid | null): Promise<Finding> {
  const name = `its HTTP API (${hostOf(api)})`
  if (txid === null) return doubtful(`${name} is not tried: there is no transaction in its last final blocks`)
  const bytes = await rawData(pool, txid)
  if (bytes.ok) return good(`${name} gives a transaction’s bytes, which hash to its id`)
  const [node] = pool.nodes
  return bad(`${name} can’t be used, and without one TRX deposits wait: ${reason(node, bytes.error)}`)
}

/** The pool's reason without the node's number, which stands in front of the line already. */
function reason(node: PoolNode | undefined, failure: ChainFailure): string {
  if (failure.kind === 'no-answer') return failure.why.replace(`node ${node?.number}: `, '')
  return failure.kind === 'out-of-budget' ? 'no answer in time' : failure.kind
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`
