import type { Clock } from '../../platform/clock.ts'
import * as limits from '../limits.ts'
import type { NodeErrorKind } from './node-error.ts'

/** One node of the configuration. Its URLs and its key are secrets. */
export interface NodeEndpoint {
  readonly rpc: string
  /** Base URL of its HTTP API, without a slash at the end, or null. */
  readonly api: string | null
  /** Sent as `TRON-PRO-API-KEY`, or null. */
  readonly key: string | null
}

/** The result of a probe. */
export interface NodeFacts {
  readonly probedAt: number
  /** The tag `finalized` is supported (java-tron 4.8.0 and newer). */
  readonly finalized: boolean
  /** Receipts are kept, and the logs of a block match them. */
  readonly history: boolean
}

/** The circuit breaker of one service of a node. */
export interface CircuitState {
  /** In a row. */
  failures: number
  /** In a row. */
  rateLimits: number
  /** The breaker is open until then: other nodes are used, where there are enough. */
  restUntil: number
  /** No query at all until then. */
  unusedUntil: number
  /** All other nodes are used first until then. */
  demotedUntil: number
  /** Rests in all: queries that ran at the same time began with the same number. */
  rests: number
}

const createCircuit = (): CircuitState => {
  return { failures: 0, rateLimits: 0, restUntil: 0, unusedUntil: 0, demotedUntil: 0, rests: 0 }
}

/** What an isolate remembers of a node. Plain values only: invocations cannot share promises. */
export interface NodeHealth {
  readonly rpc: CircuitState
  readonly api: CircuitState
  /** Null where the node must be probed before it is used. */
  facts: NodeFacts | null
  /** Another invocation probes the node until then. */
  probingUntil: number
  /** Most calls of a batch, until `callsMaxUntil`. With 1 the node takes no batches. */
  callsMax: number
  callsMaxUntil: number
  /** The HTTP API is not asked for whole blocks until then. */
  noBlocksUntil: number
}

/** What an isolate remembers of all nodes. It can be lost at any time. */
export interface NodeHealthStore {
  /** By number and configuration: a node with a changed configuration is a new one. */
  readonly nodes: Map<string, NodeHealth>
}

/** An empty store, to be kept for the isolate's life. */
export function createNodeHealthStore(): NodeHealthStore {
  return { nodes: new Map() }
}

/** The stored health of node `number`, or that of a new node. */
export function healthOf(store: NodeHealthStore, number: number, endpoint: NodeEndpoint, chainId: string): NodeHealth {
  const name = JSON.stringify([number, endpoint.rpc, endpoint.api, endpoint.key !== null, chainId])
  const health = store.nodes.get(name) ?? {
    rpc: createCircuit(),
    api: createCircuit(),
    facts: null,
    probingUntil: 0,
    callsMax: Number.POSITIVE_INFINITY,
    callsMaxUntil: 0,
    noBlocksUntil: 0,
  }
  store.nodes.set(name, health)
  return health
}

/** One attempt to have a query answered. */
export interface Attempt {
  /** `rests` of the service when it began. */
  readonly restsBefore: number
  /** Milliseconds of its slowest request. */
  readonly slowestMs: number
}

/**
 * A query to a service failed: the kind of error decides whether the service rests, is demoted or has to be probed again.
 * Of queries that ran at the same time, the first failure counts. A service that took long to fail rests in any case for a
 * multiple of the time that was lost, so that it cannot use up the time of an invocation.
 */
export function recordError(
  health: NodeHealth,
  circuit: CircuitState,
  kind: NodeErrorKind,
  { restsBefore, slowestMs }: Attempt,
  clock: Clock,
): void {
  // What is too large or too costly is queried in smaller parts, and may take long.
  const isLoss = kind !== 'out-of-budget' && kind !== 'too-large' && kind !== 'too-costly'
  if (slowestMs > limits.slowMs && isLoss) {
    circuit.restUntil = Math.max(circuit.restUntil, clock.now() + slowestMs * limits.lostTimeRests)
  }
  if (circuit.rests !== restsBefore) return
  switch (kind) {
    case 'out-of-budget':
    case 'unfit':
      return
    case 'behind':
      demote(circuit, limits.lagMs, clock)
      return
    case 'wrong-chain':
      health.facts = null
      rest(circuit, limits.wrongChainMs, clock)
      circuit.unusedUntil = clock.now() + limits.wrongChainMs
      return
    case 'rate-limited':
      rest(circuit, backoff(limits.rateLimitMs, circuit.rateLimits, limits.rateLimitMsMax, clock), clock)
      circuit.unusedUntil = clock.now() + limits.rateLimitMs
      circuit.rateLimits += 1
      return
    case 'too-costly':
    case 'too-large':
      demote(circuit, limits.costlyMs, clock)
      break
    case 'timed-out':
    case 'unreachable':
    case 'batch-refused':
    case 'bad-answer':
      break
  }
  const trials = circuit.failures + 1 - limits.breakerFailures
  if (trials < 0) rest(circuit, backoff(limits.backoffMs, circuit.failures, limits.breakerMs, clock), clock)
  else {
    if (circuit === health.rpc) health.facts = null // so that the next trial begins with a probe
    rest(circuit, backoff(limits.breakerMs, trials, limits.breakerMsMax, clock), clock)
  }
  circuit.failures += 1
}

function backoff(firstMs: number, doublings: number, maxMs: number, clock: Clock): number {
  return Math.min(firstMs * 2 ** doublings, maxMs) * (1 + clock.random() / 2)
}

function rest(circuit: CircuitState, ms: number, clock: Clock): void {
  circuit.restUntil = Math.max(circuit.restUntil, clock.now() + ms)
  circuit.rests += 1
}

/** A query to a service succeeded: it does not rest any more. All other nodes are used before one that was slow. */
export function recordSuccess(circuit: CircuitState, slowestMs: number, clock: Clock): void {
  circuit.failures = 0
  circuit.rateLimits = 0
  circuit.restUntil = 0
  if (slowestMs > limits.slowMs) demote(circuit, limits.slowNodeMs, clock)
}

/** Uses all other nodes first for `ms`. */
export function demote(circuit: CircuitState, ms: number, clock: Clock): void {
  circuit.demotedUntil = Math.max(circuit.demotedUntil, clock.now() + ms)
}
