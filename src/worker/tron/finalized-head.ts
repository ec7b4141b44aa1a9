import { type BlockHeight, blockSeconds, type Header } from '../chain/block.ts'
import type { AgreedHead, ChainFailure, ChainResult } from '../chain/chain.ts'
import { err, ok } from '../common/result.ts'
import { agreeOnOne, collect, failureOf, type Vote } from './agreement.ts'
import { askOne, parseFinalized, recordError } from './ask.ts'
import { blockCall, parseResult } from './json-rpc.ts'
import { behindMs, headHeightsMax, headSpreadMax, timedBelow } from './limits.ts'
import { fieldsOf, type Session, type TronNode } from './node.ts'
import { type NodeResult, nodeError } from './node-errors.ts'
import { noteHealth } from './node-health.ts'
import { parseBriefBlock } from './parse/block.ts'
import { whyImplausible } from './plausible.ts'
import { type Heads, isOld, type NodeHead, watchHeads } from './watch-nodes.ts'

/**
 * The newest final block that is stored; null before the scan has started. The time is 0 if it is
 * not known.
 */
export type StoredHead = { readonly height: BlockHeight; readonly time: number } | null

/**
 * Reads the newest block that `quorum` nodes call final, with the same hash. It begins at the
 * `quorum`-th highest of the nodes' heads (their newest final blocks). A single node cannot move
 * the result ahead, nor hold it back if more nodes can be asked. If nodes do not agree on a head,
 * the next lower one is tried, so a node that invents heads cannot prevent a quorum of the other
 * nodes.
 */
export async function readFinalizedHead(session: Session, known: StoredHead): ChainResult<AgreedHead> {
  const { pool } = session
  const { quorum } = pool
  const stored = await withTime(session, known)
  if (!stored.ok) return stored
  const heads = await collect(
    session,
    'chain',
    (node, nodeSession) => readHead(nodeSession, node, stored.value),
    (all) => {
      const isClose = all.every(({ value }) => all.every((other) => !isOvertaken(value, other.value)))
      // If all heads are old, one more node may show that the chain has not stopped.
      const isFresh = all.some(({ value }) => !isOld(value, pool.clock.now()))
      return isClose && isFresh && all.length >= quorum ? 0 : Math.max(quorum - all.length, 1)
    },
  )
  const behind = watchHeads(session, heads)
  const sorted = heads.answers.map(({ value }) => value).sort((a, b) => b.height - a.height)
  const highest = sorted[quorum - 1]
  if (highest === undefined) return err(failureOf(session, heads.errors))
  for (const { node, value } of heads.answers) {
    if (isOvertaken(value, highest)) node.rpc.behindUntil = pool.clock.now() + behindMs
  }
  const candidates = sorted.slice(quorum - 1).filter(({ height }, i, all) => height !== all[i - 1]?.height)
  let failure: ChainFailure = failureOf(session, heads.errors)
  for (const head of candidates.slice(0, headHeightsMax)) {
    const agreed = await agreeOnHead(session, heads, head)
    if (agreed.ok) return ok({ header: agreed.value, behind })
    if (head === highest) failure = agreed.error
    if (agreed.error.kind !== 'disagreement' && agreed.error.kind !== 'no-answer') break
  }
  return err(failure)
}

/**
 * Whether a head is lower than another one by more blocks than the heads of honest nodes differ. If
 * the other node answered later, its head may be higher by the blocks that were made in between.
 */
function isOvertaken(head: NodeHead, other: NodeHead): boolean {
  const laterMs = Math.max(other.at - head.at, 0)
  return other.height - head.height > headSpreadMax + Math.ceil(laterMs / (blockSeconds * 1000))
}

/** The block of a head, agreed by `quorum` nodes. */
async function agreeOnHead(session: Session, { answers }: Heads, candidate: NodeHead): ChainResult<Header> {
  const { height } = candidate
  const about = `finalized block ${height}`
  const able = answers.filter(({ value }) => value.height >= height)
  const isShown = able.every(({ value }) => {
    const header = shownBy(value, candidate)
    return header !== null && headVote(header).canonicalText === headVote(candidate).canonicalText
  })
  // the nodes agree already, so none is asked again
  if (isShown && able.length >= session.pool.quorum) return ok(headerOf(candidate))
  const heads = new Map(answers.map(({ node, value }) => [node, value]))
  const agreed = await agreeOnOne(session, 'chain', about, async (node, nodeSession) => {
    const head = heads.get(node)
    // A node with a lower head is not asked, because it does not have the block.
    if (head !== undefined && head.height < height) return nodeError('behind', `final up to ${head.height}`)
    const read = head === undefined ? null : shownBy(head, candidate)
    const header = read === null ? await readHeader(nodeSession, node, height) : ok(read)
    return header.ok ? ok([headVote(header.value)]) : header
  })
  return agreed.ok ? ok(headerOf(agreed.value.value)) : agreed
}

const headerOf = ({ height, hash, parentHash, timestamp }: Header): Header => ({ height, hash, parentHash, timestamp })

/**
 * The block at the candidate's height as this head shows it: the head itself, or its parent. Null
 * if it shows neither.
 */
function shownBy(head: NodeHead, candidate: NodeHead): NodeHead | null {
  if (head.height === candidate.height) return head
  const isParent = head.height === candidate.height + 1 && head.parentHash === candidate.hash
  return isParent ? candidate : null
}

/**
 * After an operator's correction the time of the stored head is unknown. The time is read again
 * from the nodes, because without it an invented height could not be told from a real one. A lower
 * block serves as well where nodes lack the block itself, which they may for ever.
 */
async function withTime(session: Session, stored: StoredHead): ChainResult<StoredHead> {
  if (stored === null || stored.time > 0) return ok(stored)
  let failure: ChainFailure | null = null
  for (const below of timedBelow) {
    const height = Math.max(stored.height - below, 0) as BlockHeight // safe: a lower height
    const agreed = await agreeOnOne(session, 'chain', `block ${height}`, async (node, nodeSession) => {
      const header = await readHeader(nodeSession, node, height)
      return header.ok ? ok([headVote(header.value)]) : header
    })
    if (agreed.ok) return ok({ height, time: agreed.value.value.timestamp })
    failure ??= agreed.error
    if (agreed.error.kind !== 'no-answer') break
  }
  return failure === null ? ok(stored) : err(failure)
}

/**
 * The vote includes the time, because heads are compared by it, and we do not recompute the hash.
 */
function headVote(value: Header): Vote<Header> {
  return {
    about: { height: value.height },
    canonicalText: `hash ${value.hash}\ntime ${value.timestamp}`,
    logs: '',
    value,
  }
}

/** Reads the finalized head of a node, and checks that the clock and the stored head allow it. */
export async function readHead(session: Session, node: TronNode, stored: StoredHead): NodeResult<NodeHead> {
  const head = await readPlausibleHead(session, node, stored)
  noteHealth(session, node, 'heads', head.ok ? null : head.error)
  return head
}

async function readPlausibleHead(session: Session, node: TronNode, stored: StoredHead): NodeResult<NodeHead> {
  const result = await askOne(session, node, blockCall('finalized'), parseFinalized)
  if (!result.ok) {
    const { kind, detail } = result.error
    // a header is small, so a reply that is too large is a fault
    if (kind === 'too-large') recordError(session, node, 'rpc', { kind: 'bad-answer', detail })
    return result
  }
  const { height, hash, parentHash, timestamp } = result.value
  const at = session.pool.clock.now()
  const final = stored && { height: stored.height, timestamp: stored.time }
  const why = whyImplausible(result.value, final, at)
  if (why === null) return ok({ height, hash, parentHash, timestamp, at })
  const lie = nodeError('bad-answer', why)
  recordError(session, node, 'rpc', lie.error)
  session.pool.raiseAlarm('node-lies', { node: node.number }, { ...fieldsOf(node), why })
  return lie
}

function readHeader(session: Session, node: TronNode, height: BlockHeight): NodeResult<Header> {
  return askOne(session, node, blockCall(height), (reply) => {
    const header = parseResult(reply, `block ${height}`, parseBriefBlock)
    if (!header.ok || header.value.height === height) return header
    return nodeError('bad-answer', `block ${header.value.height} in place of ${height}`)
  })
}
