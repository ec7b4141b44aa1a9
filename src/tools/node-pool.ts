import type { Address } from '../chain/address.ts'
import type { Chain } from '../chain/chain.ts'
import { readBlocksMax } from '../chain/limits.ts'
import type { UnixMs } from '../common/time.ts'
import type { ChainConfig, NodeConfig } from '../config/chain.ts'
import type { Clock } from '../platform/clock.ts'
import { createLogger } from '../platform/logger.ts'
import { findHolder, isActivated } from '../tron/accounts.ts'
import { createAllowance } from '../tron/allowance.ts'
import { blockBytesAtFirst } from '../tron/limits.ts'
import { createNode, type Pool, type Session, type TronNode } from '../tron/node.ts'
import { createNetwork } from '../tron/transport.ts'

/** What a command uses of this machine. */
export interface CommandPlatform {
  readonly clock: Clock
  readonly fetch: typeof fetch
}

/** What all nodes of a deployment have in common. */
export type ChainOfNodes = Pick<ChainConfig, 'chainId'> & {
  readonly currencies: Pick<ChainConfig['currencies'], 'byContract'>
}

const scanEverySeconds = 60

/** Nodes as the service itself has them, of which `quorum` must agree: for the life of a command, with nothing stored. */
export function openPool(
  chain: ChainOfNodes,
  nodes: readonly NodeConfig[],
  quorum: number,
  platform: CommandPlatform,
): Pool {
  const { clock, fetch } = platform
  const counted = nodes.map(({ perSecond, perDay }, i) => ({ id: `${i}`, perSecond, perDay }))
  const host = { load: async () => undefined, save: () => {} }
  return {
    nodes: nodes.map((endpoint, i) => createNode(endpoint, i + 1)),
    quorum,
    chainId: BigInt(chain.chainId),
    tokens: new Set<Address>(chain.currencies.byContract.keys()),
    network: createNetwork(fetch, clock),
    clock,
    logger: createLogger(() => {}),
    allowance: createAllowance(counted, quorum, scanEverySeconds, clock, host),
    report: () => {},
    blockBytes: blockBytesAtFirst,
    blocksMax: readBlocksMax,
    lastId: 0,
  }
}

/** A piece of work that may take `ms` from now. */
export function sessionOf(pool: Pool, ms: number): Session {
  return { pool, payer: { kind: 'tick' }, deadline: (pool.clock.now() + ms) as UnixMs, sent: new Map() } // safe: a later time
}

/** What a check of a used key reads. */
export function readUse(session: Session): Pick<Chain, 'holder' | 'activated'> {
  return {
    holder: (addresses, asset) => findHolder(session, addresses, asset),
    activated: (address) => isActivated(session, address),
  }
}

/** The same piece of work at one node. */
export function atNode(session: Session, node: TronNode): Session {
  return { ...session, pool: { ...session.pool, nodes: [node], quorum: 1 } }
}
