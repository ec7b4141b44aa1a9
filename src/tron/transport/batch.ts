import type { Address } from '../../addresses/address.ts'
import type { Header } from '../../chain/block.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { Logger } from '../../platform/logger.ts'
import { batchCallsMax, batchLimitMs } from '../limits.ts'
import type { NodeEndpoint, NodeHealth, NodeHealthStore } from '../nodes/health.ts'
import { type NodeError, nodeError } from '../nodes/node-error.ts'
import { parseHeader } from '../parse/block.ts'
import { parseQuantityField } from '../parse/fields.ts'
import { postJson, type RequestBudget } from './http.ts'
import { encodeCalls, parseBatchReply, parseSingleReply, type RpcCall, type RpcReply } from './json-rpc.ts'

/** What all questions of one invocation share. */
export interface NodePool {
  readonly budget: RequestBudget
  readonly log: Logger
  readonly health: NodeHealthStore
  readonly nodes: readonly TronNode[]
  readonly quorum: number
  readonly chainId: bigint
  /** Block 0's hash where the network is a public one. */
  readonly genesis: string | null
  readonly tokens: ReadonlySet<Address>
}

/** A node by its number, from 1: the only name it has in logs. */
export interface TronNode {
  readonly number: number
  readonly endpoint: NodeEndpoint
  readonly health: NodeHealth
}

/** What every batch carries in front: the chain id, and for money the node's finalized head as well. */
export type BatchGuard = 'chain' | 'finalized'

/** A node's answers to calls, behind a chain id that was right. */
export interface NodeReplies {
  /** Null where the guard did not ask. Of several requests the lowest. */
  readonly finalized: Header | null
  readonly replies: readonly RpcReply[]
}

type Hearing = Promise<Result<NodeReplies, NodeError>>

const chainIdCall: RpcCall = { method: 'eth_chainId', params: [] }
const finalizedCall: RpcCall = { method: 'eth_getBlockByNumber', params: ['finalized', false] }
const guardCalls: Readonly<Record<BatchGuard, readonly RpcCall[]>> = {
  chain: [chainIdCall],
  finalized: [chainIdCall, finalizedCall],
}

/**
 * Puts `calls` to one node, in as few requests as it lets us: all in one batch; halves where the batch or its answer is
 * too large or refused; single calls where it takes no batches. An error to one call is a reply, not a trouble.
 * `batchMax` is the most calls a batch may hold with its guard.
 */
export async function queryNode(
  pool: NodePool,
  node: TronNode,
  guard: BatchGuard,
  calls: readonly RpcCall[],
  batchMax = batchCallsMax,
): Hearing {
  const room = Math.min(batchMax, callsMaxOf(pool, node)) - guardCalls[guard].length
  if (room < 1) return askSingly(pool, node, guard, calls)
  if (calls.length > room) return askInTwo(pool, node, guard, calls, batchMax, room)
  const heard = await askAtOnce(pool, node, [...guardCalls[guard], ...calls], guard)
  if (heard.ok) return calls.length > 1 && heard.value.replies.some(isTooMuch) ? halves() : heard
  const { kind } = heard.error
  if (kind === 'batch-refused') learn(pool, node, calls.length, guard)
  if (kind !== 'batch-refused' && kind !== 'too-large') return heard
  return calls.length > 1 ? halves() : askSingly(pool, node, guard, calls)

  function halves(): Hearing {
    return askInTwo(pool, node, guard, calls, batchMax, Math.ceil(calls.length / 2))
  }
}

/** Too many results, or too long an answer (7.2): fewer calls may pass. */
export function isTooMuch(reply: RpcReply): boolean {
  return reply.kind === 'error' && (reply.code === -32005 || reply.code === -32003)
}

/** One after the other: the second half is not worth a request where the first fails. */
async function askInTwo(
  pool: NodePool,
  node: TronNode,
  guard: BatchGuard,
  calls: readonly RpcCall[],
  batchMax: number,
  firstCount: number,
): Hearing {
  const first = await queryNode(pool, node, guard, calls.slice(0, firstCount), batchMax)
  if (!first.ok) return first
  const second = await queryNode(pool, node, guard, calls.slice(firstCount), batchMax)
  if (!second.ok) return second
  return ok({
    finalized: lower(first.value.finalized, second.value.finalized),
    replies: [...first.value.replies, ...second.value.replies],
  })
}

function lower(a: Header | null, b: Header | null): Header | null {
  if (a === null || b === null) return a ?? b
  return a.height <= b.height ? a : b
}

async function askAtOnce(pool: NodePool, node: TronNode, calls: readonly RpcCall[], guard: BatchGuard): Hearing {
  const firstId = idOf(pool.budget)
  const answered = await postJson(pool.budget, target(node), encodeCalls(calls, firstId, false))
  if (!answered.ok) return answered
  const replies = parseBatchReply(answered.value, firstId, calls.length)
  return replies.ok ? checkGuard(pool, node, guard, replies.value) : replies
}

/** Each call in a request of its own, the guard's first. What holds them together is checked by hash alone. */
async function askSingly(pool: NodePool, node: TronNode, guard: BatchGuard, calls: readonly RpcCall[]): Hearing {
  const replies: RpcReply[] = []
  for (const call of [...guardCalls[guard], ...calls]) {
    const id = idOf(pool.budget)
    const answered = await postJson(pool.budget, target(node), encodeCalls([call], id, true))
    if (!answered.ok) return answered
    const reply = parseSingleReply(answered.value, id)
    if (!reply.ok) return reply
    replies.push(reply.value)
  }
  return checkGuard(pool, node, guard, replies)
}

/** The first of ids that no other request of this invocation has, so that a stale answer in a proxy matches none. */
function idOf(line: RequestBudget): number {
  line.lastId += 100
  return line.lastId
}

const target = ({ endpoint }: TronNode) => ({ url: endpoint.rpc, key: endpoint.key })

function checkGuard(
  pool: NodePool,
  node: TronNode,
  guard: BatchGuard,
  all: readonly RpcReply[],
): Result<NodeReplies, NodeError> {
  const [chainId, finalized] = all
  if (chainId?.kind !== 'result') return err(nodeError('bad-answer', 'no chain id'))
  const said = parseQuantityField(chainId.value)
  if (said === null) return err(nodeError('bad-answer', 'a malformed chain id'))
  if (said !== pool.chainId) return err(nodeError('wrong-chain', `chain id 0x${said.toString(16)}`))
  if (guard === 'chain') return ok({ finalized: null, replies: all.slice(1) })
  if (finalized?.kind !== 'result') {
    if (finalized === undefined || !isUnsupported(finalized)) return err(nodeError('bad-answer', 'no finalized head'))
    if (node.health.facts !== null) node.health.facts = { ...node.health.facts, finalized: false }
    return err(nodeError('unfit', 'no finalized blocks'))
  }
  if (finalized.value === null) return err(nodeError('behind', 'no finalized head yet'))
  const head = parseHeader(finalized.value)
  if (!head.ok) return err(nodeError('bad-answer', `finalized head: ${head.error}`))
  const { rawTransactions: _, ...header } = head.value
  return ok({ finalized: header, replies: all.slice(2) })
}

/** A node that does not know a method, or reads a newer tag as a malformed number (2.2). */
export function isUnsupported(reply: RpcReply): boolean {
  return reply.kind === 'error' && [-32600, -32601, -32602, -32700].includes(reply.code)
}

function callsMaxOf({ budget: line }: NodePool, { health: state }: TronNode): number {
  if (line.clock.now() - state.callsMaxAt > batchLimitMs) state.callsMax = Number.POSITIVE_INFINITY
  return state.callsMax
}

/** Remembers what was refused, so that the next question does not begin with it. */
function learn({ budget: line }: NodePool, { health: state }: TronNode, calls: number, guard: BatchGuard): void {
  state.callsMax = calls > 1 ? Math.ceil(calls / 2) + guardCalls[guard].length : 1
  state.callsMaxAt = line.clock.now()
}
