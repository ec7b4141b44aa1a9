import { deriveAddress } from './addresses/derive.ts'
import { type Alarms, createAlarms } from './alarms/alarms.ts'
import { archiveKey, createArchive } from './archive/archive-object.ts'
import { openBucket } from './archive/bucket.ts'
import { createSealer } from './archive/seal.ts'
import { originOf } from './archive/write.ts'
import type { ChosenBy } from './cells/choose.ts'
import { cellOfObject, endpointOf, scannerOf, sharedName } from './cells/objects.ts'
import { type CellConfig, type Cells, parseCells } from './cells/parse-cells.ts'
import { shareReads } from './cells/share-reads.ts'
import { createSharedBlocks } from './cells/shared-blocks.ts'
import { formatBase58 } from './chain/address.ts'
import type { RequestQuota, SharedBlocks } from './chain/chain.ts'
import type { UnixMs } from './common/time.ts'
import { createSettingsCheck } from './config/check-settings.ts'
import { type StaticFiles, staticFilesIn } from './config/config.ts'
import type { Bindings } from './config/schemas.ts'
import type { WriteDatabase } from './d1/database.ts'
import { createSessions } from './d1/sessions.ts'
import { eventItem } from './events/events.ts'
import { type App, createApp, createUnconfiguredApp } from './http/app.ts'
import type { AppContext } from './ledger/context.ts'
import { meaningOf } from './ledger/stored-settings.ts'
import { type Clock, endsWithin } from './platform/clock.ts'
import type { Logger } from './platform/logger.ts'
import type { ObjectHost } from './platform/object-host.ts'
import { createSharedRuns, sharedReads } from './platform/shared-runs.ts'
import { createUsage, metered, usageFields } from './platform/usage.ts'
import { createRunningLog } from './platform/version.ts'
import { createLedgerRpc, createUnconfiguredLedgerRpc } from './rpc/ledger.ts'
import type { LedgerMethods } from './rpc/ledger-methods.ts'
import { type Intake, readIntake } from './scan/intake.ts'
import { createScanner, type ScannerObject } from './scan/scanner.ts'
import { type StoredHealth, selectHealth } from './scan/store/position.ts'
import { jsonAmount } from './schemas/written.ts'
import type { FollowUp, Services } from './services.ts'
import { createTron } from './tron/tron.ts'
import { wantsNotes } from './webhooks/deliver-note.ts'
import { createEndpoint, type EndpointObject } from './webhooks/endpoint-object.ts'
import type { WebhookEndpoint } from './webhooks/store/endpoint-state.ts'
import { selectWaiting } from './webhooks/watch-endpoints.ts'

/** The parts that the service takes from the platform. Tests and the simulation pass their own. */
export interface Platform {
  readonly clock: Clock
  readonly logger: Logger
  readonly fetch: typeof fetch
  /** Makes the id of a request that brings none: unique, and not to be guessed. */
  readonly uniqueName: () => string
  /** Lets work continue after the response of the request that began it. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

/**
 * An isolate tells the scanner at most once in this time that somebody was given an address, so
 * that requests for addresses cost few calls.
 */
const expectEveryMs = 60_000

/** Most requests that an isolate holds at a time. A further one is answered at once. */
const heldByIsolateMax = 2_000
/** The scanner's answer to a held request may come this much later than asked for. */
const answerMsMax = 3_000

/** The entry points of the Worker. */
export interface Service {
  fetch(request: Request, bindings: Bindings): Promise<Response>
  /** One run of the cron trigger: starts the scanner if it is not running. */
  scheduled(bindings: Bindings): Promise<void>
  /** The methods for other Workers of the account. */
  ledger(bindings: Bindings): LedgerMethods
}

/**
 * The Worker for one set of bindings. It lives as long as the isolate and keeps no state of a
 * request.
 */
interface BoundWorker {
  readonly app: App
  readonly wakeScanner: () => Promise<void>
  readonly ledger: LedgerMethods
}

/**
 * Makes the Worker, which reads the database, posts entries, and calls the scanner. Everything that
 * it keeps in the memory of an isolate may be lost at any time.
 */
export function createService(platform: Platform): Service {
  const bound = new WeakMap<Bindings, BoundWorker>()
  const bind = (bindings: Bindings): BoundWorker => {
    const known = bound.get(bindings)
    if (known !== undefined) return known
    const cells = parseCells(bindings)
    const worker = cells.ok
      ? configured(platform, cells.value)
      : unconfigured(platform, cells.error, staticFilesIn(bindings))
    bound.set(bindings, worker)
    return worker
  }
  return {
    fetch: (request, bindings) => bind(bindings).app.fetch(request),
    scheduled: (bindings) => bind(bindings).wakeScanner(),
    ledger: (bindings) => bind(bindings).ledger,
  }
}

function configured(platform: Platform, configs: Cells): BoundWorker {
  const [first, ...others] = configs
  const cellOf = (cell: CellConfig) => ({ ...cell, services: servicesOf(platform, cell, configs) })
  const cells = [cellOf(first), ...others.map(cellOf)] as const
  return {
    app: createApp(platform, first.config, cells),
    async wakeScanner() {
      for (const cell of cells) wakeArchive(platform, cell)
      const woken = await Promise.allSettled(cells.map(({ services }) => services.scanner.wake()))
      // only now, so that every scanner was called
      for (const one of woken) if (one.status === 'rejected') throw one.reason
    },
    ledger: createLedgerRpc(cells),
  }
}

/** Makes the parts of one cell: one database with its scanner, for a range of users. */
function servicesOf(platform: Platform, cell: CellConfig, ranges: readonly ChosenBy[]): Services {
  const { config } = cell
  const { settings, configMatchesData, differingSettings, sessions } = openDatabase(platform, cell)
  // A stub belongs to the invocation that made it, so each use makes a new one.
  const openScanner = () => config.scanners.getByName(scannerOf(cell))
  const isRestored = () => openScanner().isRestored()
  const writeContext = (db: WriteDatabase) => ({ ...settings, db, isRestored, scanner: openScanner() })
  const primary: Services['primary'] = ({ usage }) => writeContext(sessions.primary(usage))
  const noteWrite = async () => {
    try {
      await openScanner().noteWrite()
    } catch {
      platform.logger.warn('write-not-noted', {}) // the next tick notes the write in the scanner's memory
    }
  }
  const wake = () => wakeEndpoints(platform, cell)
  const expected = createSharedRuns<void>(platform, {
    lostMs: expectEveryMs,
    keptMs: ({ ok }) => (ok ? expectEveryMs : 0),
  })
  const expectPayment = () => {
    // without looks a payment is seen with the next tick
    const { result } = expected.join(() => openScanner().expectPayment())
    platform.waitUntil(result.catch(() => platform.logger.warn('payment-not-expected', {})))
  }
  const followUps: Record<FollowUp, () => void | Promise<void>> = {
    nothing: () => undefined,
    wake,
    'note-and-wake': () => noteWrite().then(wake),
    'expect-payment': expectPayment,
  }
  const health = createSharedRuns<StoredHealth>(platform, sharedReads)
  const logRunning = createRunningLog(platform.logger, cell.number)
  const intake = createSharedRuns<Intake>(platform, sharedReads)
  return {
    settings,
    configMatchesData,
    differingSettings,
    network: config.network,
    quorum: config.quorum,
    endpoints: config.webhooks,
    read: (invocation, work) => sessions.reading(invocation, (db) => work({ ...settings, db })),
    async write(invocation, followUp, work) {
      const result = await sessions.writing(invocation, (db) => work(writeContext(db)))
      if (result.ok) await followUps[followUp]()
      return result
    },
    primary,
    get scanner() {
      return openScanner()
    },
    storedHealth: (invocation) => health.wait(async () => logRunning(await selectHealth(primary(invocation).db))),
    intake: (invocation) => intake.wait(() => readIntake(primary(invocation), config.scanEverySeconds)),
    ranges,
    waitForDeposit: holdRequests(platform, (uid, mark, ms) => openScanner().waitForDeposit(uid, mark, ms)),
    sendPayouts: () => {
      const sent = openScanner().sendPayouts()
      // the next tick sends the payouts
      platform.waitUntil(sent.catch(() => platform.logger.warn('payouts-not-sent', {})))
    },
  }
}

/** Makes the held requests of an isolate, each over a call of the scanner. */
function holdRequests({ clock, logger }: Platform, call: ScannerObject['waitForDeposit']): Services['waitForDeposit'] {
  let held = 0
  return async (uid, mark, seconds) => {
    if (held >= heldByIsolateMax) return null
    held += 1
    try {
      const answer = call(uid, mark, seconds * 1000)
      if (await endsWithin(answer, seconds * 1000 + answerMsMax, clock)) return await answer
    } catch {
      logger.warn('request-not-held', {}) // the request is answered at once
    } finally {
      held -= 1
    }
    return null
  }
}

function unconfigured(platform: Platform, faults: readonly string[], files: StaticFiles | null): BoundWorker {
  alarmMisconfigured(platform, faults)
  return {
    app: createUnconfiguredApp(platform, files),
    wakeScanner: () => Promise.resolve(),
    ledger: createUnconfiguredLedgerRpc(),
  }
}

/**
 * Logs an alarm for each fault, once in each isolate. Nothing is stored, because the configuration
 * of the database may be invalid, too.
 */
function alarmMisconfigured({ logger }: Platform, faults: readonly string[]): void {
  for (const fault of faults) logger.alarm('misconfigured', { fault })
}

/**
 * Makes the scanner of the cell that has this Durable Object. `host` is the object's storage and
 * alarm.
 */
export function createScannerObject(
  platform: Platform,
  bindings: Bindings,
  host: ObjectHost,
  name?: string,
): ScannerObject {
  const cell = cellOfBindings(platform, bindings, name)
  const { config, number, payoutAddresses } = cell
  const { clock, logger, fetch } = platform
  const inBackground = (work: Promise<unknown>) =>
    platform.waitUntil(work.catch(() => logger.warn('background-work-failed', {})))
  const { settings, configMatchesData, sessions } = openDatabase(platform, cell)
  const usage = createUsage()
  const db = sessions.primary(usage)
  const tron = createTron({
    ...config,
    tokens: new Set(config.currencies.byContract.keys()),
    payoutAddresses: new Set(payoutAddresses),
    clock,
    logger,
    fetch: (url, init) => metered(usage.node, clock, 1, () => fetch(url, init)),
    host,
    raiseAlarm: (kind, subject, fields) => platform.waitUntil(settings.alarms.raise(kind, subject, fields)),
  })
  return createScanner({
    ...settings,
    db,
    host,
    openChain(quota: RequestQuota, deadline: UnixMs) {
      const chain = tron.open(quota, deadline)
      const shared = number === null || quota.kind !== 'tick' ? null : config.sharedBlocks?.getByName(sharedName)
      return shared ? shareReads(chain, { shared, clock, inBackground }) : chain
    },
    // The ticks of several cells begin together, so that one cell reads a block and the others get
    // it from `sharedBlocks`.
    ticksTogether: number !== null,
    tickAvailableAt: tron.tickAvailableAt,
    scanEverySeconds: config.scanEverySeconds,
    eventsKeepDays: config.eventsKeepDays,
    hasArchive: config.archive !== null,
    endpoints: config.webhooks,
    configMatchesData,
    wakeEndpoints: () => platform.waitUntil(wakeWaiting(platform, cell, db)),
    nodes: tron.nodes,
    nodeCount: config.nodes.length,
    inBackground,
    nodeStatuses: tron.nodeStatuses,
    nodeTroubles: tron.nodeTroubles,
    recoveredAt: () => tron.recoveredAt() ?? (0 as UnixMs),
    databaseBytes: () => usage.databaseBytes,
    usage: () => usageFields(usage),
  })
}

/**
 * Makes the object that delivers events of a cell to one webhook endpoint, or writes its archive.
 * `host` is the storage and alarm of the Durable Object with this name.
 */
export function createEndpointObject(
  platform: Platform,
  bindings: Bindings,
  host: ObjectHost,
  name?: string,
): Pick<EndpointObject, 'wake' | 'alarm'> {
  const cell = cellOfBindings(platform, bindings, name)
  const { config, number } = cell
  const { settings, configMatchesData, sessions } = openDatabase(platform, cell)
  const db = sessions.primary(createUsage())
  const endpoint = createEndpoint({
    ...settings,
    db,
    host,
    fetch: platform.fetch,
    endpoints: config.webhooks,
    configMatchesData,
    cell: number,
    writeBody: (event) => {
      const item = eventItem(event, config.currencies, jsonAmount)
      return JSON.stringify(number === null ? item : { ...item, cell: number })
    },
  })
  if (config.archive === null) return endpoint
  const folder = formatBase58(settings.addressAt(0))
  const { bucket, sealKey } = config.archive
  const archive = createArchive({
    ...settings,
    db,
    host,
    bucket: openBucket(bucket, settings.clock),
    folder,
    cell: number ?? 1,
    seal: sealKey === null ? null : createSealer(sealKey, originOf(folder)),
    configMatchesData,
    wakeEndpoints: () => {
      if (config.webhooks.some(wantsNotes)) platform.waitUntil(wakeWaiting(platform, cell, db))
    },
  })
  return {
    wake: endpoint.wake,
    alarm: async () => ((await endpoint.key()) === archiveKey ? archive.alarm() : endpoint.alarm()),
  }
}

/** Has the archive of a cell written, if it has one and is not being written. */
function wakeArchive({ waitUntil, logger }: Platform, cell: CellConfig): void {
  if (cell.config.archive === null) return
  const woken = cell.config.endpoints.getByName(endpointOf(cell, archiveKey)).wake(archiveKey)
  waitUntil(woken.catch(() => logger.warn('archive-not-woken', {})))
}

/**
 * Makes the memory of blocks that the cells share. It lives in the only Durable Object of its
 * class.
 */
export function createBlocksObject({ clock }: Platform): SharedBlocks {
  return createSharedBlocks(clock)
}

/**
 * The cell of the Durable Object with this name. Throws if the configuration is invalid, or if no
 * cell has such an object.
 */
function cellOfBindings(platform: Platform, bindings: Bindings, name: string | undefined): CellConfig {
  const cells = parseCells(bindings)
  if (!cells.ok) {
    alarmMisconfigured(platform, cells.error)
    throw new Error('the configuration is not valid')
  }
  const cell = cellOfObject(cells.value, name)
  if (cell === null) throw new Error(`no cell has the object ${name}`)
  return cell
}

/**
 * Opens the database of a cell, and makes the settings (`AppContext`) that every part of the
 * service gets.
 */
function openDatabase(platform: Platform, cell: CellConfig) {
  const { clock, logger } = platform
  const { config, users, number, others } = cell
  const { currencies, operators, startBlock, firstIndex, issuesAddresses, extendedPublicKey, chainId, payouts } = config
  const sessions = createSessions(config.db, { clock, logger })
  const db = sessions.primary(createUsage())
  const alarms: Alarms = createAlarms({ db, clock, logger })
  const rangeOf = (other: CellConfig['others'][number]) => {
    return { ...other, db: createSessions(other.db, { clock, logger }).primary(createUsage()) }
  }
  const addressAt = (index: number) => deriveAddress(extendedPublicKey, index)
  const firstAddress = addressAt(0)
  const { matches: configMatchesData, differing: differingSettings } = createSettingsCheck({
    db,
    meaning: meaningOf(chainId, firstAddress, currencies),
    payoutAddress: payouts?.address ?? null,
    ranges: number === null ? null : { own: { db, users, firstAddress }, others: others.map(rangeOf) },
    shared: createSharedRuns<boolean>(platform, sharedReads),
    clock,
    alarms,
  })
  const settings: AppContext = {
    clock,
    logger,
    alarms,
    currencies,
    operators,
    startBlock,
    firstIndex,
    issuesAddresses,
    addressAt,
    payouts,
    payoutAddresses: new Set(cell.payoutAddresses),
  }
  return { settings, configMatchesData, differingSettings, sessions }
}

/**
 * Wakes the endpoints with undelivered events, after a statement that may have stored events. If
 * the waking fails, the next tick wakes them.
 */
async function wakeWaiting(platform: Platform, cell: CellConfig, db: WriteDatabase): Promise<void> {
  const { clock, logger } = platform
  try {
    wakeEndpoints(platform, cell, await selectWaiting({ db, clock, endpoints: cell.config.webhooks }))
  } catch {
    logger.warn('endpoints-not-found', {})
  }
}

/**
 * Wakes webhook endpoints to look for new events; without `list`, all of them. If waking fails, the
 * stored change neither waits nor is undone.
 */
function wakeEndpoints(
  { waitUntil, logger }: Platform,
  cell: CellConfig,
  list: readonly Pick<WebhookEndpoint, 'key' | 'number'>[] = cell.config.webhooks,
): void {
  for (const { key, number } of list) {
    const woken = cell.config.endpoints.getByName(endpointOf(cell, key)).wake(key)
    waitUntil(woken.catch(() => logger.warn('endpoint-not-woken', { endpoint: number })))
  }
}
