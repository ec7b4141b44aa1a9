import type { Clock } from '../../platform/clock.ts'
import * as limits from '../limits.ts'
import type { NodeError } from './node-error.ts'

/** One node of the pool. Its URLs and its key are secrets. */
export interface NodeEndpoint {
  readonly rpc: string
  /** Base of its HTTP API, without a slash at the end, or null. */
  readonly api: string | null
  /** Sent as `TRON-PRO-API-KEY`, or null. */
  readonly key: string | null
}

/** What a probe found. */
export interface NodeFacts {
  readonly probedAt: number
  /** It knows the tag `finalized` (java-tron 4.8.0 and newer). */
  readonly finalized: boolean
  /** It keeps receipts, and its logs of a block are those of the receipts. */
  readonly history: boolean
}

/** Strain on one of a node's two services. */
export interface CircuitState {
  failures: number
  rateLimits: number
  restUntil: number
}

/** What is known of a node: plain values only, as it outlives the invocations that write it. */
export interface NodeHealth {
  facts: NodeFacts | null
  /** Until when another invocation probes it. */
  probingUntil: number
  readonly rpc: CircuitState
  readonly api: CircuitState
  /** Calls that one of its batches may hold; 1 means that it takes no batches. */
  callsMax: number
  callsMaxAt: number
  bannedUntil: number
  suspectUntil: number
  lagUntil: number
}

/** What an isolate remembers of its nodes between invocations. */
export interface NodeHealthStore {
  /** By number and configuration, so that a changed node starts afresh. */
  readonly nodes: Map<string, NodeHealth>
  /** When each alarm was last written. */
  readonly alarms: Map<string, number>
}

/** An empty memory. Whoever makes it keeps it for the isolate's life. */
export function createNodeHealthStore(): NodeHealthStore {
  return { nodes: new Map(), alarms: new Map() }
}

/** The state of node `number`, new where the memory has none for this configuration. */
export function healthOf(memory: NodeHealthStore, number: number, endpoint: NodeEndpoint, chainId: string): NodeHealth {
  const name = JSON.stringify([number, endpoint.rpc, endpoint.api, endpoint.key !== null, chainId])
  const known = memory.nodes.get(name)
  if (known !== undefined) return known
  const state: NodeHealth = {
    facts: null,
    probingUntil: 0,
    rpc: { failures: 0, rateLimits: 0, restUntil: 0 },
    api: { failures: 0, rateLimits: 0, restUntil: 0 },
    callsMax: Number.POSITIVE_INFINITY,
    callsMaxAt: 0,
    bannedUntil: 0,
    suspectUntil: 0,
    lagUntil: 0,
  }
  memory.nodes.set(name, state)
  return state
}

/** A service answered: its strain is over. */
export function recordSuccess(strain: CircuitState): void {
  strain.failures = 0
  strain.rateLimits = 0
}

/** What one trouble means for the node: how long it rests, and whether it must be probed again. */
export function recordError(state: NodeHealth, service: 'rpc' | 'api', { kind }: NodeError, clock: Clock): void {
  const now = clock.now()
  switch (kind) {
    case 'out-of-budget':
    case 'unfit':
      return
    case 'behind':
      state.lagUntil = now + limits.lagMs
      return
    case 'wrong-chain':
      state.bannedUntil = now + limits.wrongChainMs
      state.facts = null
      return
    case 'rate-limited':
      // One key pays for both services, so both rest.
      for (const strain of [state.rpc, state.api]) {
        const ms = Math.min(limits.rateLimitMs * 2 ** strain.rateLimits, limits.rateLimitMsMax)
        strain.rateLimits += 1
        rest(strain, now + ms * (1 + clock.random() / 2)) // never shorter than 30 s
      }
      return
    case 'timed-out':
    case 'unreachable':
    case 'batch-refused':
    case 'too-large':
    case 'bad-answer':
      noteFailure(state, state[service], clock)
      return
  }
}

function noteFailure(state: NodeHealth, strain: CircuitState, clock: Clock): void {
  strain.failures += 1
  const jitter = 0.5 + clock.random() / 2
  const beyond = strain.failures - limits.breakerFailures
  if (beyond < 0) {
    const ms = Math.min(limits.backoffMs * 2 ** (strain.failures - 1), limits.backoffMsMax)
    rest(strain, clock.now() + ms * jitter)
    return
  }
  // The breaker opens. What was known is forgotten: the trial that follows the rest begins with a probe.
  state.facts = null
  rest(strain, clock.now() + Math.min(limits.breakerMs * 2 ** beyond, limits.breakerMsMax) * (1 + jitter / 2))
}

function rest(strain: CircuitState, until: number): void {
  strain.restUntil = Math.max(strain.restUntil, until)
}

/** A node was outvoted: it comes last for a while, and is probed before it is used again. */
export function recordOutvoted(state: NodeHealth, clock: Clock): void {
  state.suspectUntil = clock.now() + limits.outvotedMs
  state.facts = null
}

/** Whether an alarm is due: the first of its name, or the first for a long time. Remembers that it is written now. */
export function alarmIsDue({ alarms }: NodeHealthStore, name: string, clock: Clock): boolean {
  const last = alarms.get(name)
  if (last !== undefined && clock.now() - last < limits.alarmRepeatMs) return false
  alarms.delete(name) // re-inserted, so that the first entry is always the oldest
  alarms.set(name, clock.now())
  for (const oldest of alarms.keys()) {
    if (alarms.size <= limits.alarmsMax) break
    alarms.delete(oldest)
  }
  return true
}
