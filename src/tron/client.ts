import type { Address } from '../addresses/address.ts'
import type { Chain, ChainFacts } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { healthOf, type NodeEndpoint, type NodeHealthStore } from './nodes/health.ts'
import { genesisHashOf } from './nodes/probe.ts'
import { locateTransaction, readBalances, readReceipts, readTokenDecimals, readTransactionBytes } from './queries.ts'
import { readFinalBlocks } from './quorum/final-blocks.ts'
import { readFinalizedHead } from './quorum/finalized-head.ts'
import type { NodePool } from './transport/batch.ts'
import type { Fetch, RequestBudget } from './transport/http.ts'
import { readUnconfirmedBlocks } from './unconfirmed-blocks.ts'

export {
  createNodeHealthStore as createNodeMemory,
  type NodeEndpoint,
  type NodeHealthStore as NodeMemory,
} from './nodes/health.ts'
export type { Fetch } from './transport/http.ts'

/** What a pool is made of. `memory` lives as long as the isolate; everything else is one invocation's. */
export interface TronClientOptions {
  /** In order of preference. */
  readonly nodes: readonly NodeEndpoint[]
  /** Nodes that must agree before money is credited. */
  readonly quorum: number
  /** `0x` quantity. A node that reports another is never used. */
  readonly chainId: string
  /** Accepted token contracts: whose logs nodes must agree on, block by block. */
  readonly tokens: ReadonlySet<Address>
  readonly health: NodeHealthStore
  readonly clock: Clock
  readonly fetch: Fetch
  readonly log: Logger
  /** When every answer must be there. */
  readonly deadline: UnixMs
  /** HTTP requests that this invocation may make. */
  readonly requestsMax: number
}

/** The chain through a pool of nodes of which none is trusted. Failures are values; nothing here throws. */
export function createTronClient(parts: TronClientOptions): Chain {
  const { clock, fetch, deadline, requestsMax, log, health: memory, quorum, tokens } = parts
  const line: RequestBudget = {
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
    health: healthOf(memory, i + 1, endpoint, parts.chainId),
  }))
  const chainId = BigInt(parts.chainId)
  const pool: NodePool = {
    budget: line,
    log,
    health: memory,
    nodes,
    quorum,
    chainId,
    genesis: genesisHashOf(chainId),
    tokens,
  }
  return {
    finalizedHead: () => readFinalizedHead(pool),
    finalizedBlocks: (from, to) => readFinalBlocks(pool, from, to),
    unconfirmedBlocks: (after) => readUnconfirmedBlocks(pool, after),
    receipts: (asked) => readReceipts(pool, asked),
    transactionBytes: (txid) => readTransactionBytes(pool, txid),
    locateTransaction: (txid) => locateTransaction(pool, txid),
    balances: (addresses, asset) => readBalances(pool, addresses, asset),
    decimals: (contract) => readTokenDecimals(pool, contract),
    requestsLeft: () => requestsMax - line.requests,
  }
}

/** What the configuration alone says about the pool. */
export function chainFactsOf({ nodes, quorum }: Pick<TronClientOptions, 'nodes' | 'quorum'>): ChainFacts {
  return { hasApi: nodes.some(({ api }) => api !== null), quorum }
}
