import type { DatabaseSync } from 'node:sqlite'
import type { AlarmKind } from '../../src/worker/platform/alarm-table.ts'
import type { LogFields } from '../../src/worker/platform/logger.ts'
import { lostText } from '../../src/worker/platform/shared-runs.ts'
import type { RoundTrip, SqliteD1 } from '../support/sqlite-d1.ts'
import { checkAlarm } from './alarm-checks.ts'
import { createArchived, type SimulatedArchive } from './archive.ts'
import { isBucketFaultText } from './bucket.ts'
import { type Backend, createBackend } from './callers/backend.ts'
import { type Client, createClient } from './callers/client.ts'
import { connectToDatabase } from './database.ts'
import { createEndpoints, type Endpoints } from './endpoints.ts'
import type { Environment } from './environment.ts'
import { createInvariantCheck, type InvariantCheck } from './invariants.ts'
import { type AnyFetch, createInvocation, createLifetime, type Invocation, runIn } from './invocation.ts'
import {
  connectDatabase,
  createDeployment,
  type Deployment,
  type Isolate,
  platform,
  type Resources,
  wrongSettings,
} from './isolate.ts'
import { createKnownWrong } from './known-wrong.ts'
import { createNeighbour, type Neighbour } from './neighbour.ts'
import { connectToNodes } from './network.ts'
import { createNodes, type Nodes } from './nodes.ts'
import { isPlatformFault, isPlatformFaultText } from './objects.ts'
import { keyOf } from './payouts.ts'
import type { Random } from './random.ts'
import { createRateLimits } from './rate-limits.ts'
import type { Stored } from './stored.ts'

/** A run: its environment, its nodes, its database and the service. */
export interface SimulatedRun {
  readonly env: Environment
  readonly nodes: Nodes
  readonly endpoints: Endpoints
  readonly stored: Stored
  readonly store: SqliteD1
  /** Null in a run without an archive. */
  readonly archive: SimulatedArchive | null
  /** `env` with another source of random numbers, for backends: posts then change no other draw. */
  readonly backends: Environment
  /**
   * Starts one minute of the cron. The promise resolves at its end, or never where it is killed.
   */
  cron(): Promise<void>
  /** Starts one request in an invocation of this kind. The promise resolves as that of `cron`. */
  request(kind: string, act: (client: Client) => Promise<void>): Promise<void>
  /** Starts one call of a backend. The promise resolves as that of `cron`. */
  post(act: (backend: Backend) => Promise<void>): Promise<void>
  /**
   * Starts one request about payouts in an invocation of this kind. The promise resolves with its
   * answer, or never where it is killed.
   */
  ledger<T>(kind: string, send: (fetch: Isolate['fetch'], invocation: Invocation) => Promise<T>): Promise<T>
  /** Starts one call about orders in an invocation of this kind; see `ledger`. */
  orders<T>(kind: string, send: (isolate: Isolate, invocation: Invocation) => Promise<T>): Promise<T>
  /**
   * Starts a tick, or a request, of a deployment with a setting that contradicts what is stored.
   * The tick or request must do nothing.
   */
  misconfigured(act: ((client: Client) => Promise<void>) | null): Promise<void>
  /** The other cell of the deployment, or null. */
  readonly neighbour: Neighbour | null
  /** Runs `work` in an isolate of its own. The promise resolves as that of `cron`. */
  inIsolate(work: (isolate: Isolate) => Promise<void>): Promise<void>
  /**
   * Replaces all isolates and objects: the deployed configuration has changed, or the service was
   * stopped.
   */
  deploy(): void
  /** Ends the scanner's instance: what it remembers of nodes is lost. */
  forgetNodes(): void
  /** Changes the database without the service. */
  repair(change: (sqlite: DatabaseSync) => void): void
}

/** How long a deployment with a wrong setting runs beside the right one. */
const wrongForMs = 45_000

/** The database of all runs, one after the other. */
export interface StoreOfRuns {
  readonly store: SqliteD1
  readonly stored: Stored
}

type Work = (isolate: Isolate, invocation: Invocation) => Promise<void>

/**
 * Makes a run with two isolates of the service, each of which can be replaced before any
 * invocation, and a third one for backends. A post in one of the two could be its first invocation,
 * and what an isolate does only once would draw from the random numbers of posts.
 */
export function createRun(
  env: Environment,
  { store, stored }: StoreOfRuns,
  backendRandom: Random,
  endpointRandom: Random,
): SimulatedRun {
  const endpoints = createEndpoints(env, endpointRandom)
  stored.forget()
  const nodes = createNodes(env, () => stored.scan()?.height ?? 0)
  const invariants = createInvariantCheck(env, stored)
  const accept = createAcceptance(env, stored, invariants)
  const ports = createPorts({ stored, nodes, endpoints, check: invariants.check })
  const refusing = createRefusal(env, stored, ports)
  // All members but `random` are those of `env`, its prototype.
  const backends: Environment = Object.create(env, { random: { value: backendRandom } })
  const resources = createResources(env, nodes, store, ports)
  const deployment = createDeployment(env, resources)
  const act = createCalls(ports)
  connectPayouts(env, stored)
  const payouts = createOwnCalls(env, env.payouts?.random, deployment.startIsolate, act)
  const orders = createOwnCalls(env, env.orders?.random, deployment.startIsolate, act)
  let isolates = [deployment.startIsolate(), deployment.startIsolate()]
  let backendIsolate = deployment.startIsolate()
  const bookmarks = new Map<string | null, string>()
  const invoke = (kind: string, work: Work) => {
    if (env.random.chance(0.02)) isolates[env.random.int(0, 1)] = deployment.startIsolate()
    return act(env, kind, env.random.pick(isolates), work)
  }
  const asking = (send: (client: Client) => Promise<void>) => (isolate: Isolate, invocation: Invocation) =>
    send(createClient({ env, stored, invocation }, isolate.fetch, bookmarks))
  return {
    env,
    nodes,
    endpoints,
    stored,
    store,
    archive: resources.archive,
    backends,
    post(send) {
      if (backendRandom.chance(0.05)) backendIsolate = deployment.startIsolate()
      return act(backends, 'post', backendIsolate, (isolate, invocation) =>
        send(createBackend({ env: backends, stored, invocation }, isolate)),
      )
    },
    ledger: (kind, send) => payouts.call(kind, ({ fetch }, invocation) => send(fetch, invocation)),
    orders: orders.call,
    neighbour: resources.neighbour,
    inIsolate: (work) => act(env, 'neighbour', deployment.startIsolate(), work),
    cron: () => invoke('cron', (isolate) => isolate.scheduled()),
    request: (kind, send) => invoke(kind, asking(send)),
    misconfigured(send) {
      const alone = { ...resources, connect: refusing, neighbour: null }
      const wrong = createDeployment(env, alone, env.random.pick(wrongSettings))
      const isolate = wrong.startIsolate()
      env.scheduler.after(wrongForMs, () => removeObjects(wrong))
      return act(env, 'misconfigured', isolate, send === null ? (one) => one.scheduled() : asking(send), refusing)
    },
    deploy() {
      deployment.scanner.restart()
      deployment.endpoint.restart()
      deployment.archive?.restart()
      isolates = [deployment.startIsolate(), deployment.startIsolate()]
      backendIsolate = deployment.startIsolate()
      payouts.renew()
      orders.renew()
    },
    forgetNodes: () => deployment.scanner.restart(),
    repair(change) {
      change(store.sqlite)
      accept()
    },
  }
}

/**
 * Makes the ports of an invocation that may change nothing that the ledger and the scan consist of,
 * and may ask no node.
 */
function createRefusal(env: Environment, stored: Stored, ports: MakePorts) {
  return (invocation: Invocation) => {
    const usual = ports(env, invocation)
    const fetch: AnyFetch = (url) => {
      env.violate(`a deployment with a wrong setting asked ${url}`)
      return Promise.reject(new TypeError('fetch failed'))
    }
    return { ...usual, fetch, roundTrip: refusingChanges(env, stored, usual.roundTrip) }
  }
}

/** What the deployment of a run is bound to. */
function createResources(env: Environment, nodes: Nodes, store: SqliteD1, ports: MakePorts): Resources {
  const connect = (invocation: Invocation) => ports(env, invocation)
  const { neighbour: fate } = env.scenario
  const neighbour = fate === null ? null : createNeighbour(env, fate, platform, connect)
  const archive = createArchived(env, ports)
  return { nodes, db: connectDatabase(store), rateLimits: createRateLimits(env), connect, neighbour, archive }
}

function removeObjects({ scanner, endpoint, archive }: Deployment): void {
  scanner.remove()
  endpoint.remove()
  archive?.remove()
}

/**
 * Makes the function to be called after the operator has changed the database: all checks go on
 * from its present state.
 */
function createAcceptance(env: Environment, stored: Stored, invariants: InvariantCheck): () => void {
  return () => {
    stored.forget()
    invariants.accept()
    for (const observer of env.observers) observer()
  }
}

type MakePorts = ReturnType<typeof createPorts>

/** Makes the platform functions of an invocation. `check` is called after each trip that wrote. */
function createPorts(run: {
  readonly stored: Stored
  readonly nodes: Nodes
  readonly endpoints: Endpoints
  readonly check: InvariantCheck['check']
}) {
  const { nodes, endpoints, check } = run
  return (env: Environment, invocation: Invocation) => {
    const onTrip = () => {
      const changes = run.stored.takeChanges()
      if (changes.size === 0) return
      check(invocation.name, changes)
      for (const observer of env.observers) observer()
    }
    return {
      invocation,
      fetch: connect(env, nodes, endpoints, invocation),
      roundTrip: connectToDatabase(env, invocation, onTrip),
      log: createLog(env, invocation),
    }
  }
}

/** Makes the function that runs one invocation of a Worker. */
function createCalls(ports: MakePorts) {
  let started = 0
  let open = 0
  return async (
    env: Environment,
    kind: string,
    isolate: Isolate,
    work: Work,
    connectWith: (invocation: Invocation) => ReturnType<MakePorts> = (invocation) => ports(env, invocation),
  ): Promise<void> => {
    started += 1
    env.count(`call: ${kind}`)
    if (open > 0) env.count('invocations at once')
    const name = `${kind}-${started}`
    const invocation = createInvocation(env, kind, name, createLifetime(env, name, isolate.skewMs, 20))
    open += 1
    try {
      await runIn(connectWith(invocation), () => work(isolate, invocation))
    } catch (cause) {
      if (!isPlatformFault(cause)) {
        env.violate(`${invocation.name} threw ${cause instanceof Error ? cause.stack : String(cause)}`)
      }
    }
    open -= 1
  }
}

/** Lets the world of payouts read what the database has. */
function connectPayouts(env: Environment, stored: Stored): void {
  const { payouts: world } = env
  if (world === null) return
  world.bytesOf = stored.bytesOfPayout
  world.sentAt = stored.sentAtOf
  world.keyOfPayout = (id) => {
    const payout = stored.payoutById(id)
    return payout === undefined ? null : keyOf(payout)
  }
  world.debitOf = (key) => debitOf(stored, key)
  world.known = createKnownWrong(env, stored)
}

/**
 * Makes the calls about payouts, or about orders. They have an isolate and random numbers of their
 * own, so that they change no other draw. `random` is undefined in a run without them.
 */
function createOwnCalls(
  env: Environment,
  random: Random | undefined,
  start: () => Isolate,
  act: ReturnType<typeof createCalls>,
) {
  const own: Environment = Object.create(env, { random: { value: random } })
  let isolate = random === undefined ? null : start()
  return {
    renew() {
      if (random !== undefined) isolate = start()
    },
    call<T>(kind: string, send: (isolate: Isolate, invocation: Invocation) => Promise<T>): Promise<T> {
      if (isolate === null) throw new Error('a run without such calls')
      const { promise, resolve } = Promise.withResolvers<T>()
      void act(own, kind, isolate, async (by, invocation) => resolve(await send(by, invocation)))
      return promise
    },
  }
}

/**
 * What a wallet has paid for a payout, less what was given back; null if the database has no such
 * payout.
 */
function debitOf(stored: Stored, key: string): bigint | null {
  const [uid, cuy, osn = ''] = key.split(' ')
  const amounts = [2, 4, 5].map((type) => stored.entryOf(Number(uid), Number(cuy), type, osn)?.amount)
  if (amounts.every((amount) => amount === undefined)) return null
  return -amounts.reduce((sum: bigint, amount) => sum + (amount ?? 0n), 0n)
}

function refusingChanges(env: Environment, stored: Stored, roundTrip: RoundTrip): RoundTrip {
  const state = () => {
    const { scan, countCredited, countEntries, transfers, rescans } = stored
    const states = transfers().map(({ txid, position, state: name }) => `${txid} ${position} ${name}`)
    return JSON.stringify([scan(), countCredited(), countEntries(), states, rescans()])
  }
  return (work, statements, values) =>
    roundTrip(
      (failAt) => {
        const before = state()
        const result = work(failAt)
        if (state() !== before) env.violate(`a deployment with a wrong setting did ${statements.join('; ')}`)
        return result
      },
      statements,
      values,
    )
}

/** The network of one invocation. */
function connect(env: Environment, nodes: Nodes, endpoints: Endpoints, invocation: Invocation): AnyFetch {
  const fetchNode = connectToNodes(env, nodes, invocation)
  return async (url, init) => {
    if (!endpoints.has(url)) return fetchNode(url, String(init.body))
    const response = await endpoints.receive(invocation, url, init)
    if (response === null) throw new TypeError('fetch failed')
    return response
  }
}

/**
 * Traces each log line. Checks that each alarm has a cause in the run, and that a crashed request
 * is due to the database or the platform.
 */
function createLog(env: Environment, own: Invocation) {
  const { name: invocation } = own
  return (level: 'info' | 'warn' | 'error' | 'alarm', name: string, fields: LogFields) => {
    env.trace(() => `${invocation} ${level} ${name} ${JSON.stringify(fields)}`)
    noteNamed(env, level, name, fields)
    if (level === 'alarm') {
      const kind = name as AlarmKind // safe: an alarm is named by its kind
      env.alarmed.push({ kind, fields, at: env.scheduler.now() })
      checkAlarm(env, kind, fields, own.begunAt)
    }
    if (name === 'database-away' && String(fields.text).includes(lostText)) own.gaveUp = true
    const { why = '' } = fields
    const { platformFailed } = own
    if (name === 'tick-crashed' && !platformFailed && !isExcused(String(why)))
      env.violate(`${invocation} crashed: ${why}`)
    if (name === 'archive-stopped' && !isPlatformFaultText(String(why)) && !isBucketFaultText(String(why)))
      env.violate(`${invocation} has stopped: ${why}`)
    if (name === 'request-crashed' && !/D1_ERROR|Failed query|the platform ended/.test(String(fields.text))) {
      env.violate(`${invocation} crashed: ${fields.text}`)
    }
  }
}

/** Whether a crash is due to the platform. Drizzle's message does not contain that of its cause. */
const isExcused = (text: string) => isPlatformFaultText(text) || text.includes('Failed query')

function noteNamed({ named }: Environment, level: string, name: string, { node, otherNode }: LogFields): void {
  if (level !== 'alarm' && name !== 'node-error' && name !== 'node-slow') return
  for (const number of [node, otherNode]) {
    if (typeof number === 'number') named.set(number, new Set(named.get(number)).add(name))
  }
}

/** Lets virtual time pass. */
export async function pass({ scheduler }: Environment, ms: number): Promise<void> {
  const until = scheduler.now() + ms
  scheduler.after(ms, () => undefined)
  await scheduler.runUntil(() => scheduler.now() >= until)
}

/**
 * Lets virtual time pass until something is true, for so many milliseconds at most. Returns whether
 * it is true.
 */
export async function passUntil(env: Environment, isTrue: () => boolean, ms: number, stepMs = 500): Promise<boolean> {
  const until = env.scheduler.now() + ms
  while (env.violation === null && env.scheduler.now() < until && !isTrue()) await pass(env, stepMs)
  return isTrue()
}

/** Lets virtual time pass until an invocation has ended. */
export async function finish(env: Environment, ending: Promise<void>): Promise<void> {
  let isOver = false
  void ending.then(() => {
    isOver = true
  })
  await env.scheduler.runUntil(() => isOver || env.violation !== null)
}
