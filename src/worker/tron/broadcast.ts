import type { ChainResult, SendingReply } from '../chain/chain.ts'
import { nodeName } from '../chain/node-name.ts'
import { err, ok } from '../common/result.ts'
import { failureOf } from './agreement.ts'
import { askApi } from './ask.ts'
import { boxOf, type Session, standingOf, type TronNode } from './node.ts'
import { type NodeError, nodeError } from './node-errors.ts'
import { isObject } from './parse/fields.ts'

const codeForm = /^[A-Z_]{1,60}$/

/**
 * Sends a signed transaction to one node (see `Chain`). Whatever it says, it may have passed the transaction on, or not: a
 * success is no promise, and a refusal can be of one that is mined already (PROTOCOL.md, Collecting).
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
    const answer = await askApi(boxOf(session), node, '/wallet/broadcasthex', { transaction }, (value) => {
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

/** All nodes that may be asked: the quickest first, as each last answered, then another one each turn. Those that rest come last. */
function inTurn({ pool: { nodes, clock } }: Session, turn: number): readonly TronNode[] {
  const now = clock.now()
  const byTime = [...nodes].sort((a, b) => msOf(a) - msOf(b)) // stable
  const first = turn % Math.max(nodes.length, 1)
  const usable = [...byTime.slice(first), ...byTime.slice(0, first)].flatMap((node) => {
    const standing = standingOf(node.api, now)
    return standing === 'blocked' ? [] : [{ node, rests: standing === 'first' || standing === 'behind' ? 0 : 1 }]
  })
  return usable.sort((a, b) => a.rests - b.rests).map(({ node }) => node) // stable
}

/** What its last answer took. Of nodes that have not answered nothing is known. */
const msOf = ({ news: { answer } }: TronNode) => answer?.ms ?? 0
