import type { Chain, Payer } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import { findHolder, isActivated, readBalances, readDecimals } from './accounts.ts'
import { readFinalBlocks, readNodeTail } from './blocks.ts'
import { readFinalizedHead } from './finalized-head.ts'
import { readInternalTransfers } from './internal.ts'
import { distrustedMs } from './limits.ts'
import { createSession, demote, type Session } from './node.ts'
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
}

/** The chain through nodes, none of which is trusted. */
export function createTron(options: PoolOptions): Tron {
  const pool = createPool(options)
  return {
    open: (payer, deadline) => chainOf(createSession(pool, payer, deadline)),
    tickRoomAt: pool.allowance.tickRoomAt,
    recoveredAt: () => pool.recoveredAt,
    nodes: pool.ids.join(' '),
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
    holder: (addresses, asset) => findHolder(session, addresses, asset),
    activated: (address) => isActivated(session, address),
    decimals: (contract) => readDecimals(session, contract),
    distrust: (number, why) => distrust(session, number, why),
  }
}

function distrust({ pool }: Session, number: number, why: string): void {
  const node = pool.nodes[number - 1]
  if (node === undefined) return // it is not configured any more
  demote(node, pool.clock, distrustedMs)
  pool.remember()
  pool.report('node-lies', { node: number }, { node: number, why })
}
