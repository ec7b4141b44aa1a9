import type { Address } from '../../chain/address.ts'
import type { Alarms } from '../../platform/alarms.ts'
import type { AlarmKind, LogFields, Logger } from '../../platform/logger.ts'
import { createAllowance, type RequestAllowance, type RequestBudget } from '../transport/http.ts'
import type { CircuitState, NodeEndpoint, NodeHealth, NodeHealthStore } from './health.ts'

/** A node of a pool. Its number, from 1, is its only name in logs. */
export interface TronNode {
  readonly number: number
  readonly endpoint: NodeEndpoint
  readonly health: NodeHealth
  readonly pool: NodePool
  /** What the present question may use at this node. */
  readonly allowance: RequestAllowance
}

/** The node for a new question. */
export function forQuestion(node: TronNode): TronNode {
  return { ...node, allowance: createAllowance(node.pool.budget) }
}

/** What is configured for all nodes, and where their health and events are kept. */
export interface PoolSettings {
  /** Nodes that must agree. */
  readonly quorum: number
  /** Accepted token contracts. Nodes must agree on their logs. */
  readonly tokens: ReadonlySet<Address>
  readonly health: NodeHealthStore
  readonly logger: Logger
  readonly alarms: Pick<Alarms, 'raise'>
}

/** The nodes of one invocation, in order of preference, and what all of its queries share. */
export interface NodePool extends PoolSettings {
  readonly nodes: readonly TronNode[]
  readonly chainId: bigint
  readonly budget: RequestBudget
  /** Services that failed although this invocation queried them in their rest, because too few others were left. */
  readonly tried: Set<CircuitState>
  /** What `raiseAlarm` was called with and is not raised yet. */
  readonly faults: NodeFault[]
}

/** A fault of nodes that needs an alarm. */
export interface NodeFault {
  readonly kind: AlarmKind
  readonly subject: string
  readonly fields: LogFields
}

/** Has an alarm about `subject` raised once the present query of the client ends. */
export function raiseAlarm(pool: NodePool, subject: string, kind: AlarmKind, fields: LogFields): void {
  pool.faults.push({ kind, subject, fields })
}

/** Raises the alarms about the faults that were found since the last call. */
export async function raiseAlarms(pool: NodePool): Promise<void> {
  for (const { kind, subject, fields } of pool.faults.splice(0)) await pool.alarms.raise(kind, subject, fields)
}
