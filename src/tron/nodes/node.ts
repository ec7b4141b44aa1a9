import type { Address } from '../../addresses/address.ts'
import type { AlarmKind, LogFields, Logger } from '../../platform/logger.ts'
import { alarmRepeatMs, alarmsMax } from '../limits.ts'
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
}

/** The nodes of one invocation, in order of preference, and what all of its queries share. */
export interface NodePool extends PoolSettings {
  readonly nodes: readonly TronNode[]
  readonly chainId: bigint
  readonly budget: RequestBudget
  /** Services that this invocation has queried although they rest, because too few others were left. */
  readonly tried: Set<CircuitState>
}

/** Raises an alarm about `fault`, at most once in `alarmRepeatMs`. */
export function raiseAlarm(pool: NodePool, fault: string, kind: AlarmKind, fields: LogFields): void {
  const { alarms } = pool.health
  const now = pool.budget.clock.now()
  if (now - (alarms.get(fault) ?? Number.NEGATIVE_INFINITY) < alarmRepeatMs) return
  if (alarms.size >= alarmsMax) alarms.clear()
  alarms.set(fault, now)
  pool.logger.alarm(kind, fields)
}
