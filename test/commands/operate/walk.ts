import type { UnixMs } from '../../../src/worker/common/time.ts'
import { createScannerObject, createService, type Platform } from '../../../src/worker/compose.ts'
import { writable } from '../../../src/worker/d1/database.ts'
import { createLogger } from '../../../src/worker/platform/logger.ts'
import { withSessions } from '../../simulation/database.ts'
import type { MemoryHost } from '../../support/memory-host.ts'
import { openSqliteD1 } from '../../support/sqlite-d1.ts'
import { bearer, signHs256 } from '../../support/tokens.ts'
import { backendSecret, testSecret } from '../../support/variables.ts'
import { bindingsFor, type CollectChain, startCollectChain } from '../collect/harness.ts'
import { databaseFileIn, type LocalDatabase } from '../local-database.ts'

/** Milliseconds that the clock moves before each scan of a deposit. */
export const lookMs = 5_000

/**
 * The whole service in this process on a local chain, over local databases, one after the other.
 */
export interface Walk {
  readonly chain: CollectChain
  now(): UnixMs
  /**
   * The service over the local database in a folder, as one deployment. `host` has the scanner's
   * storage.
   */
  deploy(database: LocalDatabase, host: MemoryHost, variables?: Record<string, unknown>): Deployment
  /** Pays a deposit, makes it final and scans. */
  deposit(service: Deployment, index: number, amount: string, currency?: 'TRX' | 'USDT'): Promise<void>
  /** Moves the service's clock and the chain's time forward, and makes blocks. */
  pass(ms: number): Promise<void>
  stop(): Promise<void>
}

export type Deployment = ReturnType<typeof deployOn>

/**
 * Starts a chain. All moves of the clock together must stay below a minute where entries are
 * posted: the database refuses entries that are later than its own clock.
 */
export async function startWalk(): Promise<Walk> {
  const chain = await startCollectChain()
  let skippedMs = 0
  const now = () => (Date.now() + skippedMs) as UnixMs // safe: milliseconds since 1970
  const pass = async (ms: number) => {
    skippedMs += ms
    await chain.devnet.advance(Math.round(ms / 1_000))
    await chain.devnet.mine(4)
  }
  return {
    chain,
    now,
    deploy: (database, host, variables = {}) => deployOn(chain, now, database, host, variables),
    async deposit(service, index, amount, currency = 'USDT') {
      await chain.deposit([index, amount, currency])
      await pass(lookMs)
      await service.tick()
    },
    pass,
    stop: () => chain.stop(),
  }
}

function deployOn(
  chain: CollectChain,
  now: () => UnixMs,
  { folder }: LocalDatabase,
  host: MemoryHost,
  variables: Record<string, unknown>,
) {
  const clock = {
    now,
    random: () => 0.5,
    sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref()),
  }
  const logger = createLogger(() => undefined)
  const platform: Platform = { clock, fetch, logger, uniqueName: () => crypto.randomUUID(), waitUntil: () => {} }
  const { sqlite, connect } = openSqliteD1(databaseFileIn(folder))
  const bindings: Record<string, unknown> = {
    ...bindingsFor(chain.devnet),
    DB: withSessions(connect(async (work) => work())),
    AUTH_JWT_SECRET: testSecret,
    BACKEND_JWT_SECRET: backendSecret,
    ...variables,
  }
  const scanner = createScannerObject(platform, bindings, host)
  const service = createService(platform)
  Object.assign(bindings, { SCANNER: { getByName: () => scanner } })
  const expiry = () => Math.floor(clock.now() / 1_000) + 600
  const send = async (path: string, token: string, body?: unknown) => {
    const init = { headers: { ...bearer(token), 'content-type': 'application/json' } }
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await service.fetch(new Request(`https://wallet.example${path}`, { ...init, ...post }), bindings)
    // safe: the service's own reply
    return (await response.json()) as { readonly code: number; readonly data?: unknown }
  }
  const backend = async () => signHs256({ sub: 'shop', exp: expiry(), scope: 'ledger:read ledger:post' }, backendSecret)
  return {
    /** The database, for what works beside the service. */
    database: writable(connect(async (work) => work())),
    tick: () => scanner.alarm(),
    address: async (uid: number) =>
      send('/tron/generate', await signHs256({ sub: `${uid}`, exp: expiry() }, testSecret)),
    // safe: the caller names the route's type
    ledger: async <T>(path: string) => (await send(path, await backend())).data as T,
    post: async (...entries: readonly object[]) => send('/ledger/entries', await backend(), { entries }),
    close: () => sqlite.close(),
  }
}

/** The two entries of a USDT transfer between users. */
export const transfer = (from: number, to: number, amt: string, osn: string) => [
  { uid: from, cuy: 2, type: 3, osn, amt: `-${amt}` },
  { uid: to, cuy: 2, type: 3, osn, amt },
]

/** The balance of a user's wallet in USDT. */
export const usdtOf = async (service: Deployment, uid: number) => {
  const { list } = await service.ledger<{ list: readonly { cuy: number; amt: number }[] }>(`/ledger/wallets?uid=${uid}`)
  return list.find(({ cuy }) => cuy === 2)?.amt
}
