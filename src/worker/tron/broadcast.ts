import type { ChainResult, NodeSendings, SendingReply } from '../chain/chain.ts'
import { nodeName } from '../chain/node-name.ts'
import { err, ok, type Result } from '../common/result.ts'
import { failureOf } from './agreement.ts'
import { beginTurn, limitedBy, noRoom, sendOnce } from './ask.ts'
import { broadcastMs } from './limits.ts'
import { type Session, standingOf, type TronNode } from './node.ts'
import { type NodeError, nodeError } from './node-errors.ts'
import { noteHealth } from './node-health.ts'
import { isObject } from './parse/fields.ts'

const codeForm = /^[A-Z_]{1,60}$/

/**
 * Broadcasts a signed transaction through one node (`Chain.broadcast`). The answer proves nothing:
 * after a success the node may not pass it on, and a refused transaction may be mined already
 * (PROTOCOL.md, Collecting).
 */
export async function broadcastTransaction(
  session: Session,
  transaction: string,
  before: readonly NodeSendings[],
): ChainResult<SendingReply> {
  const { clock, nodes, ready } = session.pool
  await ready
  const errors = new Map<TronNode, NodeError>()
  const candidates = () => nextNodes(session, before, errors)
  while (candidates().length > 0) {
    // A node is chosen when one has room, because a node may fail while others wait for it.
    const turn = await beginTurn(session, () => candidates().map(({ number }) => number))
    if (!turn.ok) {
      const { error } = turn.error.kind === 'late' ? noRoom() : limitedBy(turn.error)
      return err(failureOf(session, new Map(candidates().map((node) => [node, error]))))
    }
    const node = nodes[turn.value.number - 1]
    if (node === undefined) throw new Error(`no node ${turn.value.number}`)
    node.telemetry.broadcastAt = clock.now()
    const body = JSON.stringify({ transaction })
    const own = { ...session, nodeDeadline: { until: clock.now() + broadcastMs } }
    const code = await sendOnce(own, node, 'api', '/wallet/broadcasthex', body, parseCode, turn.value)
    noteHealth(own, node, 'broadcasting', code.ok ? inability(code.value) : code.error)
    if (code.ok) node.lacksPeers = inability(code.value)?.kind === 'no-peers'
    if (code.ok) return ok({ node: node.number, name: nodeLabel(node), code: code.value })
    errors.set(node, code.error)
  }
  return err(failureOf(session, errors))
}

function parseCode(value: unknown): Result<string, NodeError> {
  const code = isObject(value) && value.result === true ? 'SUCCESS' : isObject(value) ? value.code : undefined
  return typeof code === 'string' && codeForm.test(code)
    ? ok(code)
    : nodeError('bad-answer', 'no result of a broadcast')
}

/**
 * With these codes a node says that it cannot pass on any transaction (PROTOCOL.md, Errors of the
 * HTTP API). All others are about the transaction.
 */
const inabilities: Readonly<Record<string, NodeError>> = {
  NO_CONNECTION: { kind: 'no-peers', detail: 'it has no peers (NO_CONNECTION)' },
  NOT_ENOUGH_EFFECTIVE_CONNECTION: { kind: 'no-peers', detail: 'it has no peers (NOT_ENOUGH_EFFECTIVE_CONNECTION)' },
  SERVER_BUSY: { kind: 'rate-limited', detail: 'it is busy (SERVER_BUSY)' },
}

const inability = (code: string): NodeError | null => inabilities[code] ?? null

const nodeLabel = ({ number, endpoint: { name, rpc } }: TronNode) => {
  return nodeName(number, { name, host: new URL(rpc.url).hostname })
}

/**
 * The nodes to which a transaction may be sent next, the best one first. Nodes that rest come only
 * if all others have failed in this sending. Of the rest, those that have answered least often: an
 * answer counts for one, and being behind or slow for one more, so that such a node comes after the
 * first healthy ones and before a healthy one is asked for the third time. Among equals the node
 * that answered longest ago comes first, then the one that got a transaction longest ago.
 */
function nextNodes(
  { pool: { nodes, clock } }: Session,
  before: readonly NodeSendings[],
  failed: ReadonlyMap<TronNode, unknown>,
): readonly TronNode[] {
  const now = clock.now()
  const all = nodes.flatMap((node) => {
    const standing = standingOf(node.api, now)
    if (standing === 'blocked' || failed.has(node)) return []
    const { times, at } = before.find(({ node: number }) => number === node.number) ?? { times: 0, at: 0 }
    const isHealthy = standing === 'first' && node.behindSince === null
    return [{ node, isResting: standing === 'resting', times, at, rank: times + (isHealthy ? 0 : 1) }]
  })
  const awake = all.some(({ isResting }) => !isResting) ? all.filter(({ isResting }) => !isResting) : all
  const least = Math.min(...awake.map(({ rank }) => rank))
  return awake
    .filter(({ rank }) => rank === least)
    .sort((a, b) => a.times - b.times || a.at - b.at || sentAt(a.node) - sentAt(b.node))
    .map(({ node }) => node)
}

const sentAt = ({ telemetry }: TronNode) => telemetry.broadcastAt ?? 0
