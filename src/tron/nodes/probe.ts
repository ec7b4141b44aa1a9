import type { Txid } from '../../chain/block.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { logsCall, receiptCall } from '../calls.ts'
import { probeMs, probePollMs, probeReceiptsMax, unfitMs } from '../limits.ts'
import { type ParsedHeader, parseHeader, parseLogs, parseReceipt, parseTxids } from '../parse/block.ts'
import { isUnsupported, type NodePool, queryNode, type TronNode } from '../transport/batch.ts'
import type { NodeFacts } from './health.ts'
import { type NodeError, nodeError } from './node-error.ts'

/** Block 0 of the public networks (8.6): a chain id of 4 bytes can be imitated, the hash it was taken from can't. */
const genesisHashes: ReadonlyMap<bigint, string> = new Map([
  [0x2b6653dcn, '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'],
  [0xcd8690dcn, '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc'],
])

/** The hash that block 0 of the chain must have, or null where only its last four bytes, the chain id, are known. */
export function genesisHashOf(chainId: bigint): string | null {
  return genesisHashes.get(chainId) ?? null
}

/**
 * What the node can do, from memory or by a probe of two requests. The facts are kept for the isolate's life, until
 * trouble wipes them; those of a node that is not fit for money for a minute.
 */
export async function probedFacts(pool: NodePool, node: TronNode): Promise<Result<NodeFacts, NodeError>> {
  const { health: state } = node
  const { clock, deadline } = pool.budget
  for (;;) {
    const known = state.facts
    const lasts = known !== null && ((known.finalized && known.history) || clock.now() - known.probedAt < unfitMs)
    if (lasts) return ok(known)
    if (state.probingUntil <= clock.now()) break
    // Another invocation of this isolate is at it. Only its result can be shared: a promise of its can't be awaited here.
    if (clock.now() + probePollMs >= deadline) return err(nodeError('out-of-budget', 'the time is used up'))
    await clock.sleep(probePollMs)
    // It failed: one failed probe is enough for all who waited for it.
    if (state.facts === null && state.rpc.restUntil > clock.now())
      return err(nodeError('unfit', 'its probe just failed'))
  }
  state.probingUntil = clock.now() + probeMs
  const facts = await probe(pool, node)
  state.probingUntil = 0
  if (facts.ok) state.facts = facts.value
  return facts
}

async function probe(pool: NodePool, node: TronNode): Promise<Result<NodeFacts, NodeError>> {
  const heard = await queryNode(pool, node, 'chain', [
    { method: 'eth_getBlockByNumber', params: ['0x0', false] },
    { method: 'eth_getBlockByNumber', params: ['finalized', false] },
    { method: 'web3_clientVersion', params: [] },
  ])
  if (!heard.ok) return heard
  const [genesis, finalized, version] = heard.value.replies
  const isOurs = checkGenesis(pool, genesis?.kind === 'result' ? genesis.value : undefined)
  if (isOurs !== null) return err(isOurs)
  const probedAt = pool.budget.clock.now()
  const told = version?.kind === 'result' && typeof version.value === 'string' ? version.value : ''
  const done = (facts: NodeFacts) => {
    // Digits alone are taken from the node's text: a hostile one could repeat its URL or key there.
    const client = /^TRON\/v(\d{1,3}(?:\.\d{1,3}){1,3})\//.exec(told)?.[1] ?? 'unknown'
    const { finalized: hasFinalized, history } = facts
    pool.log.info('node-probed', { node: node.number, client, finalized: hasFinalized, history })
    return ok(facts)
  }
  if (finalized !== undefined && isUnsupported(finalized)) return done({ probedAt, finalized: false, history: false })
  if (finalized?.kind !== 'result') return err(nodeError('bad-answer', 'no finalized head'))
  if (finalized.value === null) return err(nodeError('behind', 'no finalized head yet'))
  const head = parseHeader(finalized.value)
  if (!head.ok) return err(nodeError('bad-answer', `finalized head: ${head.error}`))
  const history = await canary(pool, node, head.value)
  return history.ok ? done({ probedAt, finalized: true, history: history.value }) : history
}

function checkGenesis(pool: NodePool, value: unknown): NodeError | null {
  const genesis = parseHeader(value)
  if (!genesis.ok || genesis.value.height !== 0) return nodeError('bad-answer', 'no block 0')
  const ending = pool.chainId.toString(16).padStart(8, '0')
  const { hash } = genesis.value
  const isOurs = pool.genesis === null ? hash.endsWith(ending) : hash === pool.genesis
  return isOurs ? null : nodeError('wrong-chain', `block 0 is ${hash}`)
}

/**
 * Whether the node's logs can be believed at all: in its newest final block, the transactions whose receipts show logs
 * have the same number of logs in the block's. A node without transaction history answers `[]` there (7.4).
 */
async function canary(pool: NodePool, node: TronNode, head: ParsedHeader): Promise<Result<boolean, NodeError>> {
  const txids = parseTxids(head)
  if (!txids.ok) return err(nodeError('bad-answer', `finalized head: ${txids.error}`))
  const sample = [...txids.value.keys()].slice(0, probeReceiptsMax) as Txid[] // safe: 32 bytes each
  if (sample.length === 0) return ok(true) // an empty block proves nothing; every later read is checked for itself
  const heard = await queryNode(pool, node, 'chain', [logsCall(head.hash), ...sample.map(receiptCall)])
  if (!heard.ok) return heard
  const [logsReply, ...receiptReplies] = heard.value.replies
  if (logsReply === undefined || isUnsupported(logsReply)) return ok(false)
  if (logsReply.kind === 'error') return err(nodeError('bad-answer', `error ${logsReply.code} for logs`))
  const logs = parseLogs(logsReply.value, head, txids.value)
  if (!logs.ok) return ok(false)
  for (const [i, txid] of sample.entries()) {
    const reply = receiptReplies[i]
    if (reply?.kind !== 'result') return ok(false)
    const receipt = parseReceipt(reply.value, txid)
    if (!receipt.ok) return ok(false)
    if (receipt.value.logs.length !== logs.value.filter((log) => log.txid === txid).length) return ok(false)
  }
  return ok(true)
}
