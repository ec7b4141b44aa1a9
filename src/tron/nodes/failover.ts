import type { ChainResult } from '../../chain/chain.ts'
import type { ChainFailure } from '../../chain/failure.ts'
import { err, ok } from '../../common/result.ts'
import { attemptsMax, waitMsMax } from '../limits.ts'
import { unlimited } from '../transport/http.ts'
import { type CircuitState, recordError, recordSuccess } from './health.ts'
import { forQuestion, type NodePool, raiseAlarm, type TronNode } from './node.ts'
import { type NodeError, type NodeErrorKind, type NodeResult, nodeError } from './node-error.ts'
import { isFit, probedFacts } from './probe.ts'

/**
 * What a node must support. `credit`: finalized blocks and history. `chain`: block 0 of the chain. `any`: nothing, since no
 * credit depends on its replies. `api`: an HTTP API. The first two need a probe.
 */
export type NodeRequirement = 'credit' | 'chain' | 'any' | 'api'

/** A query to one node. */
export type NodeQuery<T> = (node: TronNode) => NodeResult<T>

/** A node's reply to a query. */
export interface NodeAnswer<T> {
  readonly node: TronNode
  readonly value: T
}

/** The nodes for one query. Several can be queried at the same time, each of them at most `attemptsMax` times. */
export interface NodeSelector {
  readonly pool: NodePool
  readonly requirement: NodeRequirement
  /** Answers that the query needs: where too few nodes are left, those that rest are queried anyway. */
  readonly needed: number
  readonly candidates: readonly NodeCandidate[]
}

interface NodeCandidate {
  readonly node: TronNode
  /** The node with what this question may use at it, from the first attempt on. */
  session: TronNode | null
  readonly circuit: CircuitState
  attempts: number
  /** Rests of the circuit when the newest attempt began. */
  restsBefore: number
  /** The newest attempt was made although the service rests. */
  isTrial: boolean
  state: 'open' | 'busy' | 'done'
  error: NodeError | null
}

/** A selector of `nodes`, which are in order of preference. */
export function createNodeSelector(
  pool: NodePool,
  requirement: NodeRequirement,
  needed = 1,
  nodes = pool.nodes,
): NodeSelector {
  const candidates = nodes.map((node): NodeCandidate => {
    const circuit = requirement === 'api' ? node.health.api : node.health.rpc
    return { node, session: null, circuit, attempts: 0, restsBefore: 0, isTrial: false, state: 'open', error: null }
  })
  return { pool, requirement, needed, candidates }
}

/** The reply of the next node that gives one, or the failure of all nodes. */
export async function nextAnswer<T>(selector: NodeSelector, query: NodeQuery<T>): ChainResult<NodeAnswer<T>> {
  for (;;) {
    const candidate = await select(selector)
    if (candidate === null) return err(failureOf(selector))
    candidate.session ??= forQuestion(candidate.node)
    const { allowance } = candidate.session
    allowance.slowestMs = 0
    const result = await query(candidate.session)
    if (result.ok) {
      candidate.state = 'done'
      candidate.error = null
      recordSuccess(candidate.circuit, allowance.slowestMs, selector.pool.budget.clock)
      return ok({ node: candidate.node, value: result.value })
    }
    handleError(selector, candidate, result.error, allowance.slowestMs)
  }
}

/** The first reply that any node gives. */
export async function firstAnswer<T>(selector: NodeSelector, query: NodeQuery<T>): ChainResult<T> {
  const answer = await nextAnswer(selector, query)
  return answer.ok ? ok(answer.value.value) : answer
}

/** Why there are no further replies. */
export function failureOf({ pool, candidates }: NodeSelector): ChainFailure {
  const isLate = pool.budget.clock.now() >= pool.budget.deadline
  if (isLate || candidates.some(({ error }) => error?.kind === 'out-of-budget')) return { kind: 'out-of-budget' }
  const reasons = candidates.map(({ node, error, state }) => {
    return `node ${node.number}: ${error?.detail ?? (state === 'done' ? 'answered' : 'resting')}`
  })
  return { kind: 'no-answer', why: reasons.join('; ') || 'no node' }
}

/** The next node, probed where needed, or null where none is left. Waits where the only nodes left rest for a short time. */
async function select(selector: NodeSelector): Promise<NodeCandidate | null> {
  const { clock, deadline } = selector.pool.budget
  const rank = ({ circuit, node: { health } }: NodeCandidate) =>
    (circuit.demotedUntil > clock.now() ? 2 : 0) + (health.callsMax === 1 ? 1 : 0)
  while (clock.now() < deadline) {
    const open = selector.candidates.filter(({ state, attempts }) => state === 'open' && attempts < attemptsMax)
    const rested = open.filter(({ circuit }) => circuit.restUntil <= clock.now())
    const restUntil = Math.min(...open.map(({ circuit }) => circuit.restUntil))
    const isShort = restUntil - clock.now() <= waitMsMax && restUntil < deadline
    if (rested.length === 0 && isShort) {
      await clock.sleep(Math.ceil(restUntil - clock.now()))
      continue
    }
    const [first] = rested.sort((a, b) => a.attempts - b.attempts || rank(a) - rank(b))
    const best = first ?? restingCandidate(selector, open)
    if (best === null) return null
    best.isTrial = first === undefined
    best.state = 'busy'
    best.attempts += 1
    best.restsBefore = best.circuit.rests
    if (await meetsRequirement(selector, best)) return best
  }
  return null
}

/** The first candidate to end its rest, where too few nodes are left without it. In an invocation it may fail once. */
function restingCandidate({ pool, needed, candidates }: NodeSelector, open: readonly NodeCandidate[]) {
  const left = candidates.filter(({ state, error }) => state === 'busy' || (state === 'done' && error === null))
  if (left.length >= needed) return null
  const resting = open.filter(
    ({ circuit }) => !pool.tried.has(circuit) && circuit.unusedUntil <= pool.budget.clock.now(),
  )
  return resting.sort((a, b) => a.circuit.restUntil - b.circuit.restUntil)[0] ?? null
}

async function meetsRequirement(selector: NodeSelector, candidate: NodeCandidate): Promise<boolean> {
  const { requirement } = selector
  if (requirement === 'any' || requirement === 'api') return true
  const probed = { ...candidate.node, allowance: unlimited() }
  const facts = await probedFacts(probed)
  if (!facts.ok) handleError(selector, candidate, facts.error, probed.allowance.slowestMs)
  else if (requirement === 'chain' || isFit(facts.value)) return true
  else {
    candidate.state = 'done'
    candidate.error = nodeError('unfit', facts.value.finalized ? 'no history' : 'no finalized blocks').error
  }
  return false
}

/** Errors after which a second attempt cannot succeed. */
const finalKinds: ReadonlySet<NodeErrorKind> = new Set([
  'behind',
  'unfit',
  'wrong-chain',
  'out-of-budget',
  'too-costly',
  'too-large',
])

/** Remembers an error. The node stays open for a second attempt where that can succeed. */
function handleError({ pool }: NodeSelector, candidate: NodeCandidate, error: NodeError, slowestMs: number): void {
  const { restsBefore, circuit, isTrial, node } = candidate
  const { number, health } = node
  const { kind, detail } = error
  candidate.error = error
  candidate.state = finalKinds.has(kind) ? 'done' : 'open'
  recordError(health, circuit, kind, { restsBefore, slowestMs }, pool.budget.clock)
  if (isTrial) pool.tried.add(circuit)
  if (kind === 'wrong-chain') {
    raiseAlarm(pool, `wrong-chain ${number}`, 'node-lies', { node: number, why: detail })
  } else if (kind !== 'out-of-budget') {
    pool.logger.warn('node-error', { node: number, kind, why: detail })
  }
}
