import type { BlockHeight, Header } from '../chain/block.ts'
import type { ChainResult } from '../chain/chain.ts'
import { err, ok } from '../common/result.ts'
import { agreeOnOne, collect, failureOf, type Vote } from './agreement.ts'
import { askOne, parseFinalized, recordError } from './ask.ts'
import { blockCall, parseResult } from './json-rpc.ts'
import { behindMs, headSpreadMax } from './limits.ts'
import type { Session, TronNode } from './node.ts'
import { parseBriefBlock } from './parse/block.ts'
import { whyImplausible } from './plausible.ts'
import { type NodeResult, nodeError } from './transport.ts'

type StoredHead = { readonly height: BlockHeight; readonly time: number } | null

/**
 * The newest block that is final for `quorum` nodes with the same hash: the `quorum`-th highest of their heads. So a single
 * node can neither move it ahead nor, where further nodes can be asked, keep it behind.
 */
export async function readFinalizedHead(session: Session, known: StoredHead): ChainResult<Header> {
  const { quorum, clock } = session.pool
  const stored = await withTime(session, known)
  if (!stored.ok) return stored
  const { answers, errors } = await collect(
    session,
    'chain',
    (node) => readHead(session, node, stored.value),
    (all) => {
      const heights = all.map(({ value }) => value.height)
      const isClose = Math.max(...heights) - Math.min(...heights) <= headSpreadMax
      return isClose && all.length >= quorum ? 0 : Math.max(quorum - all.length, 1)
    },
  )
  const sorted = [...answers].sort((a, b) => b.value.height - a.value.height)
  const lowest = sorted[quorum - 1]?.value
  if (lowest === undefined) return err(failureOf(session, errors))
  const { height } = lowest
  for (const { node, value } of answers) {
    if (height - value.height > headSpreadMax) node.rpc.demotedUntil = clock.now() + behindMs
  }
  const heads = new Map(answers.map(({ node, value }) => [node, value]))
  const about = `finalized block ${height}`
  const agreed = await agreeOnOne(session, 'chain', about, async (node) => {
    const head = heads.get(node)
    // A node whose head is lower is not asked for a block that it does not have.
    if (head !== undefined && head.height < height) return nodeError('behind', `final up to ${head.height}`)
    const isParent = head?.height === height + 1 && head.parentHash === lowest.hash
    const read = head?.height === height ? head : isParent ? lowest : null
    const own = read === null ? await readHeader(session, node, height) : ok(read)
    return own.ok ? ok([headVote(own.value)]) : own
  })
  return agreed.ok ? ok(agreed.value.value) : agreed
}

/** After a correction the time of the stored head is not known: it is asked, as without it no height would be implausible. */
async function withTime(session: Session, stored: StoredHead): ChainResult<StoredHead> {
  if (stored === null || stored.time > 0) return ok(stored)
  const { height } = stored
  const about = `block ${height}`
  const agreed = await agreeOnOne(session, 'chain', about, async (node) => {
    const own = await readHeader(session, node, height)
    return own.ok ? ok([headVote(own.value)]) : own
  })
  return agreed.ok ? ok({ height, time: agreed.value.value.timestamp }) : agreed
}

/** With the time: heads are compared with it, and the hash of a header that is not computed proves none. */
function headVote(value: Header): Vote<Header> {
  return { about: { height: value.height }, facts: `hash ${value.hash}\ntime ${value.timestamp}`, rest: '', value }
}

async function readHead(session: Session, node: TronNode, stored: StoredHead): NodeResult<Header> {
  const result = await askOne(session, node, blockCall('finalized'), parseFinalized)
  if (!result.ok) return result
  const { height, hash, parentHash, timestamp } = result.value
  const final = stored && { height: stored.height, timestamp: stored.time }
  const why = whyImplausible(result.value, final, session.pool.clock.now())
  if (why === null) return ok({ height, hash, parentHash, timestamp })
  const lie = nodeError('bad-answer', why)
  recordError(session, node, 'rpc', lie.error)
  session.pool.report('node-lies', { node: node.number }, { node: node.number, why })
  return lie
}

function readHeader(session: Session, node: TronNode, height: BlockHeight): NodeResult<Header> {
  return askOne(session, node, blockCall(height), (reply) => {
    const header = parseResult(reply, `block ${height}`, parseBriefBlock)
    if (!header.ok || header.value.height === height) return header
    return nodeError('bad-answer', `block ${header.value.height} in place of ${height}`)
  })
}
