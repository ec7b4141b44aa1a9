import type { Address } from '../chain/address.ts'
import type { UnixMs } from '../common/time.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { createAllowance } from './allowance.ts'
import { createNode, type NodeEndpoint, type NodeMemory, type Pool, type RaiseAlarm } from './node.ts'
import { createNetwork, type Fetch } from './transport.ts'
import { createTurns } from './turns.ts'

export interface PoolOptions {
  /** In order of preference. The number of a node is its index plus 1. */
  readonly nodes: readonly NodeEndpoint[]
  readonly quorum: number
  /** A `0x` quantity. A node with another chain id is never used. */
  readonly chainId: string
  /** The contracts of configured tokens. */
  readonly tokens: ReadonlySet<Address>
  /** In transactions of these addresses the transfers of all tokens are read. */
  readonly payoutAddresses: ReadonlySet<Address>
  readonly clock: Clock
  readonly logger: Logger
  readonly fetch: Fetch
  /** Keeps the allowances and the memory of the nodes. */
  readonly host: Pick<ObjectHost, 'load' | 'save'>
  readonly scanEverySeconds: number
  readonly raiseAlarm: RaiseAlarm
}

/**
 * Makes the nodes, and the state that all work with them shares, for the life of a Durable Object.
 * Use the nodes only once `ready` has resolved.
 */
export function createPool(options: PoolOptions): Pool {
  const { quorum, clock, host, scanEverySeconds, chainId, tokens, payoutAddresses, logger, raiseAlarm } = options
  const allowance = createAllowance(options.nodes, quorum, scanEverySeconds, clock, host)
  const nodes = options.nodes.map((endpoint, i) => createNode(endpoint, i + 1))
  const pool: Pool = {
    nodes,
    quorum,
    chainId: BigInt(chainId),
    tokens,
    payoutAddresses,
    network: createNetwork(options.fetch, clock),
    clock,
    logger,
    allowance,
    turns: createTurns(clock, allowance),
    raiseAlarm,
    ready: Promise.resolve(),
    remember: () => {},
    recoveredAt: null,
    stuck: null,
    lastId: 0,
    sessions: 0,
  }
  const memory = createMemory(pool, host)
  return Object.assign(pool, { remember: memory.save, ready: Promise.all([allowance.ready, memory.load()]) })
}

/** The memory of the nodes as it is stored, in the order of their numbers. */
interface StoredNodes {
  readonly recoveredAt: UnixMs | null
  readonly stuck: Pool['stuck']
  readonly nodes: readonly ({ readonly id: string } & NodeMemory)[]
}

const storageKey = 'nodes'

/** Makes `load` and `save` for the memory of the nodes. An unchanged memory is not stored again. */
function createMemory(pool: Pool, host: Pick<ObjectHost, 'load' | 'save'>) {
  let savedText = ''
  const toStored = (): StoredNodes => ({
    recoveredAt: pool.recoveredAt,
    stuck: pool.stuck,
    nodes: pool.nodes.map(({ endpoint: { id }, number, telemetry, probing, ...memory }) => ({ id, ...memory })),
  })
  return {
    async load() {
      const stored = await host.load<StoredNodes>(storageKey)
      if (stored === undefined) return
      pool.recoveredAt = stored.recoveredAt
      pool.stuck = stored.stuck ?? null
      for (const { id, ...memory } of stored.nodes) {
        const node = pool.nodes.find(({ endpoint }) => endpoint.id === id)
        if (node !== undefined) {
          const { rpc, api } = node // the stored memory may be of an older version, with fewer members
          Object.assign(node, memory, { rpc: { ...rpc, ...memory.rpc }, api: { ...api, ...memory.api } })
        }
      }
      savedText = JSON.stringify(toStored())
    },
    save() {
      const stored = toStored()
      const text = JSON.stringify(stored)
      if (text === savedText) return
      savedText = text
      host.save(storageKey, stored)
    },
  }
}
