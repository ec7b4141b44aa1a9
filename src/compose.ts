import { createAddressBook } from './adapters/d1/addresses.ts'
import { createLedgerReader } from './adapters/d1/reader.ts'
import { createReconciliations } from './adapters/d1/reconciliation.ts'
import { createLedgerWriter } from './adapters/d1/writer.ts'
import { createNodeMemory } from './adapters/tron/memory.ts'
import { createNodePool } from './adapters/tron/pool.ts'
import { generateAddress } from './app/generate-address.ts'
import { listFlows } from './app/list-flows.ts'
import { listWallets } from './app/list-wallets.ts'
import { readBalance } from './app/read-balance.ts'
import { readHealth } from './app/read-health.ts'
import { createScanWatch, recharge } from './app/recharge.ts'
import { rechargeTransaction } from './app/recharge-transaction.ts'
import { reconcile } from './app/reconcile.ts'
import { type ScanParts, scan } from './app/scan.ts'
import { ensureStarted } from './app/start-scan.ts'
import { type Config, parseConfig } from './config.ts'
import { deriveAddress } from './domain/derive.ts'
import { routeMs, routeRequestsMax, tickMs, tickRequestsMax } from './domain/limits.ts'
import type { UnixMs } from './domain/time.ts'
import { type App, createApp, createUnconfiguredApp } from './http/app.ts'
import { createAuth } from './http/auth.ts'
import { createAuthMemory } from './http/auth-memory.ts'
import type { Chain } from './ports/chain.ts'
import type { Clock } from './ports/clock.ts'
import type { Log } from './ports/log.ts'

/** Bindings and variables, as the platform hands them over: unknown until `parseConfig` has read them. */
export type Bindings = Readonly<Record<string, unknown>>

/** What the service takes from the machine. */
export interface System {
  readonly clock: Clock
  readonly log: Log
  readonly fetch: typeof fetch
  /** A name that nobody else has or can guess. */
  readonly uniqueName: () => string
}

/** The two ways into the service. */
export interface Service {
  fetch(request: Request, bindings: Bindings): Promise<Response>
  /**
   * One tick: starts the scan where it never started, scans, and compares a slice of addresses with the chain where the
   * scan ended caught up. What fails is tried again by the next tick.
   */
  tick(bindings: Bindings): Promise<void>
}

/** A service set up for one set of bindings: kept for the isolate's life, it holds nothing of any request. */
interface Ready {
  readonly app: App
  readonly tick: () => Promise<void>
}

/**
 * The whole service. What an isolate remembers between requests (the parsed configuration, how each node behaved,
 * checked tokens) lives in this one object; everything in it can be lost at any time without harm.
 */
export function createService(system: System): Service {
  const known = new WeakMap<Bindings, Ready>()
  const prepare = (bindings: Bindings): Ready => {
    const before = known.get(bindings)
    if (before !== undefined) return before
    const config = parseConfig(bindings)
    const ready = config.ok ? configured(system, config.value) : unconfigured(system, config.error)
    known.set(bindings, ready)
    return ready
  }
  return {
    fetch: (request, bindings) => prepare(bindings).app.fetch(request),
    tick: (bindings) => prepare(bindings).tick(),
  }
}

function configured(system: System, config: Config): Ready {
  const { clock, log } = system
  const { currencies, startBlock } = config
  const nodeMemory = createNodeMemory()
  const watch = createScanWatch()
  const reader = createLedgerReader(config.db)
  const writer = createLedgerWriter(config.db)
  const addresses = createAddressBook(config.db)
  const reconciliations = createReconciliations(config.db)
  const derive = (index: number) => deriveAddress(config.depositKey, index)
  const facts = { hasApi: config.nodes.some((node) => node.api !== null), quorum: config.quorum }

  const openChain = (ms: number, requestsMax: number): Chain =>
    createNodePool({
      nodes: config.nodes,
      quorum: config.quorum,
      chainId: config.chainId,
      tokens: new Set(currencies.byContract.keys()),
      memory: nodeMemory,
      clock,
      fetch: system.fetch,
      log,
      deadline: (clock.now() + ms) as UnixMs,
      requestsMax,
    })
  const scanParts = (chain: Chain): ScanParts => ({
    chain,
    writer,
    addresses,
    currencies,
    clock,
    log,
    lease: system.uniqueName(),
  })
  const routeChain = () => openChain(routeMs, routeRequestsMax)
  const start = (chain: Chain) => ({ reader, starter: writer, chain, clock, startBlock })

  const app = createApp({
    clock,
    log,
    requestId: system.uniqueName,
    observe: ({ requestId, route, method, status, durationMs }) =>
      log.info('request', { requestId, route, method, status, durationMs }),
    authenticate: createAuth(config.auth, { memory: createAuthMemory(), clock, log, fetch: system.fetch }),
    currencies,
    generateAddress: (uid, wanted) => generateAddress({ ...start(routeChain()), addresses, derive }, uid, wanted),
    readBalance: (uid, question) => readBalance({ addresses, chain: routeChain() }, uid, question),
    recharge: (uid) => recharge({ ...scanParts(routeChain()), reader, watch }, uid),
    rechargeTransaction: (uid, txid) =>
      rechargeTransaction({ ...scanParts(routeChain()), reader, addresses }, uid, txid),
    listWallets: (uid) => listWallets({ reader, currencies }, uid),
    listFlows: (uid, filter, page) => listFlows({ reader }, uid, filter, page),
    readHealth: () => readHealth({ reader, clock, facts }),
  })
  const tick = async () => {
    const chain = openChain(tickMs, tickRequestsMax)
    const started = await ensureStarted(start(chain))
    if (!started.ok) {
      log.warn('scan-not-started', { why: started.error.kind })
      return
    }
    const scanned = await scan(scanParts(chain), { withTail: false })
    const caughtUp = scanned.kind === 'scanned' && scanned.trouble === null
    if (caughtUp) await reconcile({ chain, reader, store: reconciliations, currencies, clock, log })
  }
  return { app, tick }
}

function unconfigured(system: System, faults: readonly string[]): Ready {
  const { clock, log } = system
  const report = () => {
    for (const fault of faults) log.alarm('misconfigured', { fault })
  }
  report()
  const app = createUnconfiguredApp({
    clock,
    log,
    requestId: system.uniqueName,
    observe: ({ requestId, route, method, status, durationMs }) =>
      log.info('request', { requestId, route, method, status, durationMs }),
  })
  return { app, tick: () => Promise.resolve(report()) }
}
