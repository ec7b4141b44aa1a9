import type { Address } from '../worker/chain/address.ts'
import type { Chain } from '../worker/chain/chain.ts'
import type { UnixMs } from '../worker/common/time.ts'
import type { ChainConfig } from '../worker/config/chain.ts'
import type { Clock } from '../worker/platform/clock.ts'
import { createLogger } from '../worker/platform/logger.ts'
import { findHolder, isActivated } from '../worker/tron/accounts.ts'
import { createSession, type Pool, type Session, type TronNode } from '../worker/tron/node.ts'
import { createPool } from '../worker/tron/pool.ts'

/** What a command uses of this machine. */
export interface CommandPlatform {
  readonly clock: Clock
  readonly fetch: typeof fetch
}

const scanEverySeconds = 60

/** Nodes as the service itself has them, of which its quorum must agree: for the life of a command, with nothing stored. */
export function openPool(
  { chainId, currencies, nodes, quorum }: Pick<ChainConfig, 'chainId' | 'currencies' | 'nodes' | 'quorum'>,
  { clock, fetch }: CommandPlatform,
): Pool {
  return createPool({
    nodes,
    quorum,
    chainId,
    tokens: new Set<Address>(currencies.byContract.keys()),
    payer: null,
    clock,
    logger: createLogger(() => {}),
    fetch,
    host: { load: async () => undefined, save: () => {} },
    scanEverySeconds,
    report: () => {},
    reportEnd: async () => true,
  })
}

/** A piece of work that may take `ms` from now. */
export function sessionOf(pool: Pool, ms: number): Session {
  return createSession(pool, { kind: 'tick' }, (pool.clock.now() + ms) as UnixMs) // safe: a later time
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
