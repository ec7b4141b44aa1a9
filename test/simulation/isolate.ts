import { bytesToHex } from '@noble/hashes/utils.js'
import { HDKey } from '@scure/bip32'
import { createService, type Platform } from '../../src/compose.ts'
import type { LedgerMethods } from '../../src/rpc/ledger-methods.ts'
import type { SqliteD1 } from '../support/sqlite-d1.ts'
import { backendSecret, testSecret, testXpub } from '../support/variables.ts'
import { withSessions } from './database.ts'
import { endpointVariables } from './endpoints.ts'
import type { Environment } from './environment.ts'
import { clockSkewMaxMs, currentInvocation } from './invocation.ts'
import { otherChainId } from './malformed-replies.ts'
import type { Nodes } from './nodes.ts'
import { currencyVariable } from './scenario.ts'

/** A machine with the service as production composes it. What it keeps between invocations is lost with it. */
export interface Isolate {
  fetch(request: Request): Promise<Response>
  tick(): Promise<void>
  /** The methods for other Workers. */
  ledger(): LedgerMethods
  /** By how much its machine's clock is ahead, in milliseconds. */
  readonly skewMs: number
}

/** A database whose round trips belong to the running invocation. */
export function connectDatabase(store: SqliteD1): D1Database {
  return withSessions(store.connect((work, statements) => currentInvocation().roundTrip(work, statements)))
}

/** Settings that contradict what the database has stored. */
export const wrongSettings = [
  { TRON_CHAIN_ID: otherChainId },
  { TRON_XPUB: HDKey.fromMasterSeed(new Uint8Array(32)).derive("m/44'/195'/0'").publicExtendedKey },
  { CURRENCIES: currencyVariable.map((currency) => (currency.cuy === 2 ? { ...currency, scale: 3 } : currency)) },
] as const

/** What all isolates of a run are bound to. */
export interface Resources {
  readonly nodes: Nodes
  readonly db: D1Database
  readonly rateLimits: Readonly<Record<string, RateLimit>>
}

/** A new isolate on any machine, with the deployed configuration or one with other settings. */
export function createIsolate(
  { scenario, lost, random, chain, startHeight, retired }: Environment,
  { nodes, db, rateLimits }: Resources,
  settings: (typeof wrongSettings)[number] | null = null,
): Isolate {
  const service = createService(platform)
  const start = startHeight()
  const bindings = {
    DB: db,
    ...rateLimits,
    TRON_XPUB: testXpub,
    TRON_CHAIN_ID: chain.chainId,
    TRON_NODES: nodes.list.map(({ rpc, api }) => (api === null ? { rpc } : { rpc, api })),
    TRON_QUORUM: scenario.quorum,
    // The chain pays addresses that are not issued yet.
    ...(lost === null ? { TRON_FIRST_INDEX: 0 } : lost.isSet ? { TRON_FIRST_INDEX: lost.firstIndex } : {}),
    CURRENCIES: currencyVariable.map((currency) =>
      retired.has(currency.cuy) ? { ...currency, retired: true } : currency,
    ),
    AUTH_JWT_SECRET: testSecret,
    BACKEND_JWT_SECRET: backendSecret,
    SCAN_EVERY_SECONDS: 60, // one tick in an invocation: the run decides when they begin
    ...endpointVariables,
    ...(start === null ? {} : { TRON_START_BLOCK: start }),
    ...settings,
  }
  return {
    fetch: (request) => service.fetch(request, bindings),
    tick: () => service.minute(bindings, (...task) => service.deliver(bindings, ...task)),
    ledger: () => service.ledger(bindings),
    skewMs: random.int(-clockSkewMaxMs / 2, clockSkewMaxMs / 2),
  }
}

/** The functions of the platform: each does what it does for the running invocation. */
const platform: Platform = {
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
}

/** Each isolate derives the same keys anew, at 0.7 ms each: the library's own results are kept for all of them. */
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
