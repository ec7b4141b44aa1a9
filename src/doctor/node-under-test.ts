import { type NodeState, recall } from '../tron/nodes/health.ts'
import type { Pool, PoolNode } from '../tron/transport/batch.ts'
import { createNodeMemory } from '../tron/client.ts'
import { genesisOf } from '../tron/nodes/probe.ts'
import type { Trouble } from '../tron/nodes/node-error.ts'
import type { Config, NodeConfig } from '../config/config.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import { hostOf } from './check-result.ts'
import { createHearing, type Hearing } from './capturing-log.ts'
import { requestsMax } from './limits.ts'

/** What the checks need of the machine. */
export interface Machine {
  readonly clock: Clock
  readonly fetch: typeof fetch
}

/** One node under examination, by the service's own client: what fails here fails there. */
export interface Patient {
  /** `node 1 (host)`. */
  readonly name: string
  readonly number: number
  readonly endpoint: NodeConfig
  readonly state: NodeState
  readonly hearing: Hearing
}

/** The nodes of a configuration, none of them asked yet. */
export function admit({ nodes, chainId }: Pick<Config, 'nodes' | 'chainId'>): readonly Patient[] {
  return nodes.map((endpoint, i) => {
    const number = i + 1
    const state = recall(createNodeMemory(), number, endpoint, chainId)
    return { name: `node ${number} (${hostOf(endpoint.rpc)})`, number, endpoint, state, hearing: createHearing() }
  })
}

/** A pool of this node alone, for `ms` from now, and the node in it. */
export function open({ clock, fetch }: Machine, patient: Patient, chain: string, ms: number): [Pool, PoolNode] {
  const node: PoolNode = patient
  const chainId = BigInt(chain)
  const pool: Pool = {
    line: {
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
    log: patient.hearing.log,
    memory: createNodeMemory(),
    nodes: [node],
    quorum: 1,
    chainId,
    genesis: genesisOf(chainId),
    tokens: new Set(),
  }
  return [pool, node]
}

/** A trouble as the operator's next step. */
export function explain({ kind, detail }: Trouble): string {
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
