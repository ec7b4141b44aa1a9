import type { AlarmKind, LogFields } from '../../src/platform/logger.ts'
import type { SqliteD1 } from '../support/sqlite-d1.ts'
import { checkAlarm } from './alarm-checks.ts'
import { type Backend, createBackend } from './callers/backend.ts'
import { type Client, createClient } from './callers/client.ts'
import { connectToDatabase, isDatabaseFault } from './database.ts'
import { createEndpoints, type Endpoints } from './endpoints.ts'
import type { Environment } from './environment.ts'
import { createInvariantCheck } from './invariants.ts'
import { type AnyFetch, createInvocation, type Invocation, runIn } from './invocation.ts'
import { connectDatabase, createIsolate, type Isolate } from './isolate.ts'
import { connectToNodes } from './network.ts'
import { createNodes, type Nodes } from './nodes.ts'
import type { Random } from './random.ts'
import { createStored, type Stored } from './stored.ts'

/** A run: its environment, its nodes, its database and the service. */
export interface SimulatedRun {
  readonly env: Environment
  readonly nodes: Nodes
  readonly endpoints: Endpoints
  readonly stored: Stored
  /** The environment of backends: the same with a source of randomness of its own, so that posts change no other draw. */
  readonly backends: Environment
  /** Starts one tick. The promise resolves at its end, or never where it is killed. */
  tick(): Promise<void>
  /** Starts one request in an invocation of this kind. The promise resolves as that of `tick`. */
  request(kind: string, act: (client: Client) => Promise<void>): Promise<void>
  /** Starts one call of a backend. The promise resolves as that of `tick`. */
  post(act: (backend: Backend) => Promise<void>): Promise<void>
}

/** What an invocation does. */
type Work = (isolate: Isolate, invocation: Invocation) => Promise<void>

/** A run with two isolates of the service, each of which can be lost and replaced before any invocation. */
export function createRun(
  env: Environment,
  store: SqliteD1,
  backendRandom: Random,
  endpointRandom: Random,
): SimulatedRun {
  const endpoints = createEndpoints(env, endpointRandom)
  const stored = createStored(store.sqlite)
  const nodes = createNodes(env, () => stored.scan()?.height ?? 0)
  const checkInvariants = createInvariantCheck(env, stored)
  const db = connectDatabase(store)
  const isolates = [createIsolate(env, nodes, db), createIsolate(env, nodes, db)]
  const bookmarks = new Map<string | null, string>()
  let started = 0
  let open = 0

  // Reads and writes of anything but `random` are those of the environment itself.
  const backends: Environment = Object.create(env, { random: { value: backendRandom } })
  // What an isolate reads first would otherwise be read by a post, and with its draws.
  let backendIsolate = createIsolate(backends, nodes, db)
  const act = async (caller: Environment, kind: string, isolate: Isolate, work: Work) => {
    started += 1
    env.count(`call: ${kind}`)
    if (open > 0) env.count('invocations at once')
    const invocation = createInvocation(caller, kind, started, isolate.skewMs)
    const onWrite = () => {
      checkInvariants(invocation.name)
      for (const observer of env.observers) observer()
    }
    open += 1
    try {
      const ports = {
        invocation,
        fetch: connect(caller, nodes, endpoints, invocation),
        roundTrip: connectToDatabase(caller, invocation, onWrite),
        log: createLog(env, invocation),
      }
      await runIn(ports, () => work(isolate, invocation))
    } catch (cause) {
      if (!isDatabaseFault(cause)) {
        env.violate(`${invocation.name} threw ${cause instanceof Error ? cause.stack : String(cause)}`)
      }
    }
    open -= 1
  }
  const invoke = (kind: string, work: Work) => {
    const { random } = env
    if (random.chance(0.02)) isolates[random.int(0, 1)] = createIsolate(env, nodes, db)
    return act(env, kind, random.pick(isolates), work)
  }
  return {
    env,
    nodes,
    endpoints,
    stored,
    backends,
    post(send) {
      if (backendRandom.chance(0.05)) backendIsolate = createIsolate(backends, nodes, db)
      return act(backends, 'post', backendIsolate, (isolate, invocation) =>
        send(createBackend({ env: backends, stored, invocation }, isolate)),
      )
    },
    tick: () => invoke('tick', (isolate) => isolate.tick()),
    request: (kind, act) =>
      invoke(kind, ({ fetch }, invocation) => act(createClient({ env, stored, invocation }, fetch, bookmarks))),
  }
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

/** Traces each log line, and checks those that report a bug or need a cause. */
function createLog(env: Environment, { name: invocation }: Invocation) {
  return (level: 'info' | 'warn' | 'error' | 'alarm', name: string, fields: LogFields) => {
    env.trace(() => `${invocation} ${level} ${name} ${JSON.stringify(fields)}`)
    if (level === 'alarm') checkAlarm(env, name as AlarmKind, fields) // the alarm method's own argument
    // Drizzle's message does not contain that of its cause.
    if (name === 'request-crashed' && !/D1_ERROR|Failed query/.test(String(fields.text))) {
      env.violate(`${invocation} crashed: ${fields.text}`)
    }
  }
}

/** Lets virtual time pass. */
export async function pass({ scheduler }: Environment, ms: number): Promise<void> {
  const until = scheduler.now() + ms
  scheduler.after(ms, () => undefined)
  await scheduler.runUntil(() => scheduler.now() >= until)
}

/** Lets virtual time pass until an invocation has ended. */
export async function finish(env: Environment, ending: Promise<void>): Promise<void> {
  let isOver = false
  void ending.then(() => {
    isOver = true
  })
  await env.scheduler.runUntil(() => isOver || env.violation !== null)
}
