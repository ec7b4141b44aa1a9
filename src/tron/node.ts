import type { Address } from '../chain/address.ts'
import { type Payer, readBlocksMax } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { AlarmSubjects } from '../platform/alarm-table.ts'
import type { Clock } from '../platform/clock.ts'
import type { LogFields, Logger } from '../platform/logger.ts'
import type { Allowance } from './allowance.ts'
import * as limits from './limits.ts'
import type { Network, NodeErrorKind, NodeResult } from './transport.ts'

/** A node as it is configured. Its URLs and key are secrets. */
export interface NodeEndpoint {
  /** JSON-RPC. */
  readonly rpc: string
  /** Base URL of the HTTP API, without a slash at the end. */
  readonly api: string
  /** Sent as `TRON-PRO-API-KEY`, or null. */
  readonly key: string | null
  /** Requests that it allows in a second. */
  readonly perSecond: number
  /** Requests that it allows in 24 hours. */
  readonly perDay: number
}

/** The two services of a node. Their health is apart: one can fail without the other. */
export type NodeService = 'rpc' | 'api'

/** The health of one service of a node. */
export interface ServiceHealth {
  /** In a row. */
  failures: number
  /** In a row. */
  rateLimits: number
  /** Other nodes are used until then, where there are enough. */
  restUntil: number
  /** No request at all until then. */
  blockedUntil: number
  /** All other nodes are used first until then. */
  demotedUntil: number
  /** Rests in all: requests that ran at the same time began with the same number. */
  rests: number
}

/** A node and what the object remembers of it. Its number, from 1, is its only name in logs and alarms. */
export interface TronNode {
  readonly number: number
  readonly endpoint: NodeEndpoint
  readonly rpc: ServiceHealth
  readonly api: ServiceHealth
  /** Whether a probe found it fit. After failures it is probed again. */
  isProbed: boolean
  /** The probe that runs. */
  probing: NodeResult<null> | null
  /** Why a probe found it unfit, and until when that counts. */
  unfit: { readonly why: string; readonly until: number } | null
  /** Most calls of a batch, until `callsMaxUntil`. With 1 the node takes no batches. */
  callsMax: number
  callsMaxUntil: number
  /** Kept bytes of a block, by its newest reply; null before the first one. */
  blockBytes: number | null
  /** Most blocks of one question. It is halved if the node fails to give them, and doubles again. */
  blocksMax: number
}

/** Reports what an operator must see. `subject` is the same for one fault that lasts. */
export type Report = <
  Kind extends 'nodes-disagree' | 'node-lies' | 'node-unfit' | 'allowance-used-up' | 'transaction-unreadable',
>(
  kind: Kind,
  subject: AlarmSubjects[Kind],
  fields: LogFields,
) => void

/** All nodes, in order of preference, and what every piece of work shares. */
export interface Pool {
  readonly nodes: readonly TronNode[]
  /** Nodes that must agree. */
  readonly quorum: number
  readonly chainId: bigint
  /** Token contracts whose transfers count. */
  readonly tokens: ReadonlySet<Address>
  readonly network: Network
  readonly clock: Clock
  readonly logger: Logger
  readonly allowance: Allowance
  readonly report: Report
  lastId: number
}

/** One piece of work: who pays for it, and until when it may take. */
export interface Session {
  readonly pool: Pool
  readonly payer: Payer
  readonly deadline: UnixMs
  /** Requests that were sent, by the number of the node. */
  readonly sent: Map<number, number>
}

/** A node of which nothing is known. */
export function createNode(endpoint: NodeEndpoint, number: number): TronNode {
  const health = (): ServiceHealth => {
    return { failures: 0, rateLimits: 0, restUntil: 0, blockedUntil: 0, demotedUntil: 0, rests: 0 }
  }
  const state = {
    isProbed: false,
    probing: null,
    unfit: null,
    callsMax: 1,
    callsMaxUntil: 0,
    blockBytes: null,
    blocksMax: readBlocksMax,
  }
  return { number, endpoint, rpc: health(), api: health(), ...state }
}

/** A request failed: the kind of error decides how long the service rests. Of requests at the same time the first counts. */
export function recordFailure(
  node: TronNode,
  service: NodeService,
  kind: NodeErrorKind,
  restsBefore: number,
  clock: Clock,
): void {
  const health = node[service]
  if (health.rests !== restsBefore) return
  const rest = (firstMs: number, doublings: number, maxMs: number) => {
    const ms = Math.min(firstMs * 2 ** doublings, maxMs) * (1 + clock.random() / 2)
    health.restUntil = Math.max(health.restUntil, clock.now() + ms)
    health.rests += 1
  }
  switch (kind) {
    case 'out-of-time':
    case 'limited':
    case 'unfit':
    case 'too-large':
    case 'batch-refused':
      return
    case 'behind':
      health.demotedUntil = clock.now() + limits.behindMs
      return
    case 'wrong-chain':
      rest(limits.wrongChainMs, 0, limits.wrongChainMs)
      health.blockedUntil = clock.now() + limits.wrongChainMs
      node.isProbed = false
      return
    case 'rate-limited':
      rest(limits.rateLimitMs, health.rateLimits, limits.rateLimitMsMax)
      health.blockedUntil = clock.now() + limits.rateLimitMs
      health.rateLimits += 1
      return
    case 'timed-out':
    case 'unreachable':
    case 'bad-answer':
      rest(limits.restMs, health.failures, limits.restMsMax)
      health.failures += 1
      if (health.failures > 1) node.isProbed = false
  }
}

/** A request succeeded. All other nodes are used before one that was slow. */
export function recordSuccess(health: ServiceHealth, ms: number, clock: Clock): void {
  Object.assign(health, { failures: 0, rateLimits: 0, restUntil: 0, blockedUntil: 0 })
  if (ms > limits.slowMs) health.demotedUntil = clock.now() + limits.demotedMs
}

/** A node was outvoted: all others are used before it, and it is probed again. */
export function demote(node: TronNode, clock: Clock): void {
  for (const health of [node.rpc, node.api]) health.demotedUntil = clock.now() + limits.demotedMs
  node.isProbed = false
}
