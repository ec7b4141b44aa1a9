import type { Txid } from '../../chain/block.ts'
import { ok } from '../../common/result.ts'
import { blockCall, logsCall, receiptCall, versionCall } from '../calls.ts'
import { probeMs, probePollMs, probeReceiptsMax, unfitMs } from '../limits.ts'
import { parseBriefBlock, parseHeader } from '../parse/block.ts'
import { parseLogs } from '../parse/log.ts'
import { parseReceipt } from '../parse/receipt.ts'
import { parseFinalized, queryNode } from '../transport/batch.ts'
import { isTooLarge, isUnsupported, parseResult, type RpcReply } from '../transport/json-rpc.ts'
import type { NodeFacts } from './health.ts'
import type { TronNode } from './node.ts'
import { type NodeResult, nodeError } from './node-error.ts'

/**
 * Hashes of block 0 by chain id. A chain id can be imitated, a hash cannot (PROTOCOL.md, Chain identity). Of other chains
 * only the last 4 bytes of the hash are known: they are the chain id.
 */
export const genesisHashes: ReadonlyMap<bigint, string> = new Map([
  [0x2b6653dcn, '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'],
  [0xcd8690dcn, '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc'],
])

/** The facts of a node, remembered or by a probe of two requests. Those of an unfit node are kept for `unfitMs`. */
export async function probedFacts(node: TronNode): NodeResult<NodeFacts> {
  const { health, pool } = node
  const { clock, deadline } = pool.budget
  for (;;) {
    const { facts } = health
    if (facts !== null && (isFit(facts) || clock.now() - facts.probedAt < unfitMs)) return ok(facts)
    if (health.probingUntil <= clock.now()) break
    // Another invocation of this isolate probes the node. Invocations cannot await each other's promises.
    if (clock.now() + probePollMs >= deadline) return nodeError('out-of-budget', 'the time is used up')
    await clock.sleep(probePollMs)
    // Where that probe failed, it is not repeated by those that waited for it.
    if (health.facts === null && health.rpc.restUntil > clock.now()) return nodeError('unfit', 'its probe failed')
  }
  health.probingUntil = clock.now() + probeMs
  const facts = await probe(node)
  health.probingUntil = 0
  if (facts.ok) health.facts = facts.value
  return facts
}

/** Whether a node can be used for credits. */
export function isFit({ finalized, history }: NodeFacts): boolean {
  return finalized && history
}

async function probe(node: TronNode): NodeResult<NodeFacts> {
  const { chainId, budget, logger } = node.pool
  const probedAt = budget.clock.now()
  const result = await queryNode(node, 'chain', [blockCall(0, false), blockCall('finalized', false), versionCall])
  if (!result.ok) return result
  const [genesisReply, finalizedReply, version] = result.value.replies
  const genesis = genesisReply?.kind === 'result' ? parseHeader(genesisReply.value) : null
  if (!genesis?.ok || genesis.value.height !== 0) return nodeError('bad-answer', 'no block 0')
  const { hash } = genesis.value
  const expected = genesisHashes.get(chainId) ?? chainId.toString(16).padStart(8, '0')
  if (!hash.endsWith(expected)) return nodeError('wrong-chain', `block 0 is ${hash}`)
  const finalized = parseFinalized(finalizedReply)
  if (!finalized.ok && finalized.error.kind !== 'unfit') return finalized
  const history = finalized.ok ? await hasHistory(node, finalizedReply) : ok(false)
  if (!history.ok) return history
  const facts = { finalized: finalized.ok, history: history.value }
  logger.info('node-probed', { node: node.number, client: clientOf(version), ...facts })
  return ok({ probedAt, ...facts })
}

/** The version of java-tron. Only its digits are used: a hostile node's text could contain a URL or key. */
export function clientOf(reply: RpcReply | undefined): string {
  const text = reply?.kind === 'result' && typeof reply.value === 'string' ? reply.value : ''
  return /^TRON\/v(\d{1,3}(?:\.\d{1,3}){1,3})\//.exec(text)?.[1] ?? 'unknown'
}

/** Whether receipts are kept and match the logs. Without history a node's logs are `[]` (PROTOCOL.md, Log queries). */
async function hasHistory(node: TronNode, finalized: RpcReply | undefined): NodeResult<boolean> {
  const block = parseResult(finalized, 'finalized head', parseBriefBlock)
  if (!block.ok) return block
  const txids = [...block.value.indexes.keys()].slice(0, probeReceiptsMax) as Txid[] // safe: 32 bytes each
  if (txids.length === 0) return ok(true) // an empty block shows nothing; every later read is checked too
  const result = await queryNode(node, 'chain', [logsCall(block.value.hash), ...txids.map(receiptCall)])
  if (!result.ok) return result
  const [logsReply, ...receiptReplies] = result.value.replies
  if (logsReply === undefined || isUnsupported(logsReply)) return ok(false)
  if (isTooLarge(logsReply)) return ok(true) // a full block shows nothing either
  if (logsReply.kind === 'error') return nodeError('bad-answer', `error ${logsReply.code} for logs`)
  const logs = parseLogs(logsReply.value, block.value)
  const isMatch = txids.every((txid, i) => {
    const receipt = parseResult(receiptReplies[i], 'a receipt', (value) => parseReceipt(value, txid))
    if (!logs.ok || !receipt.ok) return false
    return receipt.value.logs.length === logs.value.logs.filter((log) => log.txid === txid).length
  })
  return ok(isMatch)
}
