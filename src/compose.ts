import { deriveAddress } from './addresses/derive.ts'
import { issueAddress } from './addresses/issue-address.ts'
import { readChainBalance } from './addresses/read-balance.ts'
import type { Chain } from './chain/chain.ts'
import type { UnixMs } from './common/time.ts'
import { type Config, parseConfig } from './config/config.ts'
import { createAddressBook } from './d1/address-book.ts'
import type { Database } from './d1/database.ts'
import { createLedgerReader } from './d1/ledger-reader.ts'
import { createLedgerWriter } from './d1/ledger-writer.ts'
import { createReconciliationStore } from './d1/reconciliation-store.ts'
import { createSessions } from './d1/sessions.ts'
import { type App, createApp, createUnconfiguredApp } from './http/app.ts'
import { createAuthenticator } from './http/auth/authenticate.ts'
import { createTokenCache } from './http/auth/token-cache.ts'
import type { CompletedRequest, RequestContext } from './http/context.ts'
import { createRateLimiter } from './http/middleware/rate-limit.ts'
import { listFlows } from './ledger/list-flows.ts'
import { listWallets } from './ledger/list-wallets.ts'
import type { Clock } from './platform/clock.ts'
import { routeMs, routeRequestsMax, tickMs, tickRequestsMax } from './platform/limits.ts'
import type { LogFields, Logger } from './platform/logger.ts'
import type { Usage } from './platform/usage.ts'
import { createUsage, metered } from './platform/usage.ts'
import { reconcile } from './reconciliation/reconcile.ts'
import { checkNow, createSharedScanState } from './scan/check-now.ts'
import { checkTransaction } from './scan/check-transaction.ts'
import { readScanHealth } from './scan/health.ts'
import { type ScanParts, scan } from './scan/scan.ts'
import { ensureScanStarted, type ScanStartParts } from './scan/start.ts'
import { createTronClient } from './tron/client.ts'
import { createNodeHealthStore } from './tron/nodes/health.ts'

/** Bindings and variables, as the platform hands them over: unknown until `parseConfig` has read them. */
export type Bindings = Readonly<Record<string, unknown>>

/** What the service takes from the machine. */
export interface SystemParts {
  readonly clock: Clock
  readonly log: Logger
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
export function createService(system: SystemParts): Service {
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

function configured(system: SystemParts, config: Config): Ready {
  const { clock, log } = system
  const { currencies, startBlock } = config
  const nodeMemory = createNodeHealthStore()
  const watch = createSharedScanState()
  const sessions = createSessions(config.db, { clock, log })
  const derive = (index: number) => deriveAddress(config.depositKey, index)
  const facts = { hasApi: config.nodes.some((node) => node.api !== null), quorum: config.quorum }

  const openChain = (usage: Usage, ms: number, requestsMax: number): Chain =>
    createTronClient({
      nodes: config.nodes,
      quorum: config.quorum,
      chainId: config.chainId,
      tokens: new Set(currencies.byContract.keys()),
      health: nodeMemory,
      clock,
      fetch: (url, init) => metered(usage.node, clock, 1, () => system.fetch(url, init)),
      log,
      deadline: (clock.now() + ms) as UnixMs,
      requestsMax,
    })
  const writerOf = (db: Database) => createLedgerWriter(db, (key) => log.alarm('deposit-too-large', { ...key }))
  const scanParts = (chain: Chain, db: Database, usage: Usage): ScanParts => ({
    chain,
    writer: writerOf(db),
    addresses: createAddressBook(db),
    currencies,
    clock,
    log,
    lease: system.uniqueName(),
    statements: () => usage.database.calls,
  })
  const routeChain = ({ usage }: RequestContext) => openChain(usage, routeMs, routeRequestsMax)
  const startParts = (chain: Chain, db: Database): ScanStartParts => ({
    reader: createLedgerReader(db),
    starter: writerOf(db),
    chain,
    clock,
    startBlock,
  })

  const app = createApp({
    clock,
    log,
    requestId: system.uniqueName,
    createUsage,
    cors: config.cors,
    observe: observeWith(log),
    authenticate: createAuthenticator(config.auth, { memory: createTokenCache(), clock, log, fetch: system.fetch }),
    admit: createRateLimiter(config.rateLimits, log),
    currencies,
    generateAddress: (uid, wanted, visit) =>
      sessions.writing(visit, (db) => {
        const addresses = createAddressBook(db)
        return issueAddress({ ...startParts(routeChain(visit), db), addresses, derive }, uid, wanted)
      }),
    readBalance: (uid, question, visit) =>
      sessions.reading(visit, (db) =>
        readChainBalance({ addresses: createAddressBook(db), chain: routeChain(visit) }, uid, question),
      ),
    recharge: (uid, visit) =>
      sessions.writing(visit, (db) => {
        // Its calls share what they see of a running scan, but no session: they look at the primary, and only what is
        // told in the end is read in the call's own session, which starts there.
        const primary = sessions.primary(visit.usage)
        const { scanState } = createLedgerReader(primary)
        const reader = { ...createLedgerReader(db), scanState }
        return checkNow({ ...scanParts(routeChain(visit), primary, visit.usage), reader, shared: watch }, uid)
      }),
    rechargeTransaction: (uid, txid, visit) =>
      sessions.writing(visit, (db) => {
        const addresses = createAddressBook(db)
        const reader = createLedgerReader(db)
        return checkTransaction({ ...scanParts(routeChain(visit), db, visit.usage), reader, addresses }, uid, txid)
      }),
    listWallets: (uid, visit) =>
      sessions.reading(visit, (db) => listWallets({ reader: createLedgerReader(db), currencies }, uid)),
    listFlows: (uid, filter, page, visit) =>
      sessions.reading(visit, (db) => listFlows({ reader: createLedgerReader(db) }, uid, filter, page)),
    readHealth: (visit) => readScanHealth({ reader: createLedgerReader(sessions.primary(visit.usage)), clock, facts }),
  })
  const runTick = async (usage: Usage): Promise<void> => {
    const db = sessions.primary(usage)
    const chain = openChain(usage, tickMs, tickRequestsMax)
    const started = await ensureScanStarted(startParts(chain, db))
    if (!started.ok) {
      log.warn('scan-not-started', { why: started.error.kind })
      return
    }
    const scanned = await scan(scanParts(chain, db, usage), { withTail: false })
    const caughtUp = scanned.kind === 'scanned' && scanned.trouble === null
    if (!caughtUp) return
    const [reader, store] = [createLedgerReader(db), createReconciliationStore(db)]
    await reconcile({ chain, reader, store, currencies, clock, log })
  }
  const tick = async () => {
    const usage = createUsage()
    const startedAt = clock.now()
    try {
      await runTick(usage)
    } finally {
      log.info('tick', { durationMs: clock.now() - startedAt, ...costs(usage) })
    }
  }
  return { app, tick }
}

function unconfigured(system: SystemParts, faults: readonly string[]): Ready {
  const { clock, log } = system
  const report = () => {
    for (const fault of faults) log.alarm('misconfigured', { fault })
  }
  report()
  const app = createUnconfiguredApp({
    clock,
    log,
    requestId: system.uniqueName,
    createUsage,
    cors: null,
    observe: observeWith(log),
  })
  return { app, tick: () => Promise.resolve(report()) }
}

/** One line for each request. Nothing in it is what a caller wrote, but for a request id of plain letters. */
function observeWith(log: Logger) {
  return ({ visit, method, status }: CompletedRequest) => {
    const { requestId, route, durationMs, usage } = visit
    log.info('request', { requestId, route, method, status, durationMs, ...costs(usage) })
  }
}

function costs({ node, database, rowsRead }: Usage): LogFields {
  return { nodeCalls: node.calls, nodeMs: node.ms, databaseQueries: database.calls, databaseMs: database.ms, rowsRead }
}
