import type { AddressBook } from '../../src/addresses/address-book.ts'
import { issueAddress } from '../../src/addresses/issue-address.ts'
import type { BlockHeight, Txid } from '../../src/chain/block.ts'
import type { Chain } from '../../src/chain/chain.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createAddressBook } from '../../src/d1/address-book.ts'
import type { Database } from '../../src/d1/database.ts'
import { createLedgerReader } from '../../src/d1/ledger-reader.ts'
import { createLedgerWriter } from '../../src/d1/ledger-writer.ts'
import { meterDatabase } from '../../src/d1/metered-database.ts'
import type { Uid } from '../../src/ledger/entry.ts'
import type { LedgerReader, LedgerWriter } from '../../src/ledger/ledger-store.ts'
import { routeMs, routeRequestsMax, tickMs, tickRequestsMax } from '../../src/platform/limits.ts'
import type { Logger } from '../../src/platform/logger.ts'
import { createUsage } from '../../src/platform/usage.ts'
import { checkNow, createSharedScanState, type SharedScanState } from '../../src/scan/check-now.ts'
import { checkTransaction } from '../../src/scan/check-transaction.ts'
import { type ScanParts, scan } from '../../src/scan/scan.ts'
import { ensureScanStarted, type ScanStartParts } from '../../src/scan/start.ts'
import {
  createNodeMemory,
  createTronClient,
  type Fetch,
  type NodeMemory,
  type TronClientOptions,
} from '../../src/tron/client.ts'
import type { Invocation } from './invocation.ts'
import type { SimNode } from './nodes.ts'
import { currencies } from './scenario.ts'
import { depositAddress, type World } from './world.ts'

/** A deliberate mistake: how the parts are changed before they meet. */
export interface Defect {
  readonly database?: (db: D1Database) => D1Database
  readonly chain?: (chain: Chain, world: World) => Chain
  readonly writer?: (writer: LedgerWriter, db: Database) => LedgerWriter
  readonly addresses?: (book: AddressBook) => AddressBook
  /** The reader that an address is issued with. */
  readonly starting?: (reader: LedgerReader) => LedgerReader
  readonly fetch?: (fetch: Fetch) => Fetch
  readonly pool?: (parts: TronClientOptions) => TronClientOptions
}

/** What the invocations of one isolate share: it can be lost at any time. */
export interface Isolate {
  readonly memory: NodeMemory
  readonly watch: SharedScanState
  /** How far its machine's clock is ahead. */
  readonly skewMs: number
}

/** An isolate that knows nothing yet. */
export function createIsolate(skewMs: number): Isolate {
  return { memory: createNodeMemory(), watch: createSharedScanState(), skewMs }
}

/** What one invocation of the service is made of. */
export interface Wiring {
  readonly world: World
  readonly invocation: Invocation
  readonly nodes: readonly SimNode[]
  readonly db: D1Database
  readonly isolate: Isolate
  readonly fetch: Fetch
  readonly defect: Defect
}

/** The service's use cases in one invocation: each may be called once. */
export interface Service {
  tick(): Promise<void>
  generate(uid: Uid, fresh: boolean): ReturnType<typeof issueAddress>
  recharge(uid: Uid): ReturnType<typeof checkNow>
  question(uid: Uid, txid: Txid): ReturnType<typeof checkTransaction>
}

/** The real parts, put together as `src/compose.ts` does it. */
export function createService({ world, invocation, nodes, isolate, fetch, defect, ...wiring }: Wiring): Service {
  const { clock } = invocation
  const usage = createUsage()
  const db = meterDatabase(defect.database?.(wiring.db) ?? wiring.db, usage, clock)
  const log = createLog(world, invocation)
  const reader = createLedgerReader(db)
  const real = createLedgerWriter(db)
  const writer = defect.writer?.(real, db) ?? real
  const book = createAddressBook(db)
  const addresses = defect.addresses?.(book) ?? book

  const openChain = (ms: number, requestsMax: number): Chain => {
    const parts: TronClientOptions = {
      nodes: nodes.map(({ rpc, api }) => ({ rpc, api, key: null })),
      quorum: world.scenario.quorum,
      chainId: world.chain.chainId,
      tokens: new Set(currencies.byContract.keys()),
      health: isolate.memory,
      clock,
      fetch: defect.fetch?.(fetch) ?? fetch,
      log,
      deadline: (clock.now() + ms) as UnixMs, // milliseconds since 1970
      requestsMax,
    }
    const chain = createTronClient(defect.pool?.(parts) ?? parts)
    return defect.chain?.(chain, world) ?? chain
  }
  const scanParts = (chain: Chain): ScanParts => ({
    chain,
    writer,
    addresses,
    currencies,
    clock,
    log,
    lease: invocation.name,
    statements: () => usage.database.calls,
  })
  const start = (chain: Chain): ScanStartParts => ({
    reader,
    starter: writer,
    chain,
    clock,
    startBlock: world.startHeight() as BlockHeight | null, // whole and positive
  })
  const routeChain = () => openChain(routeMs, routeRequestsMax)
  return {
    async tick() {
      const chain = openChain(tickMs, tickRequestsMax)
      const started = await ensureScanStarted(start(chain))
      if (started.ok) await scan(scanParts(chain), { withTail: false })
    },
    generate(uid, fresh) {
      const parts = start(routeChain())
      const starting = defect.starting?.(reader) ?? reader
      return issueAddress({ ...parts, reader: starting, addresses: book, derive: depositAddress }, uid, { fresh })
    },
    recharge: (uid) => checkNow({ ...scanParts(routeChain()), reader, shared: isolate.watch }, uid),
    question: (uid, txid) =>
      checkTransaction({ ...scanParts(routeChain()), reader, addresses: { ...book, ...addresses } }, uid, txid),
  }
}

function createLog(world: World, invocation: Invocation): Logger {
  const write = (level: string) => (name: string, fields: object) =>
    world.trace(() => `${invocation.name} ${level} ${name} ${JSON.stringify(fields)}`)
  return { info: write('info'), warn: write('warn'), error: write('error'), alarm: write('ALARM') }
}
