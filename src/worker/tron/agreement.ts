import type { ChainFailure, ChainResult } from '../chain/chain.ts'
import { err, ok } from '../common/result.ts'
import { isAhead } from '../common/time.ts'
import type { DisputedSubject } from '../platform/alarm-table.ts'
import { recordUnfit, requireFit } from './ask.ts'
import { alarmTextMax, doubtedMs } from './limits.ts'
import {
  demote,
  labelOf,
  type NodeService,
  type Pool,
  type Session,
  standingOf,
  type TronNode,
  withDeadline,
} from './node.ts'
import type { NodeError, NodeResult } from './node-errors.ts'

/**
 * The condition that a node must meet for a query. `money`: it has passed the probe (`requireFit`),
 * and neither of its services is blocked. `chain`: it has passed the probe. `rpc` and `api`: this
 * service is not blocked, which is enough where no credit depends on the reply.
 */
export type Requirement = 'money' | 'chain' | 'rpc' | 'api'

export interface Answer<T> {
  readonly node: TronNode
  readonly value: T
}

/** The replies of the nodes that answered, and the errors of those that did not. */
export interface Answers<T> {
  readonly answers: readonly Answer<T>[]
  readonly errors: ReadonlyMap<TronNode, NodeError>
}

/** Asks one node. `session` limits the time of this node alone. */
export type Query<T> = (node: TronNode, session: Session) => NodeResult<T>

/**
 * Asks nodes, best first, until `missing` says that no answer is lacking: as many nodes at the same
 * time as answers are lacking. If a node fails or uses up its share of the time, the next node
 * replaces it.
 */
export async function collect<T>(
  session: Session,
  requirement: Requirement,
  query: Query<T>,
  missing: (answers: readonly Answer<T>[]) => number,
): Promise<Answers<T>> {
  await session.pool.ready
  const answers: Answer<T>[] = []
  const errors = new Map<TronNode, NodeError>()
  const nodes = inOrder(session, requirement)
  let running = 0
  const run = async () => {
    while (missing(answers) > running) {
      const node = nodes.shift()
      if (node === undefined) return
      running += 1
      const needsProbe = requirement === 'money' || requirement === 'chain'
      const nodeSession = withDeadline(session)
      const result = await (needsProbe ? askFit(nodeSession, node, query) : query(node, nodeSession))
      running -= 1
      if (result.ok) answers.push({ node, value: result.value })
      else errors.set(node, result.error)
      if (!result.ok && result.error.kind === 'unfit' && needsProbe) recordUnfit(nodeSession, node, result.error.detail)
    }
  }
  await Promise.all(Array.from({ length: Math.min(missing([]), nodes.length) }, run))
  return { answers, errors }
}

/**
 * Asks a node that has passed the probe. If it has no receipt of a final call, it is probed again:
 * a node that keeps no receipts at all is unfit, and another one lacks those of this block.
 */
async function askFit<T>(session: Session, node: TronNode, query: Query<T>): NodeResult<T> {
  const fit = await requireFit(session, node)
  if (!fit.ok) return fit
  const answer = await query(node, session)
  const now = session.pool.clock.now()
  const isDoubted = isAhead(node.doubtedAt + doubtedMs, doubtedMs, now)
  if (answer.ok || answer.error.kind !== 'no-receipt' || isDoubted) return answer
  Object.assign(node, { doubtedAt: now, probedUntil: 0 })
  const again = await requireFit(session, node)
  return !again.ok && again.error.kind === 'unfit' ? again : answer
}

/** How services rank, best first. */
const standings = ['first', 'behind', 'demoted', 'resting'] as const

/**
 * The nodes, best first, without those that are blocked. Resting nodes come last: they are asked
 * only if too few others are left.
 */
function inOrder({ pool: { nodes, clock }, quota }: Session, requirement: Requirement): TronNode[] {
  const now = clock.now()
  const services: readonly NodeService[] =
    requirement === 'money' ? ['rpc', 'api'] : requirement === 'api' ? ['api'] : ['rpc']
  const ranked = nodes.flatMap((node) => {
    const standing = services.map((service) => standingOf(node[service], now))
    if (standing.includes('blocked')) return []
    const rank = Math.max(...standing.map((one) => (standings as readonly string[]).indexOf(one)))
    return [{ node, rank, demotedUntil: Math.max(...services.map((service) => node[service].demotedUntil)) }]
  })
  // Among demoted nodes, the one demoted last comes last. Otherwise the order of the configuration
  // decides, except that the node whose turn it is comes first in a look at the tail.
  const isDemoted = ({ rank }: (typeof ranked)[number]) => standings[rank] === 'demoted'
  const byTime = (a: (typeof ranked)[number], b: (typeof ranked)[number]) =>
    isDemoted(a) ? a.demotedUntil - b.demotedUntil : turnOf(a) - turnOf(b)
  const turnOf = ({ node }: (typeof ranked)[number]) => (quota.kind === 'look' && node.number === quota.node ? 0 : 1)
  // stable: equal nodes keep the configured order
  return ranked.sort((a, b) => a.rank - b.rank || byTime(a, b)).map(({ node }) => node)
}

/** Returns the first answer that any node gives. Nodes are asked one after the other. */
export async function firstAnswer<T>(session: Session, requirement: Requirement, query: Query<T>): ChainResult<T> {
  const found = await collect(session, requirement, query, (answers) => 1 - answers.length)
  const [first] = found.answers
  return first === undefined ? err(failureOf(session, found.errors)) : ok(first.value)
}

/**
 * Why there are too few answers. A limit takes precedence, so that a caller who waited until the
 * end hears whose limit it was.
 */
export function failureOf({ pool, deadline }: Session, errors: ReadonlyMap<TronNode, NodeError>): ChainFailure {
  const limits = [...errors.values()].flatMap(({ limit }) => limit ?? [])
  const [limited] = limits.sort((a, b) => a.seconds - b.seconds)
  if (limited !== undefined) return limited
  const isOver = pool.clock.now() >= deadline || [...errors.values()].some(({ kind }) => kind === 'out-of-time')
  return { kind: isOver ? 'out-of-time' : 'no-answer', why: whyOf(pool.nodes, errors) }
}

/** The error of each node, for operators. If a node was not asked, its last error. */
function whyOf(nodes: readonly TronNode[], errors: ReadonlyMap<TronNode, NodeError>): string {
  const reasons = nodes.map((node) => {
    const error = errors.get(node)?.detail
    const last = node.lastError === null ? '' : `; its last error: ${node.lastError.why}`
    return `${labelOf(node)}: ${error ?? `resting, or answered${last}`}`
  })
  return reasons.join('; ') || 'no node'
}

/**
 * A node's version of a fact. Nodes agree if their texts are equal; an alarm shows the lines that
 * differ.
 */
export interface Vote<T> {
  readonly about: DisputedSubject
  readonly canonicalText: string
  /**
   * The part of the fact that comes from logs, which must be equal too. Null if the node could not
   * give the logs.
   */
  readonly logs: string | null
  readonly value: T
}

/** The result of a vote on one fact. */
export type QuorumVerdict<T> =
  | { readonly kind: 'agreed'; readonly value: T }
  /**
   * Nodes agree on `canonicalText`, but a node that the quorum needs could not give the logs.
   * `value` is that node's.
   */
  | { readonly kind: 'partial'; readonly value: T }
  | { readonly kind: 'differs' }
  /** Too few nodes know the fact. */
  | { readonly kind: 'missing' }

/**
 * Asks `quorum` nodes about a list of facts, and further nodes if they differ. A node that a quorum
 * contradicts is demoted (asked after all others for a while), and an alarm names it. If no quorum
 * agrees, an alarm shows the difference.
 */
export async function agreeByQuorum<T>(
  session: Session,
  requirement: Requirement,
  query: Query<readonly Vote<T>[]>,
): Promise<{ readonly verdicts: readonly QuorumVerdict<T>[]; readonly errors: ReadonlyMap<TronNode, NodeError> }> {
  const { quorum } = session.pool
  const judgeAll = (all: readonly Answer<readonly Vote<T>[]>[]) => {
    const length = Math.max(0, ...all.map(({ value }) => value.length))
    return Array.from({ length }, (_, i) => {
      const votes = all.flatMap(({ node, value }) => (value[i] === undefined ? [] : [{ ...value[i], node }]))
      return { votes, ...judge(votes, quorum) }
    })
  }
  const { answers, errors } = await collect(session, requirement, query, (all) => {
    if (all.length === 0) return quorum
    // Another node may be able to give the logs that are missing.
    return Math.max(
      0,
      ...judgeAll(all).map(({ verdict, group }) => (verdict.kind === 'partial' ? 1 : quorum - group.length)),
    )
  })
  const judged = judgeAll(answers)
  for (const { votes, group, verdict } of judged) raiseDisagreement(session.pool, votes, group, verdict.kind)
  session.pool.remember()
  return { verdicts: judged.map(({ verdict }) => verdict), errors }
}

/** Asks about one fact, as `agreeByQuorum` does. `about` names the fact in the failure. */
export async function agreeOnOne<T>(
  session: Session,
  requirement: Requirement,
  about: string,
  query: Query<readonly Vote<T>[]>,
): ChainResult<{ readonly kind: 'agreed' | 'partial'; readonly value: T }> {
  const { verdicts, errors } = await agreeByQuorum(session, requirement, query)
  const [verdict] = verdicts
  if (verdict?.kind === 'agreed' || verdict?.kind === 'partial') return ok(verdict)
  return err(verdict?.kind === 'differs' ? { kind: 'disagreement', about } : failureOf(session, errors))
}

type NodeVote<T> = Vote<T> & { readonly node: TronNode }

const textOf = ({ canonicalText, logs }: Vote<unknown>) => `${canonicalText}\n${logs ?? ''}`

/** The verdict, and the votes of the largest group that agrees. */
function judge<T>(
  votes: readonly NodeVote<T>[],
  quorum: number,
): { readonly verdict: QuorumVerdict<T>; readonly group: readonly NodeVote<T>[] } {
  const whole = largestGroup(votes, (vote) => (vote.logs === null ? null : textOf(vote)))
  const [first] = whole
  if (first !== undefined && whole.length >= quorum) {
    return { verdict: { kind: 'agreed', value: first.value }, group: whole }
  }
  const similar = largestGroup(votes, ({ canonicalText }) => canonicalText)
  const partial = similar.find(({ logs }) => logs === null)
  const isOneText = new Set(similar.flatMap(({ logs }) => logs ?? [])).size <= 1
  if (partial !== undefined && isOneText && similar.length >= quorum) {
    return { verdict: { kind: 'partial', value: partial.value }, group: similar }
  }
  const group = whole.length > 0 && !isOneText ? whole : similar
  return { verdict: { kind: group.length < votes.length ? 'differs' : 'missing' }, group }
}

/**
 * The largest group of items with the same key, or the first of equal groups. Items with the key
 * null belong to no group.
 */
export function largestGroup<T>(items: readonly T[], keyOf: (item: T) => string | null): readonly T[] {
  const groups = Map.groupBy(items, keyOf)
  groups.delete(null)
  return [...groups.values()].reduce((a, b) => (b.length > a.length ? b : a), [])
}

/**
 * Raises an alarm for each node that contradicts `group`. If the group is a quorum, the
 * contradicting nodes are demoted, and probed again before use.
 */
function raiseDisagreement<T>(
  pool: Pool,
  votes: readonly NodeVote<T>[],
  group: readonly NodeVote<T>[],
  kind: QuorumVerdict<T>['kind'],
): void {
  const [first] = group
  if (first === undefined || kind === 'missing') return
  const isQuorum = kind !== 'differs'
  for (const other of votes.filter((vote) => !group.includes(vote))) {
    if (isQuorum) demote(other.node, pool.clock)
    // this node lacked the logs, but contradicted nothing
    if (other.logs === null && other.canonicalText === first.canonicalText) continue
    const { name } = other.node.endpoint
    // An outvoted node may differ about something else each time, so the alarm's subject is the
    // node.
    pool.raiseAlarm('nodes-disagree', isQuorum ? { node: other.node.number } : other.about, {
      ...other.about,
      nodes: group.map(({ node }) => labelOf(node)).join(', '),
      answer: differenceIn(textOf(first), textOf(other)),
      otherNode: other.node.number,
      ...(name === null ? {} : { otherName: name }),
      otherAnswer: differenceIn(textOf(other), textOf(first)),
      outcome: isQuorum ? 'outvoted' : 'held',
    })
  }
}

/** The lines of `text` that `other` lacks, cut to a length that fits a log line. */
function differenceIn(text: string, other: string): string {
  const others = new Set(other.split('\n'))
  const different = text.split('\n').filter((line) => !others.has(line))
  return different.join('; ').slice(0, alarmTextMax) || 'nothing'
}
