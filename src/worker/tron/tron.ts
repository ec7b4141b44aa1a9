import type { Chain, RequestQuota } from '../chain/chain.ts'
import type { NodeStatus } from '../chain/node-status.ts'
import { isAhead, type UnixMs } from '../common/time.ts'
import type { Observation } from '../platform/observation.ts'
import { findHolder, isActivated, readBalances, readDecimals, readEnergy, readHoldings } from './accounts.ts'
import { readFinalBlocks, readNodeTail } from './blocks.ts'
import { broadcastTransaction } from './broadcast.ts'
import { checkNodes } from './check-nodes.ts'
import { readCost } from './cost.ts'
import { readFinalizedHead } from './finalized-head.ts'
import { readInternalTransfers } from './internal.ts'
import { distrustedMs, falseSeenMax, falseSeenMs } from './limits.ts'
import { createSession, demote, fieldsOf, type Session } from './node.ts'
import { nodeStatuses } from './node-statuses.ts'
import { createPool, type PoolOptions } from './pool.ts'
import { locateTransaction, readFinalTransaction, readReceiptTransfers } from './transactions.ts'
import { observeNodes } from './watch-nodes.ts'

/**
 * The access to nodes for the life of an object: their health, and the requests that they allow.
 */
export interface Tron {
  /**
   * Opens the chain for one piece of work, which ends at `deadline`. Failures are values: no method
   * throws.
   */
  open(quota: RequestQuota, deadline: UnixMs): Chain
  /**
   * The earliest time at which the allowances of the nodes permit a tick before the usual interval
   * is over.
   */
  tickAvailableAt(): UnixMs
  /**
   * The ids of the configured nodes, in one text. If it is not the text of an earlier instance, the
   * nodes have been changed.
   */
  readonly nodes: string
  /**
   * When a node last recovered after at least five minutes of trouble. Null if none has, or if no
   * node was asked yet.
   */
  recoveredAt(): UnixMs | null
  /** The nodes that are in trouble now, for the alarms. */
  nodeTroubles(): Promise<Observation>
  /** The statuses of the nodes for operators, in the order of `TRON_NODES`. */
  nodeStatuses(): Promise<readonly NodeStatus[]>
}

/** Makes the access to the chain through several nodes, none of which is trusted. */
export function createTron(options: PoolOptions): Tron {
  const pool = createPool(options)
  return {
    open: (quota, deadline) => chainOf(createSession(pool, quota, deadline)),
    tickAvailableAt: pool.allowance.tickAvailableAt,
    recoveredAt: () => pool.recoveredAt,
    nodeTroubles: () => observeNodes(pool),
    nodeStatuses: () => nodeStatuses(pool),
    nodes: pool.nodes.map(({ endpoint }) => endpoint.id).join(' '),
  }
}

function chainOf(session: Session): Chain {
  return {
    finalizedHead: (stored) => readFinalizedHead(session, stored),
    finalBlocks: (from, to) => readFinalBlocks(session, from, to),
    receiptTransfers: (block, txids) => readReceiptTransfers(session, block, txids),
    tail: (known, head) => readNodeTail(session, known, head),
    locate: (txid) => locateTransaction(session, txid),
    finalTransaction: (txid, height) => readFinalTransaction(session, txid, height),
    internalTransfers: (txid, height) => readInternalTransfers(session, txid, height),
    cost: (txid, height) => readCost(session, txid, height),
    balances: (addresses, asset) => readBalances(session, addresses, asset),
    holdings: (address, assets) => readHoldings(session, address, assets),
    energy: (address) => readEnergy(session, address),
    holder: (addresses, asset) => findHolder(session, addresses, asset),
    activated: (address) => isActivated(session, address),
    broadcast: (transaction, before) => broadcastTransaction(session, transaction, before),
    decimals: (contract) => readDecimals(session, contract),
    checkNodes: (stored) => checkNodes(session, stored),
    noteFalse: (number, transfers) => noteFalse(session, number, transfers),
  }
}

function noteFalse({ pool }: Session, number: number, transfers: number): void {
  const node = pool.nodes[number - 1]
  if (node === undefined) return // the node is no longer configured
  const now = pool.clock.now()
  const { falseSeen } = node
  const isRecent = falseSeen !== null && isAhead(falseSeen.since + falseSeenMs, falseSeenMs, now)
  const count = (isRecent ? falseSeen.count : 0) + transfers
  node.falseSeen = { count, since: isRecent ? falseSeen.since : now }
  if (count > falseSeenMax) {
    node.falseSeen = null
    demote(node, pool.clock, distrustedMs)
    const why = `${count} transfers that it showed above the final blocks are not in them`
    pool.raiseAlarm('node-lies', { node: number }, { ...fieldsOf(node), why })
  }
  pool.remember()
}
