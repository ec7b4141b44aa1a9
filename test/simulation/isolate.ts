import { bytesToHex } from '@noble/hashes/utils.js'
import { HDKey } from '@scure/bip32'
import { archiveKey } from '../../src/worker/archive/archive-object.ts'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { createEndpointObject, createScannerObject, createService, type Platform } from '../../src/worker/compose.ts'
import type { ObjectHost } from '../../src/worker/platform/object-host.ts'
import type { LedgerMethods } from '../../src/worker/rpc/ledger-methods.ts'
import type { SqliteD1 } from '../support/sqlite-d1.ts'
import { testXpub } from '../support/variables.ts'
import type { SimulatedArchive } from './archive.ts'
import { chainId } from './chain.ts'
import { withSessions } from './database.ts'
import { deployedVariables, keyVarOf } from './deployed.ts'
import type { Environment } from './environment.ts'
import { currentInvocation, drawSkew, type Invocation, type InvocationPorts } from './invocation.ts'
import { otherChainId } from './malformed-replies.ts'
import { inFirstCell, type Neighbour } from './neighbour.ts'
import type { Nodes } from './nodes.ts'
import { createNamespace, type ObjectCode, type ObjectNamespace } from './objects.ts'
import { payoutVariable } from './payouts.ts'
import { currencies, currencyVariable, operatorWallet } from './scenario.ts'

/**
 * A machine with the Worker as production composes it. What the isolate keeps in memory between
 * invocations is lost when it ends.
 */
export interface Isolate {
  fetch(request: Request): Promise<Response>
  /** Runs the cron handler, as the platform does every minute. */
  scheduled(): Promise<void>
  /** The methods for other Workers. */
  ledger(): LedgerMethods
  /** By how much the clock of the isolate's machine is ahead, in milliseconds. */
  readonly skewMs: number
}

/** A version of the service that is deployed: its Workers and its objects. */
export interface Deployment {
  readonly scanner: ObjectNamespace
  readonly endpoint: ObjectNamespace
  /** Null in a run without an archive. */
  readonly archive: ObjectNamespace | null
  startIsolate(): Isolate
}

/** A database whose round trips belong to the running invocation. */
export function connectDatabase(store: SqliteD1): D1Database {
  return withSessions(
    store.connect((work, statements, values) => currentInvocation().roundTrip(work, statements, values)),
  )
}

/** Settings that contradict what the database has stored. */
export const wrongSettings = [
  { TRON_CHAIN_ID: otherChainId },
  { TRON_XPUB: HDKey.fromMasterSeed(new Uint8Array(32)).derive("m/44'/195'/0'").publicExtendedKey },
  { CURRENCIES: currencyVariable.map((currency) => (currency.cuy === 2 ? { ...currency, scale: 3 } : currency)) },
] as const

/** What a deployment is bound to. */
export interface Resources {
  readonly nodes: Nodes
  readonly db: D1Database
  readonly rateLimits: Readonly<Record<string, RateLimit>>
  readonly connect: (invocation: Invocation) => InvocationPorts
  /** The other cell of the deployment; null if there is one cell. */
  readonly neighbour: Neighbour | null
  /** Null in a run without an archive. */
  readonly archive: SimulatedArchive | null
}

/**
 * Makes a deployment. Each isolate and object reads the configuration when it starts. `settings`
 * replace some of its variables.
 */
export function createDeployment(
  env: Environment,
  { nodes, db, rateLimits, connect, neighbour, archive: archived }: Resources,
  settings: (typeof wrongSettings)[number] | null = null,
): Deployment {
  const bindings = () => {
    const own = {
      DB: db,
      SCANNER: scanner,
      ENDPOINT: {
        getByName: (name: string) => (name === archiveKey ? (archive ?? endpoint) : endpoint).getByName(name),
      },
      ...rateLimits,
      ...variablesOf(env, nodes.list),
      ...archived?.variables,
      ...settings,
    }
    return neighbour === null ? own : neighbour.bindings(own)
  }
  const scanner = createNamespace(env, {
    name: 'scanner',
    create: (host) => createScannerObject(platform, bindings(), host, 'scanner') as unknown as ObjectCode,
    connect,
  })
  const createObject = (host: ObjectHost) =>
    createEndpointObject(platform, bindings(), host, 'endpoint') as unknown as ObjectCode
  const endpoint = createNamespace(env, { name: 'endpoint', create: createObject, connect })
  const archive = archived?.deploy(createObject) ?? null
  return {
    scanner,
    endpoint,
    archive,
    startIsolate() {
      const service = createService(platform)
      const bound = bindings()
      return {
        fetch: (request) => service.fetch(neighbour === null ? request : inFirstCell(request), bound),
        scheduled: () => service.scheduled(bound),
        ledger() {
          const ledger = service.ledger(bound)
          if (neighbour === null) return ledger
          return { ...ledger, decideDeposits: (list, by) => ledger.decideDeposits(list, by, { cell: 1 }) }
        },
        skewMs: drawSkew(env),
      }
    },
  }
}

/** The variables of the deployed configuration. */
export function variablesOf(
  { scenario, lost, allowance, startHeight, retired, listsOperator, paysOut, deployed }: Environment,
  nodes: readonly { readonly rpc: string; readonly api: string }[],
) {
  const start = startHeight()
  const { perSecond, perDay } = allowance
  return {
    TRON_XPUB: testXpub,
    TRON_CHAIN_ID: chainId,
    TRON_NODES: nodes.map(({ rpc, api }, i) => {
      const key = deployed.nodeKeys.get(i + 1)
      if (key === undefined) return { rpc, api, perSecond, perDay }
      const urls = { rpc: rpc.replace(key, '{key}'), api: api.replace(key, '{key}') }
      return { ...urls, keyVar: keyVarOf(i + 1), perSecond, perDay }
    }),
    TRON_QUORUM: scenario.quorum,
    // Payments reach addresses that are not issued yet. Without a first index the service would
    // take the account key for a key that was used before.
    ...(lost === null ? { TRON_FIRST_INDEX: 0 } : lost.isSet ? { TRON_FIRST_INDEX: lost.firstIndex } : {}),
    CURRENCIES: currencyVariable
      .filter(({ cuy }) => !deployed.without.has(cuy))
      .map((currency) => ({
        ...currency,
        ...(retired.has(currency.cuy) ? { retired: true } : {}),
        ...(scenario.reviews ? reviewOf(currency.cuy) : {}),
      })),
    ...(listsOperator ? { OPERATOR_ADDRESSES: [formatBase58(operatorWallet)] } : {}),
    SCAN_EVERY_SECONDS: scenario.scanEverySeconds,
    ...deployedVariables({ deployed, scenario }),
    ...(scenario.payouts === null || !paysOut ? {} : { PAYOUTS: payoutVariable }),
    ...(start === null ? {} : { TRON_START_BLOCK: start }),
  }
}

function reviewOf(cuy: number) {
  const reviewFrom = currencies.find((one) => one.cuy === cuy)?.reviewFrom ?? null
  return reviewFrom === null ? {} : { reviewFrom }
}

/** The platform of all invocations: each function acts for the invocation that is running. */
export const platform: Platform = {
  clock: {
    now: () => currentInvocation().invocation.clock.now(),
    sleep: (ms) => currentInvocation().invocation.clock.sleep(ms),
    random: () => currentInvocation().invocation.clock.random(),
  },
  logger: {
    info: (event, fields) => currentInvocation().log('info', event, fields),
    warn: (event, fields) => currentInvocation().log('warn', event, fields),
    error: (event, fields) => currentInvocation().log('error', event, fields),
    alarm: (kind, fields) => currentInvocation().log('alarm', kind, fields),
  },
  fetch: (url, init = {}) => currentInvocation().fetch(String(url), init),
  uniqueName: () => currentInvocation().invocation.uniqueName(),
  waitUntil: (work) => {
    currentInvocation().invocation.background.push(work.catch(() => undefined)) // the platform only logs such an error
  },
}

/**
 * Keeps the keys that the library derives for all isolates, because each of them would derive the
 * same ones again, at 0.7 ms each.
 */
function cacheDerivedKeys(): void {
  const derive = HDKey.prototype.deriveChild
  const children = new Map<string, HDKey>()
  HDKey.prototype.deriveChild = function (this: HDKey, index) {
    const key = `${this.publicKey === null ? '' : bytesToHex(this.publicKey)} ${index}`
    const existing = children.get(key)
    if (existing !== undefined) return existing
    const child = derive.call(this, index)
    children.set(key, child)
    return child
  }
}

cacheDerivedKeys()
