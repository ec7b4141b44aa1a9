import type { ChainResult, SendingReply } from '../chain/chain.ts'
import { nodeName } from '../chain/node-name.ts'
import { err, ok } from '../common/result.ts'
import { failureOf } from './agreement.ts'
import { askApi } from './ask.ts'
import { type Session, standingOf, type TronNode, withDeadline } from './node.ts'
import { type NodeError, nodeError } from './node-errors.ts'
import { isObject } from './parse/fields.ts'

const codeForm = /^[A-Z_]{1,60}$/

/**
 * Broadcasts a signed transaction through one node, which `turn` chooses (`Chain.broadcast`). The answer proves nothing: after a success the node may not
 * pass it on, and a refused transaction may be mined already (PROTOCOL.md, Collecting).
 */
export async function broadcastTransaction(
  session: Session,
  transaction: string,
  turn: number,
): ChainResult<SendingReply> {
  const { pool } = session
  await pool.ready
  const errors = new Map<TronNode, NodeError>()
  for (const node of inTurn(session, turn)) {
    const answer = await askApi(withDeadline(session), node, '/wallet/broadcasthex', { transaction }, (value) => {
      const code = isObject(value) && value.result === true ? 'SUCCESS' : isObject(value) ? value.code : undefined
      return typeof code === 'string' && codeForm.test(code)
        ? ok(code)
        : nodeError('bad-answer', 'no result of a broadcast')
    })
    if (answer.ok) return ok({ node: node.number, name: nameOf(node), code: answer.value })
    errors.set(node, answer.error)
  }
  return err(failureOf(session, errors))
}

const nameOf = ({ number, endpoint: { name, rpc } }: TronNode) => {
  return nodeName(number, { name, host: new URL(rpc.url).hostname })
}

/** All usable nodes, sorted by the time of their last answers. Each turn begins with the next node of this order. Resting nodes come last. */
function inTurn({ pool: { nodes, clock } }: Session, turn: number): readonly TronNode[] {
  const now = clock.now()
  const byTime = [...nodes].sort((a, b) => msOf(a) - msOf(b)) // a stable sort: nodes with equal times keep the configured order
  const first = turn % Math.max(nodes.length, 1)
  const usable = [...byTime.slice(first), ...byTime.slice(0, first)].flatMap((node) => {
    const standing = standingOf(node.api, now)
    return standing === 'blocked' ? [] : [{ node, rests: standing === 'first' || standing === 'behind' ? 0 : 1 }]
  })
  return usable.sort((a, b) => a.rests - b.rests).map(({ node }) => node) // a stable sort: among resting nodes, and among the others, the order stays
}

/** Milliseconds that the node's last answer took; 0 if it has not answered yet. */
const msOf = ({ telemetry: { answer } }: TronNode) => answer?.ms ?? 0
