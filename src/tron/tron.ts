import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Address } from '../chain/address.ts'
import type { Chain, Payer } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { findHolder, isActivated, readBalances, readDecimals } from './accounts.ts'
import { createAllowance } from './allowance.ts'
import { readFinalBlocks, readNodeTail } from './blocks.ts'
import { readFinalizedHead } from './finalized-head.ts'
import { createNode, demote, type NodeEndpoint, type Pool, type Report, type Session } from './node.ts'
import { locateTransaction, readFinalTransaction, readReceiptTransfers } from './transactions.ts'
import { createNetwork, type Fetch } from './transport.ts'

/** What the access to nodes is made of. */
export interface TronOptions {
  /** In order of preference. A node's number is its place from 1. */
  readonly nodes: readonly NodeEndpoint[]
  readonly quorum: number
  /** A `0x` quantity. A node with another chain id is never used. */
  readonly chainId: string
  /** Contracts of the tokens that count. */
  readonly tokens: ReadonlySet<Address>
  readonly clock: Clock
  readonly logger: Logger
  readonly fetch: Fetch
  /** Keeps the counts of requests. */
  readonly host: Pick<ObjectHost, 'load' | 'save'>
  readonly scanEverySeconds: number
  readonly report: Report
}

/** The access to nodes, for the life of an object: their health, and the requests that they allow. */
export interface Tron {
  /** The chain for one piece of work, which ends at `deadline`. Failures are values: no method throws. */
  open(payer: Payer, deadline: UnixMs): Chain
  /** Earliest time for a tick that is not due by the interval. */
  tickRoomAt(): UnixMs
  /** Names the configured nodes: another text is another set of nodes. */
  readonly nodes: string
  /** When a node was last well again after minutes of trouble; 0 where none was. */
  recoveredAt(): UnixMs
  /** A piece of work has ended: the counts of requests are stored. */
  settle(): void
}

/** The chain through nodes, none of which is trusted. */
export function createTron(options: TronOptions): Tron {
  const { nodes, quorum, clock, host, scanEverySeconds } = options
  const limited = nodes.map(({ rpc, api, perSecond, perDay }) => {
    return { id: bytesToHex(sha256(utf8ToBytes(`${rpc}\n${api}`))).slice(0, 16), perSecond, perDay }
  })
  const allowance = createAllowance(limited, quorum, scanEverySeconds, clock, host)
  const pool: Pool = {
    ...options,
    nodes: nodes.map((endpoint, i) => createNode(endpoint, i + 1)),
    chainId: BigInt(options.chainId),
    network: createNetwork(options.fetch, clock),
    allowance,
    lastId: 0,
  }
  return {
    open(payer, deadline) {
      return chainOf({ pool, payer, deadline, sent: new Map() })
    },
    tickRoomAt: allowance.tickRoomAt,
    settle: allowance.settle,
    nodes: limited.map(({ id }) => id).join(' '),
    recoveredAt: () => 0 as UnixMs,
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
  demote(node, pool.clock)
  pool.report('node-lies', { node: number }, { node: number, why })
}
