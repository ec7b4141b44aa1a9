import type { ChainFailure } from '../../chain/failure.ts'
import type { UnixMs } from '../../common/time.ts'
import type { NodeConfig } from '../../config/chain.ts'
import { noAlarms } from '../../platform/alarms.ts'
import type { Clock } from '../../platform/clock.ts'
import { createLogger } from '../../platform/logger.ts'
import { createNodePool } from '../../tron/client.ts'
import type { NodeHealthStore } from '../../tron/nodes/health.ts'
import type { NodePool, TronNode } from '../../tron/nodes/node.ts'
import type { NodeError, NodeErrorKind } from '../../tron/nodes/node-error.ts'
import type { ReadStored } from './read-stored.ts'

const requestsMax = 60
/** Milliseconds for all checks of one node together. */
export const nodeMs = 30_000

/** What the checks use of this machine. */
export interface DoctorPlatform {
  readonly clock: Clock
  readonly fetch: typeof fetch
  readonly readStored: ReadStored
}

/** What the checks of nodes share: with the service's own client, what fails here fails there. */
export interface NodeAccess extends DoctorPlatform {
  readonly chainId: string
  /** What earlier checks learned about the nodes. */
  readonly health: NodeHealthStore
}

/** A node with its number in the configuration, from 1. */
export interface NodeUnderTest extends NodeConfig {
  readonly number: number
}

/** A pool of these nodes, which must all agree, for `ms` from now. */
export function openPool(access: NodeAccess, nodes: readonly NodeUnderTest[], ms: number): NodePool {
  const deadline = (access.clock.now() + ms) as UnixMs // safe: a later time
  const settings = { quorum: nodes.length, tokens: new Set<never>(), logger: createLogger(() => {}), alarms: noAlarms }
  return createNodePool({ ...access, ...settings, nodes, deadline, requestsMax })
}

/** One node in a pool of its own, for `ms` from now. */
export function openNode(access: NodeAccess, underTest: NodeUnderTest, ms: number): TronNode {
  const [node] = openPool(access, [underTest], ms).nodes
  if (node === undefined) throw new Error('a pool without a node')
  return node
}

/** What a kind of error means, where its detail alone does not show it. */
const meanings: Partial<Record<NodeErrorKind, string>> = {
  unreachable: 'unreachable',
  'timed-out': 'timeout',
  'rate-limited': 'rate limit',
  'wrong-chain': 'another chain',
}

/** A node error as a hint for the operator. */
export function describeNodeError({ kind, detail }: NodeError): string {
  if (detail === 'HTTP 401') return 'the API key is missing or refused (HTTP 401)'
  const text = meanings[kind] === undefined ? detail : `${meanings[kind]} (${detail})`
  return kind === 'rate-limited' ? `${text}: try again later, or name the variable of an API key in keyVar` : text
}

/** Why the pool of one node failed, without the number of the node: the line begins with it. */
export function describeFailure(node: TronNode, failure: ChainFailure): string {
  if (failure.kind === 'no-answer') return failure.why.replace(`node ${node.number}: `, '')
  return failure.kind === 'out-of-budget' ? 'no answer in time' : failure.kind
}
