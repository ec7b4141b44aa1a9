import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { type Address, parseAddress } from '../../src/chain/address.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createEndpointObject, createScannerObject, createService, type Platform } from '../../src/compose.ts'
import type { ObjectHost } from '../../src/platform/object-host.ts'
import { withSessions } from '../simulation/database.ts'
import { createScheduler, type Scheduler } from '../simulation/scheduler.ts'
import { createMemoryHost } from '../support/memory-host.ts'
import { printLine } from '../support/project.ts'
import { openSqliteD1, type SqliteD1 } from '../support/sqlite-d1.ts'
import { type BenchBlocks, finalityBlocks, firstHeight, slotMs } from './mainnet.ts'
import { type BenchHeads, createAnswer } from './replies.ts'
import { serviceVariables } from './variables.ts'

/** What one tick has cost. */
export interface TickCost {
  /** Requests to all nodes together. */
  requests: number
  statements: number
}

/** The service as it is composed, in virtual time: hours pass in seconds, and every count is exact. */
export interface VirtualService {
  readonly sqlite: DatabaseSync
  readonly ticks: readonly TickCost[]
  /** Requests to all nodes together until now. */
  requests(): number
  /** By the id of an event: when its receiver had it. */
  readonly received: ReadonlyMap<number, number>
  now(): number
  /** The deposit address of a user. */
  addressOf(uid: number): Promise<Address>
  run(ms: number): Promise<void>
}

const nodeUrls = ['https://node-1.test', 'https://node-2.test']
const receiverUrl = 'http://127.0.0.1:9/events'
/** How long a request to a node, a trip to the database and a delivery take. */
const latencyMs = { node: 150, database: 10, receiver: 50 }

/** Starts the service at the time of block `firstHeight` and the blocks that make it final. Its nodes have mainnet's timing. */
export async function startVirtual(
  blocks: BenchBlocks,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<VirtualService> {
  const scheduler = createScheduler(blocks.timeOf(firstHeight + 2 * finalityBlocks))
  const costs: TickCost = { requests: 0, statements: 0 }
  const ticks: TickCost[] = []
  const received = new Map<number, number>()
  const store = openSqliteD1()
  const platform = createPlatform(scheduler, blocks, costs, received)
  const bindings: Record<string, unknown> = {
    ...serviceVariables(nodeUrls),
    DB: connectDatabase(store, scheduler, costs),
    SCAN_EVERY_SECONDS: 20,
    WEBHOOKS: [{ url: receiverUrl, secretVar: 'HOOK_SECRET' }],
    HOOK_SECRET: `whsec_${btoa('the secret of the receiver')}`,
    ...changes,
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
    now: scheduler.now,
    async addressOf(uid) {
      const answer = await complete(service.ledger(bindings).address(uid))
      const parsed = parseAddress(answer.ok ? answer.address : '')
      if (!parsed.ok) throw new Error(`no address: ${JSON.stringify(answer)}`)
      return parsed.value
    },
    run: (ms) => complete(scheduler.wait(ms)),
  }
}

/** The objects of a class by their names: each is made when it is first called. */
function objectsOf<T extends { alarm(): Promise<void> }>(
  scheduler: Scheduler,
  create: (host: ObjectHost) => T,
  fire: (alarm: () => Promise<void>) => Promise<void>,
): (name: string) => T {
  const objects = new Map<string, T>()
  return (name) => {
    const known = objects.get(name)
    if (known !== undefined) return known
    const created: T = create(createHost(scheduler, () => fire(() => created.alarm())))
    objects.set(name, created)
    return created
  }
}

function connectDatabase(store: SqliteD1, scheduler: Scheduler, costs: TickCost): D1Database {
  const db = store.connect(async (work, statements) => {
    costs.statements += statements.length
    await scheduler.wait(latencyMs.database / 2)
    const result = work()
    await scheduler.wait(latencyMs.database / 2)
    return result
  })
  return withSessions(db)
}

function headsAt(blocks: BenchBlocks, now: number): BenchHeads {
  const latest = firstHeight + Math.floor((now - blocks.timeOf(firstHeight)) / slotMs)
  return { latest, finalized: latest - finalityBlocks }
}

function createPlatform(
  scheduler: Scheduler,
  blocks: BenchBlocks,
  costs: TickCost,
  received: Map<number, number>,
): Platform {
  const answer = createAnswer(blocks)
  const quiet = () => undefined
  const report = (what: string, fields: object) => printLine(`${what} ${JSON.stringify(fields)}`)
  const fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = String(input)
    if (url === receiverUrl) {
      await scheduler.wait(latencyMs.receiver)
      const { id } = JSON.parse(String(init.body)) as { id: number } // the service's own
      received.set(id, scheduler.now())
      return new Response(null, { status: 204 })
    }
    costs.requests += 1
    await scheduler.wait(latencyMs.node)
    return replyOf(answer(new URL(url).pathname, String(init.body), headsAt(blocks, scheduler.now())))
  }
  return {
    clock: { now: () => scheduler.now() as UnixMs, sleep: scheduler.wait, random: () => 0.5 }, // milliseconds since 1970
    logger: { info: quiet, warn: quiet, error: report, alarm: report },
    fetch,
    uniqueName: randomUUID,
    waitUntil: (work) => void work.catch(quiet),
  }
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
  let alarms = 0
  return {
    ...host,
    alarm: async () => host.alarmAt,
    async setAlarm(at) {
      host.alarmAt = at
      alarms += 1
      const own = alarms
      scheduler.after(at - scheduler.now(), () => {
        if (alarms !== own) return // it was replaced
        host.alarmAt = null
        void fire()
      })
    },
  }
}
