import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { type Address, parseAddress } from '../../src/worker/chain/address.ts'
import { createEndpointObject, createScannerObject, createService, type Platform } from '../../src/worker/compose.ts'
import type { Clock } from '../../src/worker/platform/clock.ts'
import type { ObjectHost } from '../../src/worker/platform/object-host.ts'
import type { LedgerMethods } from '../../src/worker/rpc/ledger-methods.ts'
import { withSessions } from '../simulation/database.ts'
import { createScheduler, type Scheduler } from '../simulation/scheduler.ts'
import { createMemoryHost } from '../support/memory-host.ts'
import { printLine } from '../support/project.ts'
import { openSqliteD1, type SqliteD1 } from '../support/sqlite-d1.ts'
import { type BenchBlocks, finalityBlocks, firstHeight, type Lies, slotMs, withLyingTail } from './mainnet.ts'
import { type BenchHeads, createAnswer } from './replies.ts'
import { serviceVariables } from './variables.ts'

/** What one tick has cost. */
export interface TickCost {
  /** Requests to all nodes together. */
  requests: number
  statements: number
}

/** What one of the nodes does instead of answering as the others do. */
export type NodeFault =
  /** Each answer takes 5 s. */
  | { readonly kind: 'slow' }
  | ({ readonly kind: 'lying tail' } & Lies)
  /** It is cut off from the other nodes: it answers, and has no newer block. */
  | { readonly kind: 'stands still' }
  /** It is cut off from the service: no request ends. */
  | { readonly kind: 'no answer' }

/** The service as it is composed, in virtual time: hours pass in seconds, and every count is exact. */
export interface VirtualService {
  readonly sqlite: DatabaseSync
  readonly ticks: readonly TickCost[]
  /** Requests to all nodes together until now. */
  requests(): number
  /** By the id of an event: when its receiver had it. */
  readonly received: ReadonlyMap<number, number>
  /** Its time. */
  readonly clock: Clock
  now(): number
  /** The response to a request. */
  fetch(request: Request): Promise<Response>
  /** What other Workers call. */
  readonly ledger: LedgerMethods
  /** The deposit address of a user. */
  addressOf(uid: number): Promise<Address>
  /** Lets so much time pass, or less where the machine needs more than `limitMs` for it. */
  run(ms: number, limitMs?: number): Promise<void>
  /** From now on the first node has this fault. */
  fail(fault: NodeFault): void
}

/** How to run it: the number of nodes, and variables beside those of `serviceVariables`. */
export interface VirtualOptions {
  readonly nodes?: number
  readonly variables?: Readonly<Record<string, unknown>>
}

const receiverUrl = 'http://127.0.0.1:9/events'
/** How long a request to a node, a trip to the database and a delivery take. */
const latencyMs = { node: 150, database: 10, receiver: 50 }
const slowMs = 5_000
/** How much time passes between two looks at the machine's clock. */
const sliceMs = 3_000
/** An object that nobody has called for so long is evicted: Cloudflare's page on the life of a Durable Object, November 2026. */
const evictedAfterMs = 10_000

/** Starts the service at the time of block `firstHeight` and the blocks that make it final. Its nodes have mainnet's timing. */
export async function startVirtual(blocks: BenchBlocks, options: VirtualOptions = {}): Promise<VirtualService> {
  const scheduler = createScheduler(blocks.timeOf(firstHeight + 2 * finalityBlocks))
  const nodes = Array.from({ length: options.nodes ?? 2 }, (_, i) => createNode(`https://node-${i + 1}.test`, blocks))
  const costs: TickCost = { requests: 0, statements: 0 }
  const ticks: TickCost[] = []
  const received = new Map<number, number>()
  const store = openSqliteD1()
  const platform = createPlatform(scheduler, nodes, costs, received)
  const bindings: Record<string, unknown> = {
    ...serviceVariables(nodes.map(({ url }) => url)),
    DB: connectDatabase(store, scheduler, costs),
    SCAN_EVERY_SECONDS: 20,
    WEBHOOKS: [{ url: receiverUrl, secretVar: 'HOOK_SECRET' }],
    HOOK_SECRET: `whsec_${btoa('the secret of the receiver')}`,
    ...options.variables,
  }
  const measured = async (alarm: () => Promise<void>) => {
    const before = { ...costs }
    await alarm()
    const { requests, statements } = costs
    ticks.push({ requests: requests - before.requests, statements: statements - before.statements })
  }
  const scannerOf = (host: ObjectHost) => createScannerObject(platform, bindings, host)
  bindings.SCANNER = { getByName: objectsOf(scheduler, scannerOf, measured) }
  const endpointOf = (host: ObjectHost) => createEndpointObject(platform, bindings, host)
  bindings.ENDPOINT = { getByName: objectsOf(scheduler, endpointOf, (alarm) => alarm()) }
  const service = createService(platform)
  const complete = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false
    const ended = work.finally(() => {
      isOver = true
    })
    ended.catch(() => undefined) // it is awaited below
    await scheduler.runUntil(() => isOver)
    return await ended
  }
  const cron = () => {
    scheduler.after(60_000, cron)
    void service.scheduled(bindings)
  }
  cron()
  return {
    sqlite: store.sqlite,
    ticks,
    received,
    requests: () => costs.requests,
    clock: scheduler,
    now: scheduler.now,
    fetch: (request) => service.fetch(request, bindings),
    ledger: service.ledger(bindings),
    async addressOf(uid) {
      const answer = await complete(service.ledger(bindings).address(uid))
      const parsed = parseAddress(answer.ok ? answer.address : '')
      if (!parsed.ok) throw new Error(`no address: ${JSON.stringify(answer)}`)
      return parsed.value
    },
    async run(ms, limitMs = Number.POSITIVE_INFINITY) {
      const [end, stopAt] = [scheduler.now() + ms, performance.now() + limitMs]
      while (scheduler.now() < end && performance.now() < stopAt) {
        await complete(scheduler.sleep(Math.min(sliceMs, end - scheduler.now())))
        await new Promise((resolve) => setImmediate(resolve)) // lets signals and timers of the machine through
      }
    },
    fail: (fault) => nodes[0]?.fail(fault, scheduler.now),
  }
}

/**
 * The objects of a class by their names. An instance is made when an object is called or its alarm is due, and is evicted
 * some time after the last call, as the platform does it: what outlives it is its storage, its alarm and the database.
 */
function objectsOf<T extends { alarm(): Promise<void> }>(
  scheduler: Scheduler,
  create: (host: ObjectHost) => T,
  fire: (alarm: () => Promise<void>) => Promise<void>,
): (name: string) => T {
  const stubs = new Map<string, T>()
  return (name) => {
    const stub = stubs.get(name) ?? createObject(scheduler, create, fire)
    stubs.set(name, stub)
    return stub
  }
}

function createObject<T extends { alarm(): Promise<void> }>(
  scheduler: Scheduler,
  create: (host: ObjectHost) => T,
  fire: (alarm: () => Promise<void>) => Promise<void>,
): T {
  let instance: T | null = null
  let running = 0
  let evict: () => void = () => undefined
  const use = async <R>(call: (object: T) => Promise<R>): Promise<R> => {
    evict()
    running += 1
    instance ??= create(host)
    try {
      return await call(instance)
    } finally {
      running -= 1
      evict()
      if (running === 0) {
        evict = scheduler.after(evictedAfterMs, () => {
          instance = null
        })
      }
    }
  }
  const host = createHost(scheduler, () => use((object) => fire(() => object.alarm())))
  type Method = (...args: unknown[]) => Promise<unknown>
  const methodOf =
    (name: keyof T) =>
    (...args: unknown[]) =>
      use((object) => (object[name] as Method)(...args)) // an object has no other members
  return new Proxy({} as T, { get: (_, name) => methodOf(name as keyof T) })
}

function connectDatabase(store: SqliteD1, scheduler: Scheduler, costs: TickCost): D1Database {
  const db = store.connect(async (work, statements) => {
    costs.statements += statements.length
    await scheduler.sleep(latencyMs.database / 2)
    const result = work()
    await scheduler.sleep(latencyMs.database / 2)
    return result
  })
  return withSessions(db)
}

interface VirtualNode {
  readonly url: string
  fail(fault: NodeFault, now: () => number): void
  /** The reply to a request, and how long it takes. */
  answer(path: string, body: string, now: number): string
  latencyMs(): number
}

function createNode(url: string, blocks: BenchBlocks): VirtualNode {
  let answer = createAnswer(blocks)
  let heads = (now: number) => headsAt(blocks, now)
  let latency: number = latencyMs.node
  return {
    url,
    answer: (path, body, now) => answer(path, body, heads(now)),
    latencyMs: () => latency,
    fail(fault, now) {
      if (fault.kind === 'slow') latency = slowMs
      if (fault.kind === 'no answer') latency = Number.POSITIVE_INFINITY
      const { latest, finalized } = headsAt(blocks, now())
      if (fault.kind === 'stands still') heads = () => ({ latest, finalized })
      if (fault.kind === 'lying tail') {
        answer = createAnswer(withLyingTail(blocks, () => headsAt(blocks, now()).finalized, fault))
      }
    },
  }
}

function headsAt(blocks: BenchBlocks, now: number): BenchHeads {
  const latest = firstHeight + Math.floor((now - blocks.timeOf(firstHeight)) / slotMs)
  return { latest, finalized: latest - finalityBlocks }
}

function createPlatform(
  scheduler: Scheduler,
  nodes: readonly VirtualNode[],
  costs: TickCost,
  received: Map<number, number>,
): Platform {
  const quiet = () => undefined
  const report = (what: string, fields: object) => printLine(`${what} ${JSON.stringify(fields)}`)
  const fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = String(input)
    if (url === receiverUrl) {
      await scheduler.sleep(latencyMs.receiver)
      const { id } = JSON.parse(String(init.body)) as { id: number } // the service's own
      received.set(id, scheduler.now())
      return new Response(null, { status: 204 })
    }
    costs.requests += 1
    const { origin, pathname } = new URL(url)
    const node = nodes.find((one) => one.url === origin)
    if (node === undefined) throw new TypeError(`nothing listens at ${url}`)
    await passes(scheduler, node.latencyMs(), init.signal ?? null)
    return replyOf(node.answer(pathname, String(init.body), scheduler.now()))
  }
  return {
    clock: scheduler,
    logger: { info: quiet, warn: quiet, error: report, alarm: report },
    fetch,
    uniqueName: randomUUID,
    waitUntil: (work) => void work.catch(quiet),
  }
}

/** The time that a request takes, unless its sender gives it up. */
async function passes(scheduler: Scheduler, ms: number, signal: AbortSignal | null): Promise<void> {
  const isGivenUp = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(new TypeError('fetch failed')))
  })
  await (Number.isFinite(ms) ? Promise.race([scheduler.sleep(ms), isGivenUp]) : isGivenUp)
}

/** A body that is read within microtasks: no virtual time passes meanwhile. */
function replyOf(text: string): Response {
  const bytes = Buffer.from(text, 'latin1')
  const body = {
    async *[Symbol.asyncIterator]() {
      yield bytes
    },
    cancel: async () => undefined,
  }
  return { status: 200, ok: true, headers: new Headers(), body } as unknown as Response // the part that is read
}

function createHost(scheduler: Scheduler, fire: () => Promise<void>): ObjectHost {
  const host = createMemoryHost()
  let cancel: () => void = () => undefined
  return {
    ...host,
    alarm: async () => host.alarmAt,
    async setAlarm(at) {
      host.alarmAt = at
      cancel()
      cancel = scheduler.after(at - scheduler.now(), () => {
        host.alarmAt = null
        void fire()
      })
    },
  }
}
