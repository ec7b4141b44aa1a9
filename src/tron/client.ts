import type { Address } from '../addresses/address.ts'
import type { UnixMs } from '../common/time.ts'
import type { Chain, ChainFacts } from '../chain/chain.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/logger.ts'
import { finalizedBlocks } from './quorum/final-blocks.ts'
import { finalizedHead } from './quorum/finalized-head.ts'
import { type NodeEndpoint, type NodeMemory, recall } from './nodes/health.ts'
import type { Pool } from './transport/batch.ts'
import { genesisOf } from './nodes/probe.ts'
import { balances, decimals, locate, rawData, receipts } from './queries.ts'
import type { Fetch, Line } from './transport/http.ts'
import { tail } from './unconfirmed-blocks.ts'

export { createNodeMemory, type NodeEndpoint, type NodeMemory } from './nodes/health.ts'
export type { Fetch } from './transport/http.ts'

/** What a pool is made of. `memory` lives as long as the isolate; everything else is one invocation's. */
export interface NodePoolParts {
  /** In order of preference. */
  readonly nodes: readonly NodeEndpoint[]
  /** Nodes that must agree before money is credited. */
  readonly quorum: number
  /** `0x` quantity. A node that reports another is never used. */
  readonly chainId: string
  /** Accepted token contracts: whose logs nodes must agree on, block by block. */
  readonly tokens: ReadonlySet<Address>
  readonly memory: NodeMemory
  readonly clock: Clock
  readonly fetch: Fetch
  readonly log: Log
  /** When every answer must be there. */
  readonly deadline: UnixMs
  /** HTTP requests that this invocation may make. */
  readonly requestsMax: number
}

/** The chain through a pool of nodes of which none is trusted. Failures are values; nothing here throws. */
export function createNodePool(parts: NodePoolParts): Chain {
  const { clock, fetch, deadline, requestsMax, log, memory, quorum, tokens } = parts
  const line: Line = {
    fetch,
    clock,
    deadline,
    requestsMax,
    onlyNode: parts.nodes.length === 1,
    requests: 0,
    lastId: 0,
    open: 0,
    waiting: [],
  }
  const nodes = parts.nodes.map((endpoint, i) => ({
    number: i + 1,
    endpoint,
    state: recall(memory, i + 1, endpoint, parts.chainId),
  }))
  const chainId = BigInt(parts.chainId)
  const pool: Pool = { line, log, memory, nodes, quorum, chainId, genesis: genesisOf(chainId), tokens }
  return {
    finalizedHead: () => finalizedHead(pool),
    finalizedBlocks: (from, to) => finalizedBlocks(pool, from, to),
    tail: (after) => tail(pool, after),
    receipts: (asked) => receipts(pool, asked),
    rawData: (txid) => rawData(pool, txid),
    locate: (txid) => locate(pool, txid),
    balances: (addresses, contract) => balances(pool, addresses, contract),
    decimals: (contract) => decimals(pool, contract),
    requestsLeft: () => requestsMax - line.requests,
  }
}

/** What the configuration alone says about the pool. */
export function chainFactsOf({ nodes, quorum }: Pick<NodePoolParts, 'nodes' | 'quorum'>): ChainFacts {
  return { hasApi: nodes.some(({ api }) => api !== null), quorum }
}
