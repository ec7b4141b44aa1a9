import type { Address } from '../worker/chain/address.ts'
import type { Chain } from '../worker/chain/chain.ts'
import type { UnixMs } from '../worker/common/time.ts'
import type { ChainConfig } from '../worker/config/chain.ts'
import type { Clock } from '../worker/platform/clock.ts'
import { createLogger } from '../worker/platform/logger.ts'
import { findHolder, isActivated } from '../worker/tron/accounts.ts'
import { createSession, type Pool, type Session, type TronNode } from '../worker/tron/node.ts'
import { createPool } from '../worker/tron/pool.ts'

/** The clock and the network of this machine, or those of a test. */
export interface CommandPlatform {
  readonly clock: Clock
  readonly fetch: typeof fetch
}

const scanEverySeconds = 60

/** The part of a configuration by which nodes are asked. Of the currencies, only the contracts. */
export interface PooledChain extends Pick<ChainConfig, 'chainId' | 'nodes' | 'quorum'> {
  readonly currencies: { readonly byContract: ReadonlyMap<Address, unknown> }
}

/**
 * Opens the configured nodes as the service does, with the configured quorum. What a command learns
 * about the nodes is not stored.
 */
export function openPool({ chainId, currencies, nodes, quorum }: PooledChain, { clock, fetch }: CommandPlatform): Pool {
  return createPool({
    nodes,
    quorum,
    chainId,
    tokens: new Set<Address>(currencies.byContract.keys()),
    payoutAddresses: new Set(),
    clock,
    logger: createLogger(() => {}),
    fetch,
    host: { load: async () => undefined, save: () => {} },
    scanEverySeconds,
    raiseAlarm: () => {},
  })
}

/** A session in which all requests together may take `ms` from now. */
export function sessionOf(pool: Pool, ms: number): Session {
  // safe: a time plus milliseconds is a time
  return createSession(pool, { kind: 'tick' }, (pool.clock.now() + ms) as UnixMs)
}

/** The questions to the nodes that `checkKeyUse` asks. */
export function readUse(session: Session): Pick<Chain, 'holder' | 'activated'> {
  return {
    holder: (addresses, asset) => findHolder(session, addresses, asset),
    activated: (address) => isActivated(session, address),
  }
}

/** A session with the same deadline that asks only this node, and whose quorum is 1. */
export function atNode(session: Session, node: TronNode): Session {
  return { ...session, pool: { ...session.pool, nodes: [node], quorum: 1 } }
}
