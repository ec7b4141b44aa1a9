import { err, ok, type Result } from '../common/result.ts'
import {
  blockCall,
  chainIdCall,
  encodeCalls,
  fitsSmallerBatch,
  isTooLarge,
  isUnsupported,
  logsCall,
  oversizeReply,
  parseBatchReply,
  parseResult,
  parseSingleReply,
  type RpcCall,
  type RpcReply,
  receiptCall,
} from './json-rpc.ts'
import * as limits from './limits.ts'
import { type NodeService, recordFailure, recordSuccess, type Session, type TronNode } from './node.ts'
import { type BriefBlock, parseBriefBlock } from './parse/block.ts'
import { parseQuantity } from './parse/fields.ts'
import { parseReceipt } from './parse/log.ts'
import { type NodeError, type NodeResult, nodeError, postJson, type ReadReply } from './transport.ts'

/** Sends one request to a service of a node, within its allowance, and records the node's health. */
async function request<T>(
  session: Session,
  node: TronNode,
  service: NodeService,
  path: string,
  body: string,
  read: ReadReply<T>,
): NodeResult<T> {
  const { deadline, payer } = session
  const { clock, network } = session.pool
  const { endpoint } = node
  const target = { url: service === 'rpc' ? endpoint.rpc : `${endpoint.api}${path}`, key: endpoint.key }
  for (let attempt = 1; ; attempt += 1) {
    let [startedAt, { rests, failures }] = [0, node[service]]
    const waitForTurn = async () => {
      const room = await waitForRoom(session, node)
      ;[startedAt, { rests, failures }] = [clock.now(), node[service]]
      return room
    }
    const result = await postJson(network, target, body, deadline, read, waitForTurn, payer.kind === 'tick')
    if (result.ok) {
      recordSuccess(node[service], clock.now() - startedAt, clock)
      return result
    }
    const { kind } = result.error
    if (kind === 'limited') return result
    recordError(session, node, service, result.error, rests)
    const isPassing = kind === 'unreachable' || kind === 'bad-answer'
    if (!isPassing || failures > 0 || attempt > 1 || clock.now() + limits.retryMs >= deadline) return result
    await clock.sleep(limits.retryMs)
  }
}

/** Takes one request of the node's allowance, and waits for its second. */
async function waitForRoom({ pool, payer, deadline, sent }: Session, { number }: TronNode): NodeResult<null> {
  const { clock, allowance } = pool
  await allowance.ready
  const before = sent.get(number) ?? 0
  const room = allowance.take(number, payer, before, deadline)
  if (room.ok) {
    const waitMs = room.value - clock.now()
    if (room.value < deadline) {
      sent.set(number, before + 1)
      if (waitMs > 0) await clock.sleep(waitMs)
      allowance.confirm()
      return ok(null)
    }
    return limitedBy({ kind: 'limited', whose: 'nodes', seconds: Math.ceil(waitMs / 1000) })
  }
  if (payer.kind === 'tick' && room.error.whose === 'nodes') {
    const why = 'perDay is used up' // so deposits wait: an operator must know why
    pool.report('allowance-used-up', { node: number }, { node: number, seconds: room.error.seconds, why })
  }
  return limitedBy(room.error)
}

const limitedBy = (limit: NonNullable<NodeError['limit']>) =>
  err<NodeError>({ kind: 'limited', detail: `its allowance (${limit.whose})`, limit })

/** A service of a node failed: it is logged, and the service rests. `restsBefore` are those when the request began. */
export function recordError(
  { pool }: Session,
  node: TronNode,
  service: NodeService,
  { kind, detail }: NodeError,
  restsBefore = node[service].rests,
): void {
  recordFailure(node, service, kind, restsBefore, pool.clock)
  if (kind !== 'out-of-time') pool.logger.warn('node-error', { node: node.number, service, kind, why: detail })
  if (kind === 'wrong-chain') {
    pool.report('node-lies', { node: node.number, why: 'wrong-chain' }, { node: node.number, why: detail })
  }
}

/** One request to the HTTP API of a node. */
export function askApi<T>(session: Session, node: TronNode, path: string, body: object, read: ReadReply<T>) {
  return request(session, node, 'api', path, JSON.stringify(body), read)
}

/**
 * Sends calls to one node in batches, whose chain id is checked: in halves where the reply is too large, and in single requests
 * where the node takes no batches. `read` takes the reply to the call at an index; an error that it returns is the node's.
 */
export async function askRpc<T>(
  session: Session,
  node: TronNode,
  calls: readonly RpcCall[],
  read: (reply: RpcReply, index: number) => Result<T, NodeError>,
  batchMax = limits.batchCallsMax,
): NodeResult<readonly T[]> {
  const { clock } = session.pool
  const values: T[] = []
  const readAt = (reply: RpcReply, i: number): Result<null, NodeError> => {
    const value = read(reply, i)
    if (value.ok) values[i] = value.value
    return value.ok ? ok(null) : value
  }
  const groups = chunksOf([...calls.keys()], batchMax - 1)
  let isChainKnown = false
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    const callsMax = clock.now() < node.callsMaxUntil ? node.callsMax : batchMax
    const isSingle = callsMax === 1
    if (isSingle && !isChainKnown) {
      const chain = await send(session, node, [], true, () => ok(null))
      if (!chain.ok) return chain
      isChainKnown = true
    }
    const [first = 0] = group
    const sent = group.slice(0, Math.max(callsMax - 1, 1))
    if (sent.length < group.length) groups.unshift(group.slice(sent.length))
    const tooLarge: number[] = []
    const own = sent.flatMap((i) => calls[i] ?? [])
    const result = await send(session, node, own, isSingle, (replies) => {
      for (const [at, i] of sent.entries()) {
        const reply = replies[at] ?? oversizeReply
        const value = sent.length > 1 && fitsSmallerBatch(reply) ? null : readAt(reply, i)
        if (value === null) tooLarge.push(i)
        else if (!value.ok) return value
      }
      return ok(null)
    })
    const kind = result.ok ? null : result.error.kind
    if (kind === 'batch-refused' && !isSingle) {
      node.callsMax = sent.length > 1 ? Math.ceil(sent.length / 2) + 1 : 1
      node.callsMaxUntil = clock.now() + limits.smallBatchesMs
      groups.unshift(sent)
    } else if (kind === 'too-large' && sent.length === 1) {
      const value = readAt(oversizeReply, first)
      if (!value.ok) return value
    } else if (!result.ok && kind !== 'too-large') return result
    else groups.unshift(...chunksOf(result.ok ? tooLarge : sent, Math.ceil(sent.length / 2)))
  }
  return ok(values)
}

function chunksOf(items: readonly number[], length: number): number[][] {
  const chunks: number[][] = []
  for (let i = 0; i < items.length; i += length) chunks.push(items.slice(i, i + length))
  return chunks
}

/** One call to one node, as `askRpc`. */
export async function askOne<T>(
  session: Session,
  node: TronNode,
  call: RpcCall,
  read: (reply: RpcReply) => Result<T, NodeError>,
): NodeResult<T> {
  const result = await askRpc(session, node, [call], read)
  return result.ok ? ok(result.value[0] as T) : result // one call has one value
}

/** One request: a batch that begins with the chain id, or a single call, which is the chain id where there is no other. */
function send(
  session: Session,
  node: TronNode,
  calls: readonly RpcCall[],
  isSingle: boolean,
  read: (replies: readonly RpcReply[]) => Result<null, NodeError>,
): NodeResult<null> {
  const { pool } = session
  const hasChain = !isSingle || calls.length === 0
  const all = hasChain ? [chainIdCall, ...calls] : calls
  pool.lastId += 100 // so that no old reply of a proxy matches
  const firstId = pool.lastId
  return request(session, node, 'rpc', '', encodeCalls(all, firstId, isSingle), (value) => {
    const one = isSingle ? parseSingleReply(value, firstId) : null
    const replies = one === null ? parseBatchReply(value, firstId, all.length) : one.ok ? ok([one.value]) : one
    if (!replies.ok) return replies
    const [first, ...others] = replies.value
    const chain = hasChain ? checkChain(pool.chainId, first) : ok(null)
    return chain.ok ? read(hasChain ? others : replies.value) : chain
  })
}

function checkChain(expected: bigint, reply: RpcReply | undefined): Result<null, NodeError> {
  const chainId = reply?.kind === 'result' ? parseQuantity(reply.value) : null
  if (chainId === null) return nodeError('bad-answer', 'no chain id')
  return chainId === expected ? ok(null) : nodeError('wrong-chain', `chain id 0x${chainId.toString(16)}`)
}

/**
 * Hashes of block 0 by chain id. A chain id can be imitated, a hash cannot (PROTOCOL.md, Chain identity). Of other chains
 * only the last 4 bytes of the hash are known: they are the chain id.
 */
export const genesisHashes: ReadonlyMap<bigint, string> = new Map([
  [0x2b6653dcn, '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc'],
  [0xcd8690dcn, '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc'],
])

/** Why a node without transaction history is unfit: its logs are `[]` (PROTOCOL.md, Log queries). */
export const noHistory = 'it has no transaction history (storage.transHistory.switch)'

/** Fails where a node may not be used for money. A node is probed when it is first used, and after failures. */
export async function requireFit(session: Session, node: TronNode): NodeResult<null> {
  if (node.unfit !== null && session.pool.clock.now() < node.unfit.until) return nodeError('unfit', node.unfit.why)
  if (node.isProbed) return ok(null)
  const isOwn = node.probing === null
  node.probing ??= probe(session, node).finally(() => {
    node.probing = null
  })
  const result = await node.probing
  // The time or the share of another piece of work has ended it.
  const isCut = !result.ok && (result.error.kind === 'out-of-time' || result.error.kind === 'limited')
  if (isCut && !isOwn) return requireFit(session, node)
  if (result.ok) node.isProbed = true
  else if (result.error.kind === 'unfit') return recordUnfit(session, node, result.error.detail)
  return result
}

/** Leaves a node alone for a while and reports why, so that an operator can act on the cause. */
export function recordUnfit({ pool }: Session, node: TronNode, why: string): ReturnType<typeof nodeError> {
  node.isProbed = false
  node.unfit = { why, until: pool.clock.now() + limits.unfitMs }
  pool.report('node-unfit', { node: node.number }, { node: node.number, why })
  return nodeError('unfit', why)
}

async function probe(session: Session, node: TronNode): NodeResult<null> {
  const { chainId, logger } = session.pool
  const result = await askRpc(session, node, [blockCall(0), blockCall('finalized')], (reply) => ok(reply))
  if (!result.ok) return result
  const genesis = parseResult(result.value[0], 'block 0', parseBriefBlock)
  if (!genesis.ok) return genesis
  const expected = genesisHashes.get(chainId) ?? chainId.toString(16).padStart(8, '0')
  if (genesis.value.height !== 0) return nodeError('bad-answer', 'another block in place of block 0')
  if (!genesis.value.hash.endsWith(expected)) {
    const wrong = nodeError('wrong-chain', `block 0 is ${genesis.value.hash}`)
    recordError(session, node, 'rpc', wrong.error)
    return wrong
  }
  const head = parseFinalized(result.value[1])
  if (!head.ok) return head
  const history = await requireHistory(session, node, head.value)
  if (history.ok) logger.info('node-probed', { node: node.number, finalized: head.value.height })
  return history
}

/** The finalized head in a reply. A node that does not support the tag is `unfit` (PROTOCOL.md, Block tags). */
export function parseFinalized(reply: RpcReply | undefined): Result<BriefBlock, NodeError> {
  const isUnknown = reply !== undefined && isUnsupported(reply)
  if (isUnknown) return nodeError('unfit', 'it has no tag finalized (java-tron 4.8.0)')
  return parseResult(reply, 'finalized head', parseBriefBlock)
}

/** A block with transactions has receipts, and as many logs as they do. An empty block shows nothing. */
async function requireHistory(session: Session, node: TronNode, block: BriefBlock): NodeResult<null> {
  const txids = block.txids.slice(0, limits.probeReceiptsMax)
  if (txids.length === 0) return ok(null)
  const calls = [logsCall(block.hash), ...txids.map(receiptCall)]
  const result = await askRpc(session, node, calls, (reply) => ok(reply))
  if (!result.ok) return result
  const [logs, ...receipts] = result.value
  if (receipts.some((reply) => reply.kind === 'result' && reply.value === null)) return nodeError('unfit', noHistory)
  if (isTooLarge(logs)) return ok(null) // a full block shows nothing either
  if (logs?.kind !== 'result' || !Array.isArray(logs.value)) return nodeError('unfit', 'it gives no logs of a block')
  const shown = logs.value.map((log: { transactionHash?: unknown } | null) => log?.transactionHash)
  for (const [i, txid] of txids.entries()) {
    const receipt = parseResult(receipts[i], 'a receipt', (value) => parseReceipt(value, txid, block.hash))
    if (!receipt.ok) return receipt
    const count = shown.filter((name) => name === `0x${txid}`).length
    if (count !== receipt.value.logs.length) return nodeError('unfit', noHistory)
  }
  return ok(null)
}
