import type { Address } from '../../addresses/address.ts'
import type { Header } from '../../chain/block.ts'
import { batchCallsMax } from '../../scan/limits.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { Log } from '../../platform/logger.ts'
import { type Call, encodeCalls, type Reply, readBatch, readSingle } from './json-rpc.ts'
import { learnedMs } from '../limits.ts'
import type { NodeEndpoint, NodeMemory, NodeState } from '../nodes/health.ts'
import { readHead } from '../parse/block.ts'
import { type Line, post } from './http.ts'
import { type Trouble, trouble } from '../nodes/node-error.ts'
import { parseQuantity } from '../parse/fields.ts'

/** What all questions of one invocation share. */
export interface Pool {
  readonly line: Line
  readonly log: Log
  readonly memory: NodeMemory
  readonly nodes: readonly PoolNode[]
  readonly quorum: number
  readonly chainId: bigint
  /** Block 0's hash where the network is a public one. */
  readonly genesis: string | null
  readonly tokens: ReadonlySet<Address>
}

/** A node by its number, from 1: the only name it has in logs. */
export interface PoolNode {
  readonly number: number
  readonly endpoint: NodeEndpoint
  readonly state: NodeState
}

/** What every batch carries in front: the chain id, and for money the node's finalized head as well. */
export type Guard = 'chain' | 'finalized'

/** A node's answers to calls, behind a chain id that was right. */
export interface Heard {
  /** Null where the guard did not ask. Of several requests the lowest. */
  readonly finalized: Header | null
  readonly replies: readonly Reply[]
}

type Hearing = Promise<Result<Heard, Trouble>>

const chainIdCall: Call = { method: 'eth_chainId', params: [] }
const finalizedCall: Call = { method: 'eth_getBlockByNumber', params: ['finalized', false] }
const guardCalls: Readonly<Record<Guard, readonly Call[]>> = {
  chain: [chainIdCall],
  finalized: [chainIdCall, finalizedCall],
}

/**
 * Puts `calls` to one node, in as few requests as it lets us: all in one batch; halves where the batch or its answer is
 * too large or refused; single calls where it takes no batches. An error to one call is a reply, not a trouble.
 * `batchMax` is the most calls a batch may hold with its guard.
 */
export async function ask(
  pool: Pool,
  node: PoolNode,
  guard: Guard,
  calls: readonly Call[],
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
export function isTooMuch(reply: Reply): boolean {
  return reply.kind === 'error' && (reply.code === -32005 || reply.code === -32003)
}

/** One after the other: the second half is not worth a request where the first fails. */
async function askInTwo(
  pool: Pool,
  node: PoolNode,
  guard: Guard,
  calls: readonly Call[],
  batchMax: number,
  firstCount: number,
): Hearing {
  const first = await ask(pool, node, guard, calls.slice(0, firstCount), batchMax)
  if (!first.ok) return first
  const second = await ask(pool, node, guard, calls.slice(firstCount), batchMax)
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

async function askAtOnce(pool: Pool, node: PoolNode, calls: readonly Call[], guard: Guard): Hearing {
  const firstId = idOf(pool.line)
  const answered = await post(pool.line, target(node), encodeCalls(calls, firstId, false))
  if (!answered.ok) return answered
  const replies = readBatch(answered.value, firstId, calls.length)
  return replies.ok ? checkGuard(pool, node, guard, replies.value) : replies
}

/** Each call in a request of its own, the guard's first. What holds them together is checked by hash alone. */
async function askSingly(pool: Pool, node: PoolNode, guard: Guard, calls: readonly Call[]): Hearing {
  const replies: Reply[] = []
  for (const call of [...guardCalls[guard], ...calls]) {
    const id = idOf(pool.line)
    const answered = await post(pool.line, target(node), encodeCalls([call], id, true))
    if (!answered.ok) return answered
    const reply = readSingle(answered.value, id)
    if (!reply.ok) return reply
    replies.push(reply.value)
  }
  return checkGuard(pool, node, guard, replies)
}

/** The first of ids that no other request of this invocation has, so that a stale answer in a proxy matches none. */
function idOf(line: Line): number {
  line.lastId += 100
  return line.lastId
}

const target = ({ endpoint }: PoolNode) => ({ url: endpoint.rpc, key: endpoint.key })

function checkGuard(pool: Pool, node: PoolNode, guard: Guard, all: readonly Reply[]): Result<Heard, Trouble> {
  const [chainId, finalized] = all
  if (chainId?.kind !== 'result') return err(trouble('bad-answer', 'no chain id'))
  const said = parseQuantity(chainId.value)
  if (said === null) return err(trouble('bad-answer', 'a malformed chain id'))
  if (said !== pool.chainId) return err(trouble('wrong-chain', `chain id 0x${said.toString(16)}`))
  if (guard === 'chain') return ok({ finalized: null, replies: all.slice(1) })
  if (finalized?.kind !== 'result') {
    if (finalized === undefined || !isUnsupported(finalized)) return err(trouble('bad-answer', 'no finalized head'))
    if (node.state.facts !== null) node.state.facts = { ...node.state.facts, finalized: false }
    return err(trouble('unfit', 'no finalized blocks'))
  }
  if (finalized.value === null) return err(trouble('behind', 'no finalized head yet'))
  const head = readHead(finalized.value)
  if (!head.ok) return err(trouble('bad-answer', `finalized head: ${head.error}`))
  const { wire: _, ...header } = head.value
  return ok({ finalized: header, replies: all.slice(2) })
}

/** A node that does not know a method, or reads a newer tag as a malformed number (2.2). */
export function isUnsupported(reply: Reply): boolean {
  return reply.kind === 'error' && [-32600, -32601, -32602, -32700].includes(reply.code)
}

function callsMaxOf({ line }: Pool, { state }: PoolNode): number {
  if (line.clock.now() - state.callsMaxAt > learnedMs) state.callsMax = Number.POSITIVE_INFINITY
  return state.callsMax
}

/** Remembers what was refused, so that the next question does not begin with it. */
function learn({ line }: Pool, { state }: PoolNode, calls: number, guard: Guard): void {
  state.callsMax = calls > 1 ? Math.ceil(calls / 2) + guardCalls[guard].length : 1
  state.callsMaxAt = line.clock.now()
}
