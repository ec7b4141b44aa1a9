import type { Address } from '../chain/address.ts'
import type { BlockHeight, Header, Txid } from '../chain/block.ts'
import { type RequestQuota, readBlocksMax, receiptsMax } from '../chain/chain.ts'
import type { NodeStatus } from '../chain/node-status.ts'
import { isAhead, type UnixMs } from '../common/time.ts'
import type { AlarmSubjects } from '../platform/alarm-table.ts'
import type { Clock } from '../platform/clock.ts'
import type { LogFields, Logger } from '../platform/logger.ts'
import type { Allowance } from './allowance.ts'
import * as limits from './limits.ts'
import { meanings, type NodeError, type NodeResult } from './node-errors.ts'
import { createHealth, isFailing, type NodeHealth } from './node-health.ts'
import type { HttpTarget, Network } from './transport.ts'
import type { Turns } from './turns.ts'

/** A configured node. Its URLs and keys are secret. */
export interface NodeEndpoint {
  /** The id of the node in storage, made without its key. */
  readonly id: string
  /** The operator's name for the node, or null. */
  readonly name: string | null
  /** The host name in the URL of the node's JSON-RPC, without a port. */
  readonly host: string
  readonly rpc: HttpTarget
  /** The HTTP API. Paths are appended to its URL, which has no slash at the end. */
  readonly api: HttpTarget
  /** Requests that the node allows in a second. */
  readonly perSecond: number
  /** Requests that the node allows in 24 hours. */
  readonly perDay: number
}

/** The two services of a node. Each has its own health, because one may fail without the other. */
export type NodeService = 'rpc' | 'api'

/**
 * The health of one service of a node. Members named `…Until` are times in milliseconds since 1970;
 * 0 if there is none.
 */
export interface ServiceHealth {
  /** Failures in a row. */
  failures: number
  /** Rate-limit refusals in a row. */
  rateLimits: number
  /**
   * Until this time other nodes are used, if there are enough. A successful request ends the rest.
   */
  restUntil: number
  /** Until this time no request is sent to the service. */
  blockedUntil: number
  /** Until this time nodes that are neither demoted nor resting are used first. */
  demotedUntil: number
  /** How often the service was demoted for being slow since its last quick answer. */
  slows: number
  /** Until this time nodes that are neither behind, demoted nor resting are used first. */
  behindUntil: number
  /**
   * The number of rests so far. A failed request counts only if no rest has begun since it was
   * sent, so concurrent requests that fail cause one rest.
   */
  rests: number
}

/**
 * What the service remembers about a node. It is stored, because the platform may clear an object's
 * memory between two ticks.
 */
export interface NodeMemory {
  readonly rpc: ServiceHealth
  readonly api: ServiceHealth
  /** How the node answers each question. */
  readonly health: NodeHealth
  /**
   * When the node has last given a block with its logs, to within a minute, or was last checked
   * (`checkNodes`); 0 if it never was.
   */
  givenAt: number
  /** Whether the node has said that it has no peers. It is cut off if it is behind, too. */
  lacksPeers: boolean
  /** Until this time the last successful probe counts. 0 if the node must be probed. */
  probedUntil: number
  /** When the node was last probed because it lacked a receipt; 0 if it never was. */
  doubtedAt: number
  /** A transaction whose receipt the node was asked for last; null if it never was. */
  receiptAsked: Txid | null
  /** Why a probe found the node unfit, and until when that counts. */
  unfit: { readonly why: string; readonly until: number } | null
  /** Most calls in a batch, until `callsMaxUntil`. 1: the node takes no batches. */
  callsMax: number
  callsMaxUntil: number
  /** Kept bytes of a block in the node's newest reply; null before the first one. */
  blockBytes: number | null
  /**
   * Most blocks in one query. Halved if the node fails at a query, doubled if a query for this many
   * blocks takes at most half of its time.
   */
  blocksMax: number
  /** Most receipts in one query, learned in the same way. */
  receiptsMax: number
  /** Since when the node's finalized head is behind or missing; null if it is neither. */
  behindSince: UnixMs | null
  /**
   * When the node last showed that it was behind, its head then, or null, and the newest head of
   * all nodes, or null. Null if it was not behind yet.
   */
  late: { readonly at: UnixMs; readonly height: BlockHeight | null; readonly newest: number | null } | null
  /** How many heads in a row were not behind since the node was. */
  caughtUp: number
  /** Since when the node fails, is unfit or is behind; null if it is well. */
  troubleSince: UnixMs | null
  lastError: NodeStatus['error']
  /**
   * How many transfers the node has shown that are in no final block, and since when the service
   * counts them.
   */
  falseSeen: { readonly count: number; readonly since: number } | null
}

/**
 * Information about a node for operators. It is not stored, so a new object has it only after its
 * first scan.
 */
interface NodeTelemetry {
  answer: NodeStatus['answer']
  /** The node's newest final block, and when that block was read. */
  head: (Header & { readonly at: UnixMs }) | null
  /** When a payout was sent to the node last. */
  broadcastAt: UnixMs | null
}

/** A node and its memory. Logs and alarms name it by its number, from 1, and by its name. */
export interface TronNode extends NodeMemory {
  readonly number: number
  readonly endpoint: NodeEndpoint
  readonly telemetry: NodeTelemetry
  /** The probe that runs now, or null. */
  probing: NodeResult<null> | null
}

/** Raises an alarm. `subject` stays the same while a fault lasts. */
export type RaiseAlarm = <
  Kind extends 'nodes-disagree' | 'node-lies' | 'node-unfit' | 'allowance-used-up' | 'transaction-unreadable',
>(
  kind: Kind,
  subject: AlarmSubjects[Kind],
  fields: LogFields,
) => void

/** All nodes, in order of preference, and the state that all work shares. */
export interface Pool {
  readonly nodes: readonly TronNode[]
  readonly quorum: number
  readonly chainId: bigint
  /** The contracts of configured tokens. */
  readonly tokens: ReadonlySet<Address>
  /** The payout addresses. In their transactions the transfers of all tokens are read. */
  readonly payoutAddresses: ReadonlySet<Address>
  readonly network: Network
  readonly clock: Clock
  readonly logger: Logger
  readonly allowance: Allowance
  readonly turns: Turns
  readonly raiseAlarm: RaiseAlarm
  /** Resolves when the stored memory is loaded. */
  readonly ready: Promise<unknown>
  /** Stores the memory of the nodes if it has changed. */
  remember(): void
  /** When a node last recovered after at least `troubleMsMin`; null if none has. */
  recoveredAt: UnixMs | null
  /**
   * The block that could not be read last: how often in a row, and how often just after the newest
   * block was given. Null if there was none. See `agreeOrPass`.
   */
  stuck: { readonly height: BlockHeight; readonly tries: number; readonly contradictions: number } | null
  lastId: number
  /** The number of pieces of work so far. */
  sessions: number
}

/**
 * One piece of work, such as a scan or a user's call, with the quota of its requests and its
 * deadline.
 */
export interface Session {
  readonly pool: Pool
  readonly quota: RequestQuota
  readonly deadline: UnixMs
  /** The number of this piece of work, in the order in which they began, from 1. */
  readonly order: number
  /** Requests that were sent, by the number of the node. */
  readonly sent: Map<number, number>
  /** The first blocks of the ranges for which a node was asked and did not give them. */
  readonly refused: Set<BlockHeight>
  /**
   * The time when the share of one node in the present query ends. If the node takes longer, that
   * is its failure. Time that a request waits for its turn is added to the share.
   */
  readonly nodeDeadline: { until: number }
  /**
   * The error of a request that was tried once more, until it is noted with what the node has
   * answered then (`noteHealth`).
   */
  readonly retried: { error: NodeError | null }
}

/** Begins a new piece of work, which ends at `deadline`. */
export function createSession(pool: Pool, quota: RequestQuota, deadline: UnixMs): Session {
  pool.sessions += 1
  return {
    pool,
    quota,
    deadline,
    order: pool.sessions,
    sent: new Map(),
    refused: new Set(),
    nodeDeadline: { until: deadline },
    retried: { error: null },
  }
}

/**
 * Returns the piece of work with a new `nodeDeadline` and nothing tried again, for one query to one
 * node: the node gets a share of the time that remains.
 */
export function withDeadline(session: Session): Session {
  const { pool, deadline } = session
  const now = pool.clock.now()
  const ms = Math.min(Math.max((deadline - now) * limits.nodePart, limits.nodeMsMin), limits.nodeMsMax)
  return { ...session, nodeDeadline: { until: Math.min(now + ms, deadline) }, retried: { error: null } }
}

/** Makes a node about which nothing is known. */
export function createNode(endpoint: NodeEndpoint, number: number): TronNode {
  const health = (): ServiceHealth => {
    const until = { restUntil: 0, blockedUntil: 0, demotedUntil: 0, behindUntil: 0 }
    return { failures: 0, rateLimits: 0, slows: 0, rests: 0, ...until }
  }
  return {
    number,
    endpoint,
    telemetry: { answer: null, head: null, broadcastAt: null },
    rpc: health(),
    api: health(),
    health: createHealth(),
    givenAt: 0,
    lacksPeers: false,
    probedUntil: 0,
    doubtedAt: 0,
    receiptAsked: null,
    unfit: null,
    callsMax: 1,
    callsMaxUntil: 0,
    blockBytes: null,
    blocksMax: readBlocksMax,
    receiptsMax,
    behindSince: null,
    late: null,
    caughtUp: 0,
    troubleSince: null,
    lastError: null,
    falseSeen: null,
    probing: null,
  }
}

/**
 * How log lines name a node: by its number and its name, never by its URL, which may contain a key.
 */
export function fieldsOf({ number, endpoint: { name } }: TronNode): LogFields & { readonly node: number } {
  return name === null ? { node: number } : { node: number, name }
}

/**
 * How texts for operators name a node, for example `node 2 (backup)`. They never contain its URL.
 */
export function labelOf({ number, endpoint: { name } }: TronNode): string {
  return name === null ? `node ${number}` : `node ${number} (${name})`
}

/** Whether the node has recently refused batches of any size. */
export function takesNoBatches({ callsMax, callsMaxUntil }: TronNode, now: number): boolean {
  return callsMax === 1 && isAhead(callsMaxUntil, limits.smallBatchesMs, now)
}

/**
 * The start of a state that lasts: `since`, or now if there was none. A start in the future comes
 * from a clock that has stepped back, so it counts as now.
 */
export const earlierOf = (since: UnixMs | null, now: UnixMs): UnixMs => (since === null || since > now ? now : since)

/** The longest rest, with jitter of up to half. */
const restMsLongest = limits.rateLimitMsMax * 1.5

/**
 * How a service is used. Services that are `first` come first, in the order of the configuration.
 * After them come those that are `behind`, then `demoted` ones, then `resting` ones. A `blocked`
 * service is not used.
 */
export function standingOf(health: ServiceHealth, now: number): 'first' | 'behind' | 'demoted' | 'resting' | 'blocked' {
  const { blockedUntil, restUntil, demotedUntil, behindUntil } = health
  if (isAhead(blockedUntil, Math.max(limits.wrongChainMs, limits.rateLimitMs), now)) return 'blocked'
  if (isAhead(restUntil, restMsLongest, now)) return 'resting'
  if (isAhead(demotedUntil, limits.distrustedMs, now)) return 'demoted'
  return isAhead(behindUntil, limits.behindMs, now) ? 'behind' : 'first'
}

/**
 * Records a failed request. The kind of error decides how long the service rests. If several
 * requests fail at the same time, only the first failure counts.
 */
export function recordFailure(
  node: TronNode,
  service: NodeService,
  { kind }: NodeError,
  restsBefore: number,
  clock: Clock,
): void {
  const health = node[service]
  if (health.rests !== restsBefore) return
  const now = clock.now()
  const rest = (firstMs: number, doublings: number, maxMs: number) => {
    const ms = Math.min(firstMs * 2 ** doublings, maxMs) * (1 + clock.random() / 2)
    const before = isAhead(health.restUntil, restMsLongest, now) ? health.restUntil : 0
    health.restUntil = Math.max(before, now + ms)
    health.rests += 1
  }
  const meaning = meanings[kind].node
  switch (meaning) {
    case 'nothing':
    case 'unfit':
      return
    case 'behind':
      health.behindUntil = now + limits.behindMs
      return
    case 'other-chain':
      rest(limits.wrongChainMs, 0, limits.wrongChainMs)
      health.blockedUntil = now + limits.wrongChainMs
      node.probedUntil = 0
      return
    case 'pace':
      rest(limits.rateLimitMs, health.rateLimits, limits.rateLimitMsMax)
      health.blockedUntil = now + limits.rateLimitMs
      health.rateLimits += 1
      return
    case 'rest':
      if (kind === 'timed-out') demoteSlow(health, now)
      rest(limits.restMs, health.failures, limits.restMsMax)
      health.failures += 1
      if (health.failures > 1) node.probedUntil = 0
  }
}

/**
 * Records a successful request that took `ms`. It ends the service's rest and its run of failures.
 * A quick answer soon after a demotion does not end the run of slow ones: a service can be slow at
 * every second request.
 */
export function recordSuccess(health: ServiceHealth, ms: number, now: number): void {
  Object.assign(health, { failures: 0, rateLimits: 0, restUntil: 0, blockedUntil: 0 })
  if (ms <= limits.slowMs && now - health.demotedUntil > limits.demotedMs) health.slows = 0
}

/**
 * Demotes a slow service behind all other nodes, for twice as long each time, because a slow answer
 * delays the query.
 */
export function demoteSlow(health: ServiceHealth, now: number): void {
  if (!isAhead(health.demotedUntil, limits.distrustedMs, now)) health.slows += 1
  const doublings = Math.max(health.slows - 1, 0)
  demoteService(health, Math.min(limits.demotedMs * 2 ** doublings, limits.distrustedMs), now)
}

/**
 * Demotes a node that was outvoted or showed something untrue: for `ms` milliseconds other nodes
 * are used before it. It must be probed again.
 */
export function demote(node: TronNode, clock: Clock, ms = limits.demotedMs): void {
  for (const health of [node.rpc, node.api]) demoteService(health, ms, clock.now())
  node.probedUntil = 0
}

/** Demotes a service for `ms`. A shorter time does not replace a longer one. */
function demoteService(health: ServiceHealth, ms: number, now: number): void {
  const before = isAhead(health.demotedUntil, limits.distrustedMs, now) ? health.demotedUntil : 0
  health.demotedUntil = Math.max(before, now + ms)
}

/**
 * Notes since when a node is in trouble, and when it recovers. Called whenever its health may have
 * changed.
 */
export function noteTrouble(pool: Pool, node: TronNode): void {
  const { rpc, api, unfit, behindSince } = node
  const isWell =
    rpc.restUntil === 0 && api.restUntil === 0 && unfit === null && behindSince === null && !isFailing(node)
  const now = pool.clock.now()
  if (!isWell) node.troubleSince = earlierOf(node.troubleSince, now)
  else {
    const hadTrouble = node.troubleSince !== null && now - node.troubleSince >= limits.troubleMsMin
    if (hadTrouble) pool.recoveredAt = now
    node.troubleSince = null
  }
}
