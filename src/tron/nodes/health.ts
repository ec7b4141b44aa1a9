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

/** The circuit breaker of one service of a node, with the failures and rate limits in a row. It is open until `restUntil`. */
export interface CircuitState {
  failures: number
  rateLimits: number
  restUntil: number
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
  /** All other nodes are used first until then. */
  demotedUntil: number
}

/** What an isolate remembers of all nodes. It can be lost at any time. */
export interface NodeHealthStore {
  /** By number and configuration: a node with a changed configuration is a new one. */
  readonly nodes: Map<string, NodeHealth>
  /** When each alarm was raised last. */
  readonly alarms: Map<string, number>
}

/** An empty store, to be kept for the isolate's life. */
export function createNodeHealthStore(): NodeHealthStore {
  return { nodes: new Map(), alarms: new Map() }
}

/** The stored health of node `number`, or that of a new node. */
export function healthOf(store: NodeHealthStore, number: number, endpoint: NodeEndpoint, chainId: string): NodeHealth {
  const name = JSON.stringify([number, endpoint.rpc, endpoint.api, endpoint.key !== null, chainId])
  const health = store.nodes.get(name) ?? {
    rpc: { failures: 0, rateLimits: 0, restUntil: 0 },
    api: { failures: 0, rateLimits: 0, restUntil: 0 },
    facts: null,
    probingUntil: 0,
    callsMax: Number.POSITIVE_INFINITY,
    callsMaxUntil: 0,
    demotedUntil: 0,
  }
  store.nodes.set(name, health)
  return health
}

/** A query to a service failed: the kind of error decides whether it rests, is demoted or has to be probed again. */
export function recordError(health: NodeHealth, circuit: CircuitState, kind: NodeErrorKind, clock: Clock): void {
  const rest = (each: CircuitState, ms: number) => {
    each.restUntil = Math.max(each.restUntil, clock.now() + ms)
  }
  const backoff = (firstMs: number, doublings: number, maxMs: number) =>
    Math.min(firstMs * 2 ** doublings, maxMs) * (1 + clock.random() / 2)
  switch (kind) {
    case 'out-of-budget':
    case 'unfit':
      return
    case 'behind':
      demote(health, limits.lagMs, clock)
      return
    case 'wrong-chain':
      health.facts = null
      for (const each of [health.rpc, health.api]) rest(each, limits.wrongChainMs)
      return
    case 'rate-limited': // both services share one key
      for (const each of [health.rpc, health.api]) {
        rest(each, backoff(limits.rateLimitMs, each.rateLimits, limits.rateLimitMsMax))
        each.rateLimits += 1
      }
      return
    case 'timed-out':
    case 'unreachable':
    case 'batch-refused':
    case 'too-large':
    case 'bad-answer': {
      const trials = circuit.failures + 1 - limits.breakerFailures
      if (trials < 0) rest(circuit, backoff(limits.backoffMs, circuit.failures, limits.breakerMs))
      else {
        health.facts = null // so that the next trial begins with a probe
        rest(circuit, backoff(limits.breakerMs, trials, limits.breakerMsMax))
      }
      circuit.failures += 1
    }
  }
}

/** Uses all other nodes first for `ms`. */
export function demote(health: NodeHealth, ms: number, clock: Clock): void {
  health.demotedUntil = Math.max(health.demotedUntil, clock.now() + ms)
}
