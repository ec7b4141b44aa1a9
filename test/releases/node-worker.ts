import { transformSync } from 'esbuild'
import type { ScannerCalls } from '../../src/worker/chain/chain.ts'

/** The exports of a bundle of the Worker. */
interface Exports {
  readonly default: {
    fetch(request: Request, bindings: Bindings): Promise<Response>
    scheduled(controller: unknown, bindings: Bindings): Promise<void>
  }
  readonly Scanner: new (ctx: unknown, env: Bindings) => ScannerCalls & { alarm(): Promise<void> }
  readonly Endpoint: new (ctx: unknown, env: Bindings) => object
  readonly Blocks: new (ctx: unknown, env: Bindings) => object
  readonly Ledger: new (ctx: unknown, env: Bindings) => object
}

type Bindings = Record<string, unknown>
type RpcMethod = (...given: readonly unknown[]) => Promise<unknown>

/** A bundle of the Worker, running in this process with a clock of its own. */
export interface NodeWorker {
  fetch(request: Request): Promise<Response>
  /** Calls a method of its RPC entrypoint. */
  call(method: string, given: readonly unknown[]): Promise<unknown>
  /** Waits for all that the Worker does in the background. */
  settled(): Promise<void>
  /** Runs the alarm of a scanner. */
  tick(scanner: string): Promise<void>
  /** Moves the clock to a time that is not before. */
  moveTo(ms: number): void
  /** Ends all timers. */
  stop(): void
}

export interface NodeWorkerOptions {
  /** Variables, secrets, databases and buckets. */
  readonly bindings: Bindings
  /** What the Durable Objects have stored, by name and key. */
  readonly objects: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** When it starts, in milliseconds since 1970. */
  readonly startMs: number
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly print: (line: string) => void
}

/** How long a new scanner waits for the instance before it; see `createWorld`. */
const restartMs = 2_000
/** Pauses up to this length take no real time; see `createWorld`. */
const pauseMsMax = 1_000

/**
 * Runs a bundle of the Worker, of whatever version, in this process: its clock stands still but for
 * pauses, so that it answers the same each time. Alarms are noted and never run.
 */
export function startInNode(
  script: string,
  { bindings, objects, startMs, fetch, print }: NodeWorkerOptions,
): NodeWorker {
  const time = createTime(startMs)
  const running = new Set<Promise<unknown>>()
  const platform = {
    ...{ DurableObject: Entrypoint, WorkerEntrypoint: Entrypoint },
    waitUntil(work: Promise<unknown>) {
      running.add(work)
      work.finally(() => running.delete(work)).catch(() => undefined) // whoever began it handles its error
    },
  }
  const worker = evaluate(script, {
    require: () => platform,
    Date: time.Date,
    setTimeout: time.setTimeout,
    console: { log: print },
    fetch: (input: unknown, init: RequestInit = {}) => fetch(String(input), init),
  })
  const contextOf = (name: string) => ({ id: { name }, storage: createStorage(objects[name] ?? {}) })
  const scanners = objectsOf((name) => {
    if (objects[name] !== undefined) time.moveTo(time.Date.now() + restartMs)
    return new worker.Scanner(contextOf(name), env)
  })
  const env: Bindings = {
    ...bindings,
    SCANNER: scanners,
    ENDPOINT: objectsOf((name) => new worker.Endpoint(contextOf(name), env)),
    BLOCKS: objectsOf((name) => new worker.Blocks(contextOf(name), env)),
  }
  return {
    fetch: (request) => worker.default.fetch(request, env),
    async call(method, given) {
      const ledger = new worker.Ledger(null, env) as Readonly<Record<string, RpcMethod | undefined>>
      const answer = await ledger[method]?.(...given)
      if (answer === undefined) throw new Error(`the Worker has no method ${method}`)
      return answer
    },
    async settled() {
      while (running.size > 0) await Promise.allSettled(running)
    },
    tick: (scanner) => scanners.getByName(scanner).alarm(),
    moveTo: time.moveTo,
    stop: time.stop,
  }
}

/** The base of all classes of a Worker. */
class Entrypoint {
  readonly ctx: unknown
  readonly env: Bindings
  constructor(ctx: unknown, env: Bindings) {
    this.ctx = ctx
    this.env = env
  }
}

/** Runs a module whose free names have these values, and returns its exports. */
function evaluate(script: string, names: Readonly<Record<string, unknown>>): Exports {
  const { code } = transformSync(script, { format: 'cjs' })
  const module = { exports: {} }
  new Function('module', 'exports', ...Object.keys(names), code)(module, module.exports, ...Object.values(names))
  return module.exports as Exports // safe: what every version of the Worker exports
}

function objectsOf<T>(create: (name: string) => T): { getByName(name: string): T } {
  const made = new Map<string, T>()
  return {
    getByName(name) {
      const object = made.get(name) ?? create(name)
      made.set(name, object)
      return object
    },
  }
}

/** The storage of a Durable Object, and its alarm. */
function createStorage(stored: Readonly<Record<string, unknown>>) {
  const values = new Map(Object.entries(stored))
  let alarm: number | null = null
  return {
    setAlarm: async (at: number) => {
      alarm = at
    },
    getAlarm: async () => alarm,
    kv: { get: (key: string) => structuredClone(values.get(key)), put: values.set.bind(values) },
  }
}

/** A clock that moves by pauses alone. */
function createTime(startMs: number) {
  let now = startMs
  const timers = new Set<NodeJS.Timeout>()
  const wait = (work: () => void, ms: number) => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      work()
    }, ms)
    timers.add(timer)
    return timer
  }
  class VirtualDate extends Date {
    constructor(...given: readonly unknown[]) {
      // safe: what callers give is what `Date` takes
      super(...((given.length === 0 ? [now] : given) as [number]))
    }
    static override now() {
      return now
    }
  }
  return {
    Date: VirtualDate,
    moveTo(ms: number) {
      now = Math.max(now, ms)
    },
    setTimeout(work: () => void, ms: number) {
      if (ms > pauseMsMax) return wait(work, ms)
      const end = now + ms
      return wait(() => {
        now = Math.max(now, end)
        work()
      }, 0)
    },
    /** Ends all timers. */
    stop: () => timers.forEach(clearTimeout),
  }
}
