import type { Chain, Payer } from '../chain/chain.ts'
import type { NodeReport } from '../chain/node-report.ts'
import { isAhead, type UnixMs } from '../common/time.ts'
import { findHolder, isActivated, readBalances, readDecimals, readHoldings } from './accounts.ts'
import { readFinalBlocks, readNodeTail } from './blocks.ts'
import { broadcastTransaction } from './broadcast.ts'
import { readFinalizedHead } from './finalized-head.ts'
import { readInternalTransfers } from './internal.ts'
import { distrustedMs, falseSeenMax, falseSeenMs } from './limits.ts'
import { createSession, demote, fieldsOf, type Session } from './node.ts'
import { reportNodes } from './node-reports.ts'
import { createPool, type PoolOptions } from './pool.ts'
import { locateTransaction, readFinalTransaction, readReceiptTransfers } from './transactions.ts'

/** The access to nodes, for the life of an object: their health, and the requests that they allow. */
export interface Tron {
  /** The chain for one piece of work, which ends at `deadline`. Failures are values: no method throws. */
  open(payer: Payer, deadline: UnixMs): Chain
  /** Earliest time for a tick that is not due by the interval. */
  tickRoomAt(): UnixMs
  /** Names the configured nodes: another text is another set of nodes. */
  readonly nodes: string
  /** When a node last became well again after at least five minutes of trouble. Null if none did, or nothing was asked yet. */
  recoveredAt(): UnixMs | null
  /** What an operator is shown of the nodes, in their order. */
  reports(): Promise<readonly NodeReport[]>
}

/** The chain through nodes, none of which is trusted. */
export function createTron(options: PoolOptions): Tron {
  const pool = createPool(options)
  return {
    open: (payer, deadline) => chainOf(createSession(pool, payer, deadline)),
    tickRoomAt: pool.allowance.tickRoomAt,
    recoveredAt: () => pool.recoveredAt,
    reports: () => reportNodes(pool),
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
    balances: (addresses, asset) => readBalances(session, addresses, asset),
    holdings: (address, assets) => readHoldings(session, address, assets),
    holder: (addresses, asset) => findHolder(session, addresses, asset),
    activated: (address) => isActivated(session, address),
    broadcast: (transaction, turn) => broadcastTransaction(session, transaction, turn),
    decimals: (contract) => readDecimals(session, contract),
    noteFalse: (number, transfers) => noteFalse(session, number, transfers),
  }
}

function noteFalse({ pool }: Session, number: number, transfers: number): void {
  const node = pool.nodes[number - 1]
  if (node === undefined) return // it is not configured any more
  const now = pool.clock.now()
  const { falseSeen } = node
  const isRecent = falseSeen !== null && isAhead(falseSeen.since + falseSeenMs, falseSeenMs, now)
  const count = (isRecent ? falseSeen.count : 0) + transfers
  node.falseSeen = { count, since: isRecent ? falseSeen.since : now }
  if (count > falseSeenMax) {
    node.falseSeen = null
    demote(node, pool.clock, distrustedMs)
    const why = `${count} transfers that it showed above the final blocks are not in them`
    pool.report('node-lies', { node: number }, { ...fieldsOf(node), why })
  }
  pool.remember()
}
