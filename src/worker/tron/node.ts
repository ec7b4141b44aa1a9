import type { Address } from '../chain/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import { type Payer, readBlocksMax } from '../chain/chain.ts'
import type { NodeReport } from '../chain/node-report.ts'
import { isAhead, type UnixMs } from '../common/time.ts'
import type { AlarmSubjects } from '../platform/alarm-table.ts'
import type { Clock } from '../platform/clock.ts'
import type { LogFields, Logger } from '../platform/logger.ts'
import type { Allowance } from './allowance.ts'
import * as limits from './limits.ts'
import { meanings, type NodeError, type NodeResult } from './node-errors.ts'
import type { HttpTarget, Network } from './transport.ts'
import type { Turns } from './turns.ts'

/** A node as it is configured. What it is asked with is secret. */
export interface NodeEndpoint {
  /** Names it in storage. It is made without its key. */
  readonly id: string
  /** What an operator calls it, or null. */
  readonly name: string | null
  /** The name of its JSON-RPC's host, without a port. */
  readonly host: string
  /** JSON-RPC. */
  readonly rpc: HttpTarget
  /** HTTP API: paths are appended to its URL, which has no slash at the end. */
  readonly api: HttpTarget
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
  /** Other nodes are used until then, where there are enough. 0 if the last request succeeded. */
  restUntil: number
  /** No request at all until then. */
  blockedUntil: number
  /** All other nodes are used first until then. */
  demotedUntil: number
  /** How often that was because it was slow, since it was last quick. */
  slows: number
  /** All nodes are used first until then that are neither behind nor demoted. */
  behindUntil: number
  /** Rests in all: requests that ran at the same time began with the same number. */
  rests: number
  /** Its failures in a row: since when, and the newest one. Null if the last request succeeded. */
  failing: { readonly since: UnixMs; readonly at: UnixMs; readonly why: string } | null
}

/** What is remembered of a node. It is stored, since the platform may clear the memory of an object between two ticks. */
export interface NodeMemory {
  readonly rpc: ServiceHealth
  readonly api: ServiceHealth
  /** A probe found it fit, which counts until then. 0 if it must be probed. */
  probedUntil: number
  /** Why a probe found it unfit, and until when that counts. */
  unfit: { readonly why: string; readonly until: number } | null
  /** Most calls of a batch, until `callsMaxUntil`. With 1 the node takes no batches. */
  callsMax: number
  callsMaxUntil: number
  /** Kept bytes of a block, by its newest reply; null before the first one. */
  blockBytes: number | null
  /** Most blocks of one question. It is halved if the node fails to give them, and doubles again. */
  blocksMax: number
  /** Since when its finalized head is behind, or it gives none. */
  behindSince: UnixMs | null
  /** Since when it fails, is unfit or is behind. */
  troubleSince: UnixMs | null
  /** Why it was last without a good answer. */
  lastError: NodeReport['error']
  /** Whether an alarm may say that it fails. */
  isNamedFailing: boolean
  /** Transfers that it has shown and that are in no final block, and since when they are counted. */
  falseSeen: { readonly count: number; readonly since: number } | null
}

/** What an operator is shown of a node. It is not stored: an object knows it after its first scan. */
interface NodeNews {
  answer: NodeReport['answer']
  /** Its newest final block. */
  head: { readonly at: UnixMs; readonly height: BlockHeight } | null
}

/** A node and its memory. Logs and alarms name it by its number, from 1, and by its name. */
export interface TronNode extends NodeMemory {
  readonly number: number
  readonly endpoint: NodeEndpoint
  readonly news: NodeNews
  /** The probe that runs. */
  probing: NodeResult<null> | null
}

/** Reports what an operator must see. `subject` is the same for one fault that lasts. */
export type Report = <
  Kind extends
    | 'nodes-disagree'
    | 'node-lies'
    | 'node-unfit'
    | 'node-behind'
    | 'node-failing'
    | 'allowance-used-up'
    | 'transaction-unreadable',
>(
  kind: Kind,
  subject: AlarmSubjects[Kind],
  fields: LogFields,
) => void

/** Reports the end of such a fault. False if it could not be stored, and must be reported again. */
export type ReportEnd = (
  kind: 'node-behind' | 'node-failing',
  subject: AlarmSubjects['node-behind' | 'node-failing'],
) => Promise<boolean>

/** All nodes, in order of preference, and what every piece of work shares. */
export interface Pool {
  readonly nodes: readonly TronNode[]
  /** Nodes that must agree. */
  readonly quorum: number
  readonly chainId: bigint
  /** Token contracts whose transfers count. */
  readonly tokens: ReadonlySet<Address>
  /** The payout address, or null. Of its transactions the transfers of all tokens are read. */
  readonly payer: Address | null
  readonly network: Network
  readonly clock: Clock
  readonly logger: Logger
  readonly allowance: Allowance
  readonly turns: Turns
  readonly report: Report
  readonly reportEnd: ReportEnd
  /** Resolves when what was stored is known. */
  readonly ready: Promise<unknown>
  /** Stores the memory of the nodes where it has changed. */
  remember(): void
  /** When a node last became well again after at least `troubleMsMin`. */
  recoveredAt: UnixMs | null
  lastId: number
  /** Pieces of work so far. */
  sessions: number
}

/** One piece of work: who pays for it, and until when it may take. */
export interface Session {
  readonly pool: Pool
  readonly payer: Payer
  readonly deadline: UnixMs
  /** Pieces of work that began before this one. */
  readonly order: number
  /** Requests that were sent, by the number of the node. */
  readonly sent: Map<number, number>
  /**
   * What is asked of one node in one question ends then, and is that node's failure. The time that a request waits until the node
   * may be asked is added.
   */
  readonly box: { until: number }
}

/** A new piece of work, which ends at `deadline`. */
export function createSession(pool: Pool, payer: Payer, deadline: UnixMs): Session {
  pool.sessions += 1
  return { pool, payer, deadline, order: pool.sessions, sent: new Map(), box: { until: deadline } }
}

/** The same piece of work for one question to one node, which has a part of the time that is left. */
export function boxOf(session: Session): Session {
  const { pool, deadline } = session
  const now = pool.clock.now()
  const ms = Math.min(Math.max((deadline - now) * limits.nodePart, limits.nodeMsMin), limits.nodeMsMax)
  return { ...session, box: { until: Math.min(now + ms, deadline) } }
}

/** A node of which nothing is known. */
export function createNode(endpoint: NodeEndpoint, number: number): TronNode {
  const health = (): ServiceHealth => {
    const until = { restUntil: 0, blockedUntil: 0, demotedUntil: 0, behindUntil: 0 }
    return { failures: 0, rateLimits: 0, slows: 0, rests: 0, failing: null, ...until }
  }
  return {
    number,
    endpoint,
    news: { answer: null, head: null },
    rpc: health(),
    api: health(),
    probedUntil: 0,
    unfit: null,
    callsMax: 1,
    callsMaxUntil: 0,
    blockBytes: null,
    blocksMax: readBlocksMax,
    behindSince: null,
    troubleSince: null,
    lastError: null,
    isNamedFailing: false,
    falseSeen: null,
    probing: null,
  }
}

/** A node in the fields of a log line: its number, and its name if it has one. */
export function fieldsOf({ number, endpoint: { name } }: TronNode): LogFields & { readonly node: number } {
  return name === null ? { node: number } : { node: number, name }
}

/** A node in a text for an operator, as in `fieldsOf`. */
export function labelOf({ number, endpoint: { name } }: TronNode): string {
  return name === null ? `node ${number}` : `node ${number} (${name})`
}

/** Whether the node has refused batches of any size lately. */
export function takesNoBatches({ callsMax, callsMaxUntil }: TronNode, now: number): boolean {
  return callsMax === 1 && isAhead(callsMaxUntil, limits.smallBatchesMs, now)
}

/** Since when something lasts. A time that is ahead is of a clock that has stepped back. */
export const earlierOf = (since: UnixMs | null, now: UnixMs): UnixMs => (since === null || since > now ? now : since)

/** Rests have jitter of up to half. */
const restMsLongest = limits.rateLimitMsMax * 1.5

/** How a service is used: `blocked` not at all, `resting` after all others, and so on. */
export function standingOf(health: ServiceHealth, now: number): 'first' | 'behind' | 'demoted' | 'resting' | 'blocked' {
  const { blockedUntil, restUntil, demotedUntil, behindUntil } = health
  if (isAhead(blockedUntil, Math.max(limits.wrongChainMs, limits.rateLimitMs), now)) return 'blocked'
  if (isAhead(restUntil, restMsLongest, now)) return 'resting'
  if (isAhead(demotedUntil, limits.distrustedMs, now)) return 'demoted'
  return isAhead(behindUntil, limits.behindMs, now) ? 'behind' : 'first'
}

/** A request failed: the kind of error decides how long the service rests. Of requests at the same time the first counts. */
export function recordFailure(
  node: TronNode,
  service: NodeService,
  { kind, detail }: NodeError,
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
  if (meaning === 'rest' || meaning === 'pace')
    health.failing = { since: earlierOf(health.failing?.since ?? null, now), at: now, why: detail }
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

/** A request succeeded, in so many milliseconds. */
export function recordSuccess(health: ServiceHealth, ms: number): void {
  Object.assign(health, { failures: 0, rateLimits: 0, restUntil: 0, blockedUntil: 0, failing: null })
  if (ms <= limits.slowMs) health.slows = 0
}

/** All other nodes are used before a service that was slow, each time for twice as long: to ask it again delays what it is asked for. */
export function demoteSlow(health: ServiceHealth, now: number): void {
  if (!isAhead(health.demotedUntil, limits.distrustedMs, now)) health.slows += 1
  const doublings = Math.max(health.slows - 1, 0)
  demoteService(health, Math.min(limits.demotedMs * 2 ** doublings, limits.distrustedMs), now)
}

/** A node was outvoted, or showed what is not true: all others are used before it for so long, and it is probed again. */
export function demote(node: TronNode, clock: Clock, ms = limits.demotedMs): void {
  for (const health of [node.rpc, node.api]) demoteService(health, ms, clock.now())
  node.probedUntil = 0
}

/** A shorter time ends no longer one. */
function demoteService(health: ServiceHealth, ms: number, now: number): void {
  const before = isAhead(health.demotedUntil, limits.distrustedMs, now) ? health.demotedUntil : 0
  health.demotedUntil = Math.max(before, now + ms)
}

/** Notes since when a node is in trouble, and when it is well again. */
export function noteTrouble(pool: Pool, node: TronNode): void {
  const { rpc, api, unfit, behindSince } = node
  const isWell = rpc.restUntil === 0 && api.restUntil === 0 && unfit === null && behindSince === null
  const now = pool.clock.now()
  if (!isWell) node.troubleSince = earlierOf(node.troubleSince, now)
  else {
    const hadTrouble = node.troubleSince !== null && now - node.troubleSince >= limits.troubleMsMin
    if (hadTrouble) pool.recoveredAt = now
    node.troubleSince = null
  }
}
