import type { ChainResult } from '../chain/chain.ts'
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
export async function broadcastTransaction(session: Session, transaction: string, turn: number): ChainResult<string> {
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
    if (answer.ok) return ok(`node ${node.number}: ${answer.value}`)
    errors.set(node, answer.error)
  }
  return err(failureOf(session, errors))
}

/** All nodes that may be asked, beginning with another one each turn. Those that rest come last. */
function inTurn({ pool: { nodes, clock } }: Session, turn: number): readonly TronNode[] {
  const now = clock.now()
  const first = turn % Math.max(nodes.length, 1)
  const usable = [...nodes.slice(first), ...nodes.slice(0, first)].flatMap((node) => {
    const standing = standingOf(node.api, now)
    return standing === 'blocked' ? [] : [{ node, rests: standing === 'resting' ? 1 : 0 }]
  })
  return usable.sort((a, b) => a.rests - b.rests).map(({ node }) => node) // stable
}
