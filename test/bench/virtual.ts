import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { scannerOf as scannerName } from '../../src/worker/cells/objects.ts'
import { type Address, parseAddress } from '../../src/worker/chain/address.ts'
import type { ScannerCalls, SharedBlocks } from '../../src/worker/chain/chain.ts'
import {
  createBlocksObject,
  createEndpointObject,
  createScannerObject,
  createService,
  type Platform,
} from '../../src/worker/compose.ts'
import type { Clock } from '../../src/worker/platform/clock.ts'
import type { ObjectHost } from '../../src/worker/platform/object-host.ts'
import type { LedgerMethods } from '../../src/worker/rpc/ledger-methods.ts'
import { withSessions } from '../simulation/database.ts'
import { createScheduler, type Scheduler } from '../simulation/scheduler.ts'
import { printLine } from '../support/project.ts'
import { openSqliteD1 } from '../support/sqlite-d1.ts'
import { variablesOfCells } from './cells.ts'
import { type BenchBlocks, finalityBlocks, firstHeight, type Lies, slotMs, withLyingTail } from './mainnet.ts'
import { type BenchHeads, createAnswer } from './replies.ts'
import { serviceVariables } from './variables.ts'
import { objectsOf } from './virtual-objects.ts'

/** What one tick has cost. */
export interface TickCost {
  /** Requests to all nodes together. */
  requests: number
  statements: number
}

/** A tick of a cell, with what it has cost. */
export interface Tick extends TickCost {
  readonly startedAt: number
  readonly endedAt: number
}

/** One of the cells; the only one of a deployment without `CELLS`. */
export interface VirtualCell {
  readonly sqlite: DatabaseSync
  readonly ticks: readonly Tick[]
  /** The requests of the cell's scanner until now, by what they ask for. */
  readonly asked: ReadonlyMap<string, number>
  /** Makes every statement of the cell's database fail from now on, or succeed again. */
  setAway(isAway: boolean): void
}

/** What one of the nodes does instead of answering as the others do. */
export type NodeFault =
  /** Each answer takes 5 s. */
  | { readonly kind: 'slow' }
  | ({ readonly kind: 'lying tail' } & Lies)
  /** The node is cut off from the other nodes: it answers, and has no newer block. */
  | { readonly kind: 'stands still' }
  /** The node is cut off from the service: no request ends. */
  | { readonly kind: 'no answer' }
  /** The node says that it has each transaction, and passes none on. */
  | { readonly kind: 'swallows' }
  /** The node refuses each transaction as wrongly signed. */
  | { readonly kind: 'refuses' }

/**
 * The service as it is composed, in virtual time: hours pass in seconds, and every count is exact.
 */
export interface VirtualService {
  readonly cells: readonly VirtualCell[]
  /** The database of the first cell. */
  readonly sqlite: DatabaseSync
  /** The ticks of the first cell. */
  readonly ticks: readonly Tick[]
  /** Requests to all nodes together until now. */
  requests(): number
  /** The most requests to one node in a second of the clock until now. */
  busiestSecond(): number
  /** When the receiver got each event, by the event's id. */
  readonly received: ReadonlyMap<number, number>
  /** The virtual clock of the service. */
  readonly clock: Clock
  now(): number
  fetch(request: Request): Promise<Response>
  /** The entrypoint that other Workers call. */
  readonly ledger: LedgerMethods
  /** The scanner's call that holds the requests of pages that wait. */
  readonly waitForDeposit: ScannerCalls['waitForDeposit']
  /** Returns the deposit address of a user, which is issued on the first call. */
  addressOf(uid: number): Promise<Address>
  /**
   * Lets `ms` of virtual time pass, or less if the machine needs more than `limitMs` of real time
   * for it.
   */
  run(ms: number, limitMs?: number): Promise<void>
  /** From now on the node with this number, by default the first one, has this fault. */
  fail(fault: NodeFault, node?: number): void
  /** Sends a request to one of the nodes, as another program on the network does. */
  readonly nodeFetch: Platform['fetch']
  readonly nodeUrls: readonly string[]
}

/**
 * How to run the service: the numbers of nodes and of cells, how long an answer of a node takes,
 * and variables that add to `serviceVariables`.
 */
export interface VirtualOptions {
  readonly nodes?: number
  readonly cells?: number
  readonly nodeMs?: number
  /** How much longer the answer to this request takes, in milliseconds; by default 0. */
  readonly extraMs?: (body: string, answer: string) => number
  readonly variables?: Readonly<Record<string, unknown>>
}

const receiverUrl = 'http://127.0.0.1:9/events'
/**
 * Milliseconds of a request to a node, a round trip to the database, a delivery, and a call of the
 * object that keeps blocks for all cells.
 */
const latencyMs = { node: 150, database: 10, receiver: 50, blocks: 10 }
const slowMs = 5_000
/** How much virtual time passes between two looks at the machine's clock. */
const sliceMs = 3_000

/**
 * Starts the service at a time when block `firstHeight` is final. Its nodes have mainnet's timing.
 */
export async function startVirtual(blocks: BenchBlocks, options: VirtualOptions = {}): Promise<VirtualService> {
  const scheduler = createScheduler(blocks.timeOf(firstHeight + 2 * finalityBlocks))
  const { nodeMs = latencyMs.node, extraMs = () => 0 } = options
  const nodes = Array.from({ length: options.nodes ?? 2 }, (_, i) => createNode(i + 1, blocks, nodeMs))
  const received = new Map<number, number>()
  const cells = Array.from({ length: options.cells ?? 1 }, () => createCell(scheduler))
  const platformOf = (asking: Asking) => createPlatform(scheduler, nodes, asking, received, extraMs)
  const ask = (what: string) => {
    throw new Error(`only a scanner asks nodes: ${what}`)
  }
  const platform = platformOf({ ask, isExpected: () => false })
  const bindings: Record<string, unknown> = {
    ...serviceVariables(nodes.map(({ url }) => url)),
    ...variablesOfCells(cells.map(({ db }) => db)),
    SCAN_EVERY_SECONDS: 20,
    WEBHOOKS: [{ url: receiverUrl, secretVar: 'HOOK_SECRET' }],
    HOOK_SECRET: `whsec_${btoa('the secret of the receiver')}`,
    ...options.variables,
  }
  const objects = objectsIn(scheduler, cells, bindings, platform, platformOf)
  Object.assign(bindings, objects)
  const service = createService(platform)
  const complete = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false
    const ended = work.finally(() => {
      isOver = true
    })
    ended.catch(() => undefined) // a rejection is handled where `ended` is awaited below
    await scheduler.runUntil(() => isOver)
    return await ended
  }
  const cron = () => {
    scheduler.after(60_000, cron)
    void service.scheduled(bindings)
  }
  cron()
  const [first] = cells
  if (first === undefined) throw new Error('a deployment has at least one cell')
  return {
    cells,
    sqlite: first.sqlite,
    ticks: first.ticks,
    received,
    requests: () => cells.reduce((sum, { costs }) => sum + costs.requests, 0),
    busiestSecond: () => Math.max(...nodes.map((node) => node.busiestSecond())),
    clock: scheduler,
    now: scheduler.now,
    fetch: (request) => service.fetch(request, bindings),
    ledger: service.ledger(bindings),
    waitForDeposit: (...call) => objects.SCANNER.getByName(scannerName({ suffix: '' })).waitForDeposit(...call),
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
    fail: (fault, node = 1) => nodes[node - 1]?.fail(fault, scheduler.now),
    nodeFetch: platformOf({ ask: () => undefined, isExpected: () => true }).fetch,
    nodeUrls: nodes.map(({ url }) => url),
  }
}

/** The bindings of the Durable Objects. The name of a scanner says to which cell it belongs. */
function objectsIn(
  scheduler: Scheduler,
  cells: readonly ReturnType<typeof createCell>[],
  bindings: Record<string, unknown>,
  platform: Platform,
  platformOf: (asking: Asking) => Platform,
) {
  const cellNamed = (name: string) => {
    const cell = cells[Number(/ DB_(\d+)$/.exec(name)?.[1] ?? 1) - 1]
    if (cell === undefined) throw new Error(`no cell has the object ${name}`)
    return cell
  }
  const scannerOf = (host: ObjectHost, name: string) =>
    createScannerObject(platformOf(cellNamed(name)), bindings, host, name)
  const measured = (alarm: () => Promise<void>, name: string) => cellNamed(name).measure(alarm)
  const endpointOf = (host: ObjectHost, name: string) => createEndpointObject(platform, bindings, host, name)
  return {
    SCANNER: { getByName: objectsOf(scheduler, scannerOf, measured) },
    ENDPOINT: { getByName: objectsOf(scheduler, endpointOf) },
    BLOCKS: { getByName: objectsOf(scheduler, () => createBlocks(platform, scheduler)) },
  }
}

/**
 * Is told of each request to a node. `isExpected`: failures and alarms are expected, and are not
 * printed.
 */
interface Asking {
  ask(what: string): void
  isExpected(): boolean
}

/** Makes a cell: its database, and the counts of its requests, statements and ticks. */
function createCell(scheduler: Scheduler) {
  const costs: TickCost = { requests: 0, statements: 0 }
  const ticks: Tick[] = []
  const asked = new Map<string, number>()
  const store = openSqliteD1()
  let [isAway, wasAway] = [false, false]
  const db = store.connect(async (work, statements) => {
    costs.statements += statements.length
    await scheduler.sleep(latencyMs.database / 2)
    if (isAway) throw new Error('D1_ERROR: the database is away')
    const result = work()
    await scheduler.sleep(latencyMs.database / 2)
    return result
  })
  return {
    sqlite: store.sqlite,
    db: withSessions(db),
    costs,
    ticks,
    asked,
    ask(what: string) {
      costs.requests += 1
      asked.set(what, (asked.get(what) ?? 0) + 1)
    },
    isExpected: () => wasAway,
    async measure(alarm: () => Promise<void>) {
      const before = { ...costs, startedAt: scheduler.now() }
      await alarm()
      const requests = costs.requests - before.requests
      const statements = costs.statements - before.statements
      ticks.push({ requests, statements, startedAt: before.startedAt, endedAt: scheduler.now() })
    },
    setAway(away: boolean) {
      isAway = away
      wasAway = true
    },
  }
}

/**
 * The object that keeps blocks for all cells. Values are copied, as the platform does it between
 * two objects.
 */
function createBlocks(platform: Platform, scheduler: Scheduler): SharedBlocks {
  const shared = createBlocksObject(platform)
  return {
    async take(key, keptMs) {
      await scheduler.sleep(latencyMs.blocks)
      return structuredClone(await shared.take(key, keptMs))
    },
    async give(key, value) {
      const copy = structuredClone(value)
      await scheduler.sleep(latencyMs.blocks)
      await shared.give(key, copy)
    },
  }
}

interface VirtualNode {
  readonly url: string
  fail(fault: NodeFault, now: () => number): void
  /** The body of the reply to a request. */
  answer(path: string, body: string, now: number): string
  latencyMs(): number
  busiestSecond(): number
}

function createNode(node: number, blocks: BenchBlocks, nodeMs: number): VirtualNode {
  let [code, isPassedOn] = ['SUCCESS', true]
  const broadcast = (transaction: string) => {
    blocks.broadcast?.(transaction, node, isPassedOn)
    return code
  }
  let answer = createAnswer(blocks, broadcast)
  let heads = (now: number) => headsAt(blocks, now)
  let latency = nodeMs
  const second = { number: 0, requests: 0, most: 0 }
  return {
    url: `https://node-${node}.test`,
    answer(path, body, now) {
      const number = Math.floor(now / 1000)
      second.requests = number === second.number ? second.requests + 1 : 1
      second.number = number
      second.most = Math.max(second.most, second.requests)
      return answer(path, body, heads(now))
    },
    latencyMs: () => latency,
    busiestSecond: () => second.most,
    fail(fault, now) {
      if (fault.kind === 'slow') latency = slowMs
      if (fault.kind === 'no answer') latency = Number.POSITIVE_INFINITY
      if (fault.kind === 'refuses') code = 'SIGERROR'
      if (['refuses', 'swallows', 'stands still'].includes(fault.kind)) isPassedOn = false
      const { latest, finalized } = headsAt(blocks, now())
      if (fault.kind === 'stands still') heads = () => ({ latest, finalized })
      if (fault.kind === 'lying tail') {
        answer = createAnswer(
          withLyingTail(blocks, () => headsAt(blocks, now()).finalized, fault),
          broadcast,
        )
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
  { ask, isExpected }: Asking,
  received: Map<number, number>,
  extraMs: NonNullable<VirtualOptions['extraMs']>,
): Platform {
  const quiet = () => undefined
  const report = (what: string, fields: object) => {
    if (!isExpected()) printLine(`${what} ${JSON.stringify(fields)}`)
  }
  const fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = String(input)
    if (url === receiverUrl) {
      await scheduler.sleep(latencyMs.receiver)
      const { id } = JSON.parse(String(init.body)) as { id: number } // safe: the service sends this body
      received.set(id, scheduler.now())
      return new Response(null, { status: 204 })
    }
    const { origin, pathname } = new URL(url)
    ask(pathname === '/jsonrpc' ? methodsOf(String(init.body)) : pathname)
    const node = nodes.find((one) => one.url === origin)
    if (node === undefined) throw new TypeError(`nothing listens at ${url}`)
    const answer = node.answer(pathname, String(init.body), scheduler.now())
    await passes(scheduler, node.latencyMs() + extraMs(String(init.body), answer), init.signal ?? null)
    return replyOf(answer)
  }
  return {
    clock: scheduler,
    logger: { info: quiet, warn: quiet, error: report, alarm: report },
    fetch,
    uniqueName: randomUUID,
    waitUntil: (work) => void work.catch(quiet),
  }
}

/** The methods of a JSON-RPC request, each once. */
function methodsOf(body: string): string {
  const calls: { readonly method: string } | readonly { readonly method: string }[] = JSON.parse(body)
  return [...new Set([calls].flat().map(({ method }) => method))].join()
}

/** Waits `ms` of virtual time. Throws as `fetch` does if the signal is aborted before. */
async function passes(scheduler: Scheduler, ms: number, signal: AbortSignal | null): Promise<void> {
  const isGivenUp = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(new TypeError('fetch failed')))
  })
  await (Number.isFinite(ms) ? Promise.race([scheduler.sleep(ms), isGivenUp]) : isGivenUp)
}

/** A response whose body is read within microtasks, so that no virtual time passes meanwhile. */
function replyOf(text: string): Response {
  const bytes = Buffer.from(text, 'latin1')
  const body = {
    async *[Symbol.asyncIterator]() {
      yield bytes
    },
    cancel: async () => undefined,
  }
  // the part of a response that the service reads
  return { status: 200, ok: true, headers: new Headers(), body } as unknown as Response
}
