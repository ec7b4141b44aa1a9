import type { Chain } from '../chain/chain.ts'
import { readBalances } from './balances.ts'
import { type CircuitState, healthOf, type NodeEndpoint } from './nodes/health.ts'
import { type NodePool, type PoolSettings, raiseAlarms, type TronNode } from './nodes/node.ts'
import { readFinalBlocks } from './quorum/final-blocks.ts'
import { readFinalizedHead } from './quorum/finalized-head.ts'
import { locateTransaction } from './quorum/locate-transaction.ts'
import { readReceipts } from './quorum/receipts.ts'
import { readTokenDecimals } from './quorum/token-decimals.ts'
import { readBytesInBlock, readTransactionBytes } from './transaction-bytes.ts'
import { createRequestBudget, type RequestLimits, unlimited } from './transport/http.ts'
import { readUnconfirmedBlocks } from './unconfirmed-blocks.ts'
import { findActivated, findHolder } from './used-addresses.ts'

/** What a client is made of. The health store lives as long as the isolate, everything else as long as one invocation. */
export interface TronClientOptions extends RequestLimits, PoolSettings {
  /** In order of preference. A node's number is its place from 1, unless it is given. */
  readonly nodes: readonly (NodeEndpoint & { readonly number?: number })[]
  /** A `0x` quantity. A node with another chain id is never used. */
  readonly chainId: string
}

/** The chain through a pool of nodes, none of which is trusted. Failures are values: no method throws. */
export function createTronClient(options: TronClientOptions): Chain {
  const pool = createNodePool(options)
  /** Ends a query with the alarms about what it found. */
  const withAlarms = async <T>(result: Promise<T>): Promise<T> => {
    try {
      return await result
    } finally {
      await raiseAlarms(pool)
    }
  }
  return {
    finalizedHead: () => withAlarms(readFinalizedHead(pool)),
    finalizedBlocks: (from, to) => withAlarms(readFinalBlocks(pool, from, to)),
    unconfirmedBlocks: (after) => withAlarms(readUnconfirmedBlocks(pool, after)),
    receipts: (transactions) => withAlarms(readReceipts(pool, transactions)),
    transactionBytes: (txid) => withAlarms(readTransactionBytes(pool, txid)),
    bytesInBlock: (height) => withAlarms(readBytesInBlock(pool, height)),
    locateTransaction: (txid) => withAlarms(locateTransaction(pool, txid)),
    balances: (addresses, asset) => withAlarms(readBalances(pool, addresses, asset)),
    holder: (addresses, asset) => withAlarms(findHolder(pool, addresses, asset)),
    activated: (addresses) => withAlarms(findActivated(pool, addresses)),
    decimals: (contract) => withAlarms(readTokenDecimals(pool, contract)),
    requestsLeft: () => pool.budget.requestsMax - pool.budget.requests,
  }
}

/** The nodes of a client with a new budget: for queries that are not part of `Chain`. */
export function createNodePool(options: TronClientOptions): NodePool {
  const nodes: TronNode[] = []
  const budget = createRequestBudget(options, options.nodes.length === 1)
  const pool = {
    ...options,
    nodes,
    budget,
    chainId: BigInt(options.chainId),
    tried: new Set<CircuitState>(),
    faults: [],
  }
  for (const [i, endpoint] of options.nodes.entries()) {
    const number = endpoint.number ?? i + 1
    const health = healthOf(options.health, number, endpoint, options.chainId)
    nodes.push({ number, endpoint, health, pool, allowance: unlimited() })
  }
  return pool
}
