import type { BuiltChain } from '../support/chain-builder.ts'
import { createScriptedNode, type ScriptedNode } from '../support/scripted-node.ts'
import type { Branch } from './branches.ts'
import type { ByzantineFault } from './byzantine-faults.ts'
import type { NodePlan, Scenario } from './scenario.ts'

/** A node and its present state. */
export interface SimulatedNode {
  readonly number: number
  readonly rpc: string
  readonly api: string | null
  readonly plan: NodePlan
  readonly scripted: ScriptedNode
  /** Largest difference in blocks between the backends behind its URL. */
  spread: number
  /** Time until which no request reaches it. */
  awayUntil: number
  /** Most calls of one batch. */
  callsMax: number
  /** Most characters of one reply. */
  replyMax: number
  /** The method of which it answers no call. */
  refuses: string | null
  /** Whether its HTTP API knows no transaction. */
  lacksBytes: boolean
  /** How often it names another chain, of all requests. */
  glitches: number
  /** How often its reply is malformed while other nodes work, of all requests. */
  malformed: number
  /** Requests that it answers in a minute. */
  quota: number
  /** Requests since the minute `quotaMinute`. */
  used: number
  quotaMinute: number
  /** The fork above finality that it is on. */
  fork: Branch | null
  fault: ByzantineFault | null
  /** The newest block that it shows while it holds its head back. */
  heldHeight: number
}

/** A node without any limit or fault. */
export const unlimited = {
  callsMax: Number.POSITIVE_INFINITY,
  replyMax: Number.POSITIVE_INFINITY,
  refuses: null,
  lacksBytes: false,
  glitches: 0,
  malformed: 0,
  quota: Number.POSITIVE_INFINITY,
  used: 0,
  quotaMinute: 0,
} as const

/** A node that follows `chain`. */
export function createNode(
  chain: BuiltChain,
  { finalityLag }: Scenario,
  plan: NodePlan,
  number: number,
): SimulatedNode {
  const scripted = createScriptedNode(chain)
  scripted.finalityLag = finalityLag
  return {
    number,
    rpc: `https://node-${number}.test/jsonrpc`,
    api: plan.hasApi ? `https://node-${number}.test` : null,
    plan,
    scripted,
    spread: 0,
    awayUntil: 0,
    ...unlimited,
    fork: null,
    fault: null,
    heldHeight: 0,
  }
}
