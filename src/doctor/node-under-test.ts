import type { UnixMs } from '../common/time.ts'
import type { Config, NodeConfig } from '../config/config.ts'
import type { Clock } from '../platform/clock.ts'
import { createNodeMemory } from '../tron/client.ts'
import { healthOf, type NodeHealth } from '../tron/nodes/health.ts'
import type { NodeError } from '../tron/nodes/node-error.ts'
import { genesisHashOf } from '../tron/nodes/probe.ts'
import type { NodePool, TronNode } from '../tron/transport/batch.ts'
import { type CapturingLog, createCapturingLog } from './capturing-log.ts'
import { hostOf } from './check-result.ts'
import { requestsMax } from './limits.ts'

/** What the checks need of the machine. */
export interface DoctorPlatform {
  readonly clock: Clock
  readonly fetch: typeof fetch
}

/** One node under examination, by the service's own client: what fails here fails there. */
export interface NodeUnderTest {
  /** `node 1 (host)`. */
  readonly name: string
  readonly number: number
  readonly endpoint: NodeConfig
  readonly health: NodeHealth
  readonly captured: CapturingLog
}

/** The nodes of a configuration, none of them asked yet. */
export function nodesUnderTest({ nodes, chainId }: Pick<Config, 'nodes' | 'chainId'>): readonly NodeUnderTest[] {
  return nodes.map((endpoint, i) => {
    const number = i + 1
    const health = healthOf(createNodeMemory(), number, endpoint, chainId)
    return {
      name: `node ${number} (${hostOf(endpoint.rpc)})`,
      number,
      endpoint,
      health,
      captured: createCapturingLog(),
    }
  })
}

/** A pool of this node alone, for `ms` from now, and the node in it. */
export function openPool(
  { clock, fetch }: DoctorPlatform,
  patient: NodeUnderTest,
  chain: string,
  ms: number,
): [NodePool, TronNode] {
  const node: TronNode = patient
  const chainId = BigInt(chain)
  const pool: NodePool = {
    budget: {
      fetch,
      clock,
      deadline: (clock.now() + ms) as UnixMs, // safe: a later time
      requestsMax,
      onlyNode: true,
      requests: 0,
      lastId: 0,
      open: 0,
      waiting: [],
    },
    log: patient.captured.logger,
    health: createNodeMemory(),
    nodes: [node],
    quorum: 1,
    chainId,
    genesis: genesisHashOf(chainId),
    tokens: new Set(),
  }
  return [pool, node]
}

/** A trouble as the operator's next step. */
export function describeNodeError({ kind, detail }: NodeError): string {
  switch (kind) {
    case 'unreachable':
      return `it can’t be reached (${detail})`
    case 'timed-out':
      return `it gives no answer (${detail})`
    case 'rate-limited':
      return `it limits requests (${detail}): wait and try again, or name the variable of its key in keyVar`
    case 'wrong-chain':
      return `it is of another chain (${detail})`
    case 'bad-answer':
    case 'behind':
    case 'batch-refused':
    case 'too-large':
    case 'unfit':
    case 'out-of-budget':
      return detail === 'HTTP 401' ? 'it refuses the key, or wants one (HTTP 401)' : detail
  }
}
