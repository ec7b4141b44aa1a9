import { deriveAddress } from './addresses/derive.ts'
import { createRecentBalances } from './addresses/recent-balances.ts'
import type { Chain } from './chain/chain.ts'
import type { UnixMs } from './common/time.ts'
import { createSettingsCheck } from './config/check-settings.ts'
import { type Config, parseConfig } from './config/config.ts'
import type { Bindings } from './config/schemas.ts'
import { createAddressFilter } from './d1/address-filter.ts'
import { createAlarmStore } from './d1/alarm-store.ts'
import type { Database } from './d1/database.ts'
import { createSessions } from './d1/sessions.ts'
import { createStoredSettings } from './d1/stored-settings.ts'
import { createStores } from './d1/stores.ts'
import type { StoredEvent } from './events/event.ts'
import { eventItem } from './events/event-item.ts'
import { type App, createApp, createUnconfiguredApp } from './http/app.ts'
import { jsonAmount } from './http/envelope.ts'
import { settingsOf } from './ledger/stored-setting.ts'
import { type Alarms, createAlarms } from './platform/alarms.ts'
import type { Clock } from './platform/clock.ts'
import * as limits from './platform/limits.ts'
import type { Logger } from './platform/logger.ts'
import { allCallers, isWithin } from './platform/rate-limits.ts'
import { createUsage, metered, type Usage, usageFields } from './platform/usage.ts'
import { createLedgerRpc, createUnconfiguredLedgerRpc } from './rpc/ledger.ts'
import type { LedgerMethods } from './rpc/ledger-methods.ts'
import { createSharedScanState } from './scan/check-now.ts'
import { runMinute, ticksPerMinute } from './scan/minute.ts'
import { runTick } from './scan/tick.ts'
import type { RouteChains, Services, Settings, WriteParts } from './services.ts'
import { createTronClient } from './tron/client.ts'
import { createNodeHealthStore } from './tron/nodes/health.ts'
import type { RequestLimits } from './tron/transport/http.ts'
import { deliverToEndpoint, type StartEndpoint, startDeliveries } from './webhooks/deliveries.ts'

/** What the service takes from the platform. */
export interface Platform {
  readonly clock: Clock
  readonly logger: Logger
  readonly fetch: typeof fetch
  /** A unique, unguessable name. */
  readonly uniqueName: () => string
}

/** The entry points of the service. */
export interface Service {
  fetch(request: Request, bindings: Bindings): Promise<Response>
  /** One tick (`scan/tick.ts`). The next tick tries again what failed. */
  tick(bindings: Bindings): Promise<void>
  /** One invocation of the cron: the ticks of a minute, and `startEndpoint` for the deliveries to each endpoint. */
  minute(bindings: Bindings, startEndpoint: StartEndpoint): Promise<void>
  /** An invocation that `startEndpoint` starts: the deliveries to one endpoint. */
  deliver(bindings: Bindings, ...task: Parameters<StartEndpoint>): Promise<void>
  /** The methods for other Workers. */
  ledger(bindings: Bindings): LedgerMethods
}

/** The service for one set of bindings. It is kept for the life of the isolate and keeps nothing of a request. */
interface BoundService {
  readonly app: App
  readonly tick: () => Promise<void>
  readonly minute: (startEndpoint: StartEndpoint) => Promise<void>
  readonly deliver: StartEndpoint
  readonly ledger: LedgerMethods
}

/**
 * The whole service. What an isolate keeps between requests (the parsed configuration, the health of the nodes, verified
 * tokens) is in this object. All of it can be lost at any time without harm.
 */
export function createService(platform: Platform): Service {
  const bound = new WeakMap<Bindings, BoundService>()
  const bind = (bindings: Bindings): BoundService => {
    const known = bound.get(bindings)
    if (known !== undefined) return known
    const config = parseConfig(bindings)
    const service = config.ok ? configured(platform, config.value) : unconfigured(platform, config.error)
    bound.set(bindings, service)
    return service
  }
  return {
    fetch: (request, bindings) => bind(bindings).app.fetch(request),
    tick: (bindings) => bind(bindings).tick(),
    minute: (bindings, startEndpoint) => bind(bindings).minute(startEndpoint),
    deliver: (bindings, task, nextEvents) => bind(bindings).deliver(task, nextEvents),
    ledger: (bindings) => bind(bindings).ledger,
  }
}

function configured(platform: Platform, config: Config): BoundService {
  const { clock, logger } = platform
  const alarms = createAlarms({ store: createAlarmStore(config.db), clock, logger })
  const openChain = chainFactory(platform, config, alarms)
  // Ticks are not counted: callers cannot take from them.
  const mayRequest = () => isWithin(config.rateLimits, 'allNodes', allCallers, logger)
  const services = createServices(platform, config, alarms, (usage) => ({
    chain: openChain(usage, limits.routeReadMs, limits.routeRequestsMax, { mayRequest }),
    proofChain: openChain(usage, limits.routeMs, limits.routeProofsMax, { mayRequest }),
  }))
  const hasStoredMeaning = settingsCheck(platform, config, alarms)
  const app = createApp(platform, { ...config, hasStoredMeaning }, services)
  const watch = { hasStoredMeaning, startWatch: { failingSince: null }, eventsKeepDays: config.eventsKeepDays }
  const writeBody = (event: StoredEvent) => JSON.stringify(eventItem(event, config.currencies, jsonAmount))
  const forQuorum = (forTwo: number) => Math.ceil((forTwo / 2) * Math.max(config.quorum, 2))
  const proofsMax = Math.floor(limits.minuteProofsMax / ticksPerMinute(config.scanEverySeconds))
  const tick = async (isLast: boolean) => {
    const usage = createUsage()
    const startedAt = clock.now()
    try {
      const parts = services.primary({ usage, bookmark: null, bookmarkAfter: null })
      const chains = {
        chain: openChain(usage, limits.tickReadMs, forQuorum(limits.tickRequestsMax)),
        rescanChain: openChain(usage, limits.tickMs, forQuorum(limits.tickRescansMax)),
        proofChain: openChain(usage, limits.tickMs, proofsMax),
      }
      const openReconciliationChain = () => openChain(usage, limits.reconciliationMs, limits.reconciliationRequestsMax)
      await runTick({ ...parts, ...watch, ...chains, openReconciliationChain, isLast })
    } finally {
      logger.info('tick', { durationMs: clock.now() - startedAt, ...usageFields(usage) })
    }
  }
  const openPrimary = () => services.primary({ usage: createUsage(), bookmark: null, bookmarkAfter: null })
  const minute = async (startEndpoint: StartEndpoint) => {
    const deliveries = startDeliveries({
      ...openPrimary(),
      endpoints: config.webhooks,
      startEndpoint,
      hasStoredMeaning,
    })
    try {
      await runMinute({ clock, everySeconds: config.scanEverySeconds, tick, afterTick: deliveries.notify })
    } finally {
      deliveries.end()
      await deliveries.finished
    }
  }
  const deliver: StartEndpoint = async (task, nextEvents) => {
    const endpoint = config.webhooks.find(({ number }) => number === task.number)
    if (endpoint === undefined) return
    await deliverToEndpoint({ ...openPrimary(), fetch: platform.fetch, writeBody }, endpoint, task, nextEvents)
  }
  return { app, tick: () => tick(true), minute, deliver, ledger: createLedgerRpc({ services, hasStoredMeaning }) }
}

/** Compares the configuration with what the stored data means. */
function settingsCheck({ clock }: Platform, { db, chainId, extendedPublicKey, currencies }: Config, alarms: Alarms) {
  return createSettingsCheck({
    storedSettings: createStoredSettings(db),
    settings: settingsOf(chainId, deriveAddress(extendedPublicKey, 0), currencies),
    clock,
    alarms,
  })
}

function createServices(
  platform: Platform,
  config: Config,
  alarms: Alarms,
  openChains: (usage: Usage) => RouteChains,
): Services {
  const { clock, logger, uniqueName } = platform
  const sessions = createSessions(config.db, { clock, logger })
  const settings: Settings = {
    clock,
    logger,
    alarms,
    currencies: config.currencies,
    operators: config.operators,
    startBlock: config.startBlock,
    firstIndex: config.firstIndex,
    keyUse: { wasUsed: false, withoutAccount: 0 },
    addressAt: (index) => deriveAddress(config.extendedPublicKey, index),
    shared: createSharedScanState(),
    recentBalances: createRecentBalances(),
    sharedHealth: { newest: null, readAt: 0 },
  }
  const filter = createAddressFilter()
  const parts = (db: Database): WriteParts => ({
    ...settings,
    ...createStores(db, (key) => logger.alarm('deposit-too-large', { ...key }), config.firstIndex ?? 0, filter),
    lease: uniqueName(),
  })
  return {
    settings,
    read: (invocation, work) => sessions.reading(invocation, (db) => work(parts(db))),
    write: (invocation, work) => sessions.writing(invocation, (db) => work(parts(db))),
    primary: ({ usage }) => parts(sessions.primary(usage)),
    chains: ({ usage }) => openChains(usage),
  }
}

/** Opens the nodes for one invocation, within `ms` from then on and `requestsMax` requests. */
function chainFactory({ clock, logger, fetch }: Platform, config: Config, alarms: Alarms) {
  const health = createNodeHealthStore()
  const { nodes, quorum, chainId, currencies } = config
  const tokens = new Set(currencies.byContract.keys())
  return (usage: Usage, ms: number, requestsMax: number, shared: Pick<RequestLimits, 'mayRequest'> = {}): Chain =>
    createTronClient({
      ...shared,
      nodes,
      quorum,
      chainId,
      tokens,
      health,
      clock,
      logger,
      alarms,
      fetch: (url, init) => metered(usage.node, clock, 1, () => fetch(url, init)),
      deadline: (clock.now() + ms) as UnixMs,
      requestsMax,
    })
}

function unconfigured(platform: Platform, faults: readonly string[]): BoundService {
  // Once in an isolate: the database that alarms are shared by is itself a part of the configuration that is not valid.
  for (const fault of faults) platform.logger.alarm('misconfigured', { fault })
  const tick = () => Promise.resolve()
  return {
    app: createUnconfiguredApp(platform),
    tick,
    minute: tick,
    deliver: tick,
    ledger: createUnconfiguredLedgerRpc(),
  }
}
