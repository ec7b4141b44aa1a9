import { parseQuantity } from '../chain/quantity.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { RpcCall, RpcReply } from './json-rpc.ts'
import {
  chainIdCall,
  encodeCalls,
  fitsSmallerBatch,
  oversizeReply,
  parseBatchReply,
  parseSingleReply,
} from './json-rpc.ts'
import * as limits from './limits.ts'
import { type NodeService, recordFailure, recordSuccess, type Session, type TronNode } from './node.ts'
import { type NodeError, type NodeResult, nodeError } from './node-error.ts'
import { postJson, type ReadReply } from './transport.ts'

const limitedBy = (limit: NonNullable<NodeError['limit']>) =>
  err<NodeError>({ kind: 'limited', detail: `its allowance (${limit.whose})`, limit })

/** Sends one request to a service of a node, within its allowance, and records the node's health. */
async function request<T>(
  session: Session,
  node: TronNode,
  service: NodeService,
  path: string,
  body: string,
  read: ReadReply<T>,
): NodeResult<T> {
  const { pool, deadline } = session
  const { clock, allowance, network } = pool
  await allowance.ready
  const { rpc, api, key } = node.endpoint
  const url = service === 'rpc' ? rpc : `${api}${path}`
  for (let attempt = 1; ; attempt += 1) {
    const sent = session.sent.get(node.number) ?? 0
    const room = allowance.take(node.number, session.payer, sent)
    if (!room.ok) {
      reportUsedUp(session, node, room.error)
      return limitedBy(room.error)
    }
    session.sent.set(node.number, sent + 1)
    const waitMs = room.value - clock.now()
    if (room.value >= deadline) return limitedBy({ kind: 'limited', whose: 'nodes', seconds: Math.ceil(waitMs / 1000) })
    if (waitMs > 0) await clock.sleep(waitMs)
    const health = node[service]
    const { rests, failures } = health
    const startedAt = clock.now()
    const result = await postJson(network, { url, key }, body, deadline, read)
    if (result.ok) {
      recordSuccess(health, clock.now() - startedAt, clock)
      return result
    }
    const { kind } = result.error
    recordError(session, node, service, result.error, rests)
    const isPassing = kind === 'unreachable' || kind === 'bad-answer'
    if (!isPassing || failures > 0 || attempt > 1 || clock.now() + limits.retryMs >= deadline) return result
    await clock.sleep(limits.retryMs)
  }
}

/** Where a tick has no request left, deposits wait: an operator must know why. */
function reportUsedUp(
  { pool, payer }: Session,
  { number }: TronNode,
  { whose, seconds }: NonNullable<NodeError['limit']>,
): void {
  if (payer.kind !== 'tick' || whose !== 'nodes') return
  pool.report('allowance-used-up', `node ${number}`, { node: number, seconds, why: 'perDay is used up' })
}

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
    pool.report('node-lies', `wrong-chain ${node.number}`, { node: node.number, why: detail })
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
    const room = Math.max(callsMax - 1, 1)
    if (group.length > room) {
      groups.unshift(...chunksOf(group, room))
      continue
    }
    const sent = group
    let tooLarge: number[] = []
    const result = await send(session, node, pick(calls, sent), isSingle, (replies) => {
      tooLarge = sent.filter((_, at) => sent.length > 1 && fitsSmallerBatch(replies[at]))
      for (const [at, i] of sent.entries()) {
        if (tooLarge.includes(i)) continue
        const value = read(replies[at] ?? oversizeReply, i)
        if (!value.ok) return value
        values[i] = value.value
      }
      return ok(null)
    })
    if (!result.ok && result.error.kind === 'batch-refused' && !isSingle) {
      node.callsMax = sent.length > 1 ? Math.ceil(sent.length / 2) + 1 : 1
      node.callsMaxUntil = clock.now() + limits.smallBatchesMs
      groups.unshift(sent)
    } else if (!result.ok && result.error.kind === 'too-large' && sent.length === 1) {
      const value = read(oversizeReply, sent[0] ?? 0)
      if (!value.ok) return value
      values[sent[0] ?? 0] = value.value
    } else if (!result.ok && result.error.kind !== 'too-large') return result
    else groups.unshift(...chunksOf(result.ok ? tooLarge : sent, Math.ceil(sent.length / 2)))
  }
  return ok(values)
}

const pick = (calls: readonly RpcCall[], indexes: readonly number[]) => calls.filter((_, i) => indexes.includes(i))

function chunksOf(items: readonly number[], length: number): number[][] {
  const chunks: number[][] = []
  for (let i = 0; i < items.length; i += length) chunks.push(items.slice(i, i + length))
  return chunks
}

/** One request: a batch that begins with the chain id, or a single call, which is the chain id where there is no other. */
function send(
  session: Session,
  node: TronNode,
  calls: readonly RpcCall[],
  isSingle: boolean,
  read: (replies: readonly RpcReply[]) => Result<null, NodeError>,
): NodeResult<null> {
  const all = isSingle && calls.length > 0 ? calls : [chainIdCall, ...calls]
  session.pool.lastId += 100 // so that no old reply of a proxy matches
  const firstId = session.pool.lastId
  return request(session, node, 'rpc', '', encodeCalls(all, firstId, isSingle), (value) => {
    const single = isSingle ? parseSingleReply(value, firstId) : null
    const replies =
      single === null ? parseBatchReply(value, firstId, all.length) : single.ok ? ok([single.value]) : single
    if (!replies.ok || all === calls) return replies.ok ? read(replies.value) : replies
    const chain = checkChain(session, replies.value[0])
    return chain.ok ? read(replies.value.slice(1)) : chain
  })
}

function checkChain({ pool }: Session, reply: RpcReply | undefined): Result<null, NodeError> {
  const chainId = reply?.kind === 'result' ? parseQuantity(reply.value) : null
  if (chainId === null) return nodeError('bad-answer', 'no chain id')
  return chainId === pool.chainId ? ok(null) : nodeError('wrong-chain', `chain id 0x${chainId.toString(16)}`)
}
