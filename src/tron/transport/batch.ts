import type { Header } from '../../chain/block.ts'
import { parseQuantity } from '../../chain/quantity.ts'
import { ok, type Result } from '../../common/result.ts'
import { blockCall, chainIdCall } from '../calls.ts'
import { batchCallsMax, batchLimitMs } from '../limits.ts'
import type { NodePool, TronNode } from '../nodes/node.ts'
import { type NodeError, type NodeResult, nodeError } from '../nodes/node-error.ts'
import { parseHeader } from '../parse/block.ts'
import { postJson } from './http.ts'
import type { RpcCall, RpcReply } from './json-rpc.ts'
import * as rpc from './json-rpc.ts'

/** The first calls of every batch, whose replies are checked: the chain id, or chain id and finalized head. */
export type BatchGuard = 'chain' | 'finalized'

/** The replies to calls, from a node with the right chain id. */
export interface NodeReplies {
  /** The lowest finalized head of all requests, or null with the guard `chain`. */
  readonly finalized: Header | null
  readonly replies: readonly RpcReply[]
}

/** The replies to calls about blocks that are final at the node. */
export type FinalReplies = NodeReplies & { readonly finalized: Header }

const guardCalls: Readonly<Record<BatchGuard, readonly RpcCall[]>> = {
  chain: [chainIdCall],
  finalized: [chainIdCall, blockCall('finalized', false)],
}

/** How a query is sent. */
export interface QueryOptions {
  /** Calls of one batch, the guard included; `batchCallsMax` where it is not given. */
  readonly batchMax?: number
  /** The first id of the calls where they fit into one batch, from `takeIds`; new ones where it is not given. */
  readonly firstId?: number | undefined
}

/**
 * Sends calls to one node in as few requests as it allows: one batch, halves where the batch is refused or too large, single
 * calls where the node takes no batches. An error as the reply to one call is not a node error.
 */
export async function queryNode(
  node: TronNode,
  guard: BatchGuard,
  calls: readonly RpcCall[],
  { batchMax = batchCallsMax, firstId }: QueryOptions = {},
): NodeResult<NodeReplies> {
  const { health, pool } = node
  const { clock } = pool.budget
  if (clock.now() > health.callsMaxUntil) health.callsMax = Number.POSITIVE_INFINITY
  const guardCount = guardCalls[guard].length
  const room = Math.min(batchMax, health.callsMax) - guardCount
  if (room < 1) return sendSingly(node, guard, calls)
  if (calls.length > room) return sendParts(node, guard, calls, batchMax, room)
  const result = await sendBatch(node, guard, calls, firstId ?? takeIds(pool))
  if (result.ok) return repeatTooLarge(node, guard, calls, batchMax, result.value)
  const { kind } = result.error
  if (kind === 'batch-refused') {
    health.callsMax = calls.length > 1 ? Math.ceil(calls.length / 2) + guardCount : 1
    health.callsMaxUntil = clock.now() + batchLimitMs
  } else if (kind !== 'too-large') return result
  if (calls.length > 1) return sendParts(node, guard, calls, batchMax, Math.ceil(calls.length / 2))
  return sendSingly(node, guard, calls)
}

/** The first `firstCount` calls in one query and the others in a second one. */
async function sendParts(
  node: TronNode,
  guard: BatchGuard,
  calls: readonly RpcCall[],
  batchMax: number,
  firstCount: number,
): NodeResult<NodeReplies> {
  const first = await queryNode(node, guard, calls.slice(0, firstCount), { batchMax })
  if (!first.ok) return first // no request for the second part
  const second = await queryNode(node, guard, calls.slice(firstCount), { batchMax })
  if (!second.ok) return second
  const replies = [...first.value.replies, ...second.value.replies]
  return ok({ finalized: lowerOf(first.value, second.value), replies })
}

/** Sends those calls again, in smaller batches, whose replies are too large and can fit into one. */
async function repeatTooLarge(
  node: TronNode,
  guard: BatchGuard,
  calls: readonly RpcCall[],
  batchMax: number,
  result: NodeReplies,
): NodeResult<NodeReplies> {
  const indexes = [...calls.keys()].filter((i) => rpc.fitsSmallerBatch(calls[i], result.replies[i]))
  if (calls.length <= 1 || indexes.length === 0) return ok(result)
  const repeated = calls.filter((_, i) => indexes.includes(i))
  const again =
    repeated.length < calls.length
      ? await queryNode(node, guard, repeated, { batchMax })
      : await sendParts(node, guard, repeated, batchMax, Math.ceil(repeated.length / 2))
  if (!again.ok) return again
  const replies = result.replies.map((reply, i) => again.value.replies[indexes.indexOf(i)] ?? reply)
  return ok({ finalized: lowerOf(result, again.value), replies })
}

/** As `queryNode` with the guard `finalized`, for calls about blocks up to `height`, which must be final at the node. */
export async function queryFinal(
  node: TronNode,
  height: number,
  calls: readonly RpcCall[],
  firstId?: number,
): NodeResult<FinalReplies> {
  const result = await queryNode(node, 'finalized', calls, { firstId })
  if (!result.ok) return result
  const { finalized, replies } = result.value
  if (finalized === null) return nodeError('bad-answer', 'no finalized head')
  if (finalized.height < height) return nodeError('behind', `final up to ${finalized.height}, not ${height}`)
  return ok({ finalized, replies })
}

/** The lower finalized head of two results of one node. */
function lowerOf({ finalized: a }: NodeReplies, { finalized: b }: NodeReplies): Header | null {
  return a === null || b === null || a.height < b.height ? a : b
}

async function sendBatch(
  node: TronNode,
  guard: BatchGuard,
  calls: readonly RpcCall[],
  firstId: number,
): NodeResult<NodeReplies> {
  const all = [...guardCalls[guard], ...calls]
  const reply = await postJson(node.pool.budget, targetOf(node), rpc.encodeCalls(all, firstId, false), node.allowance)
  const replies = reply.ok ? rpc.parseBatchReply(reply.value, firstId, all.length) : reply
  return replies.ok ? checkGuard(node, guard, replies.value) : replies
}

/** Each call in its own request, the guard's calls first. Only block hashes connect the replies. */
async function sendSingly(node: TronNode, guard: BatchGuard, calls: readonly RpcCall[]): NodeResult<NodeReplies> {
  const replies: RpcReply[] = []
  const guardCount = guardCalls[guard].length
  for (const call of [...guardCalls[guard], ...calls]) {
    const id = takeIds(node.pool)
    const value = await postJson(node.pool.budget, targetOf(node), rpc.encodeCalls([call], id, true), node.allowance)
    const reply = value.ok ? rpc.parseSingleReply(value.value, id) : value
    if (reply.ok) replies.push(reply.value)
    else if (reply.error.kind === 'too-large' && replies.length >= guardCount) replies.push(rpc.oversizeReply)
    else return reply
  }
  return checkGuard(node, guard, replies)
}

/**
 * The first of 100 ids that no other request of the invocation to the same node has, so that no old reply of a proxy matches.
 */
export function takeIds({ budget }: NodePool): number {
  budget.lastId += 100
  return budget.lastId
}

const targetOf = ({ endpoint }: TronNode) => ({ url: endpoint.rpc, key: endpoint.key })

function checkGuard(node: TronNode, guard: BatchGuard, replies: readonly RpcReply[]): Result<NodeReplies, NodeError> {
  const { pool, health } = node
  const [idReply, headReply] = replies
  const chainId = idReply?.kind === 'result' ? parseQuantity(idReply.value) : null
  if (chainId === null) return nodeError('bad-answer', 'no chain id')
  if (chainId !== pool.chainId) return nodeError('wrong-chain', `chain id 0x${chainId.toString(16)}`)
  if (guard === 'chain') return ok({ finalized: null, replies: replies.slice(1) })
  const head = parseFinalized(headReply)
  if (head.ok) return ok({ finalized: head.value, replies: replies.slice(2) })
  if (head.error.kind === 'unfit' && health.facts !== null) health.facts = { ...health.facts, finalized: false }
  return head
}

/** The finalized head in a reply. A node that does not support the tag is `unfit` (PROTOCOL.md, Block tags). */
export function parseFinalized(reply: RpcReply | undefined): Result<Header, NodeError> {
  if (reply !== undefined && rpc.isUnsupported(reply)) return nodeError('unfit', 'no finalized blocks')
  return rpc.parseResult(reply, 'finalized head', parseHeader)
}
