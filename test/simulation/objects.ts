import type { UnixMs } from '../../src/worker/common/time.ts'
import type { ObjectHost } from '../../src/worker/platform/object-host.ts'
import { lostText } from '../../src/worker/platform/shared-runs.ts'
import { isDatabaseFault, isDatabaseFaultText } from './database.ts'
import type { Environment } from './environment.ts'
import {
  createInvocation,
  currentInvocation,
  drawSkew,
  type Invocation,
  type InvocationPorts,
  type Lifetime,
  runIn,
} from './invocation.ts'

/** The methods of a Durable Object, one of them its alarm. */
export type ObjectCode = Readonly<Record<string, (...parameters: never[]) => Promise<unknown>>>

/** The binding of a class of Durable Objects. */
export interface ObjectNamespace {
  getByName(name: string): unknown
  /** Ends every instance, as when another version is deployed or the service is stopped. */
  restart(): void
  /**
   * Runs the alarm of an object in another instance, also beside one that works. Does nothing if
   * the object has never had an alarm.
   */
  startBeside(name: string): void
  /** Ends every instance for good, and all alarms. */
  remove(): void
}

/** A class of Durable Objects: how an object is made and connected to the platform. */
export interface ObjectClass {
  readonly name: string
  create(host: ObjectHost): ObjectCode
  connect(invocation: Invocation): InvocationPorts
}

interface Platform {
  readonly env: Environment
  readonly objectClass: ObjectClass
  started: number
  events: number
  isRemoved: boolean
}

/** What the platform keeps of an object, whichever instance runs. */
interface Kept {
  readonly id: string
  readonly storage: Map<string, unknown>
  alarmAt: UnixMs | null
  /** How many alarms were set so far. Only the newest one can fire. */
  alarms: number
  instance: Instance | null
  /**
   * The alarm that is running. In the same instance, the next alarm waits until this one has ended.
   */
  running: { readonly instance: Instance; readonly since: number } | null
}

interface Instance extends Lifetime {
  readonly name: string
  /** Null until the first event of the instance. */
  code: ObjectCode | null
  /** How many events of the instance have not ended. */
  open: number
  /**
   * What its events did not wait for. While some of it is under way, the platform evicts no
   * instance.
   */
  readonly background: Set<Promise<unknown>>
  /**
   * Whether another instance has started. This one can store nothing any more, and ends where it
   * tries to.
   */
  isSuperseded: boolean
  /** What must be stored before the next request is sent, and before an event is answered. */
  readonly unsaved: Map<string, unknown>
  /** Stores what is unsaved; an instance that has ended stores nothing, and goes no further. */
  persist(): Promise<void>
  /** Ends the instance while nothing of it is under way: what it has saved is stored. */
  evict(): void
  stepsLeft: number
  end(why: string): void
  /** Rejects when the instance ends. */
  readonly ended: Promise<never>
}

const platformFault = 'the platform ended'
const describe = (cause: unknown) => (cause instanceof Error ? cause.stack : String(cause))

/**
 * Whether an error is one that the simulated platform threw, or what the service throws where a
 * call to the platform hangs.
 */
export const isPlatformFault = (cause: unknown): boolean =>
  isDatabaseFault(cause) || (cause instanceof Error && hasPlatformFault(cause.message))

/** Whether the text of an error has such an error. */
export const isPlatformFaultText = (text: string): boolean => isDatabaseFaultText(text) || hasPlatformFault(text)

const hasPlatformFault = (text: string) => text.includes(platformFault) || text.includes(lostText)

/**
 * Makes the objects of a class. The platform runs one instance of each object at a time, nearly
 * always. An instance can be killed at each step, evicted between its events, and superseded while
 * it works. Calls can be lost. Alarms can come late, twice, or not at all until they are set anew.
 */
export function createNamespace(env: Environment, objectClass: ObjectClass): ObjectNamespace {
  const objects = new Map<string, Kept>()
  const platform: Platform = { env, objectClass, started: 0, events: 0, isRemoved: false }
  const find = (id: string): Kept => {
    const kept = objects.get(id) ?? { id, storage: new Map(), alarmAt: null, alarms: 0, instance: null, running: null }
    objects.set(id, kept)
    return kept
  }
  const restart = () => {
    for (const { instance } of objects.values()) instance?.end('deployed anew')
  }
  const methodOf = (id: string, method: string) =>
    method === 'then' ? undefined : (...parameters: unknown[]) => call(platform, find(id), method, parameters)
  return {
    getByName: (id) => new Proxy({}, { get: (_, method) => methodOf(id, String(method)) }),
    restart,
    startBeside(id) {
      const kept = find(id)
      if (kept.alarms === 0) return
      if (kept.instance !== null) {
        if (kept.instance.open > 0) env.count(`${objectClass.name}: a second writer`)
        kept.instance.isSuperseded = true
      }
      kept.instance = null
      void fire(platform, kept, 1)
    },
    remove() {
      platform.isRemoved = true
      restart()
    },
  }
}

/** A call from a Worker or another object, over the network. What it sends and gets is copied. */
async function call(platform: Platform, kept: Kept, method: string, parameters: unknown[]): Promise<unknown> {
  const { env } = platform
  const { random, scheduler } = env
  const { invocation: caller } = currentInvocation()
  const travel = async (what: string) => {
    await scheduler.wait(random.int(1, 15))
    if (env.phase !== 'faults' || !random.chance(env.scenario.rates.database / 2)) return
    env.count(`object: ${what}`)
    throw new Error(`${platformFault} the connection: ${what}`)
  }
  await caller.step()
  try {
    await travel('call lost')
    const result = structuredClone(await runEvent(platform, kept, method, structuredClone(parameters)))
    await travel('answer lost')
    await caller.step()
    return result
  } catch (cause) {
    await caller.step()
    caller.platformFailed = true
    if (!isPlatformFault(cause)) env.violate(`${method} of ${kept.id} threw ${describe(cause)}`)
    // another machine gets only the message of an error
    throw new Error(cause instanceof Error ? cause.message : String(cause))
  }
}

/** Runs one event in the present instance, or in a new one. */
async function runEvent(platform: Platform, kept: Kept, method: string, parameters: unknown[]): Promise<unknown> {
  const { env, objectClass } = platform
  const { random, phase, scenario } = env
  const instance = chooseInstance(platform, kept)
  platform.events += 1
  const kind = `${objectClass.name} ${method}`
  env.count(`call: ${kind}`)
  const invocation = createInvocation(env, kind, `${instance.name}.${method}-${platform.events}`, instance)
  const isKilled = phase === 'faults' && random.chance(scenario.rates.kill)
  if (isKilled) instance.stepsLeft = Math.min(instance.stepsLeft, random.int(1, 60))
  instance.open += 1
  try {
    const work = runIn(objectClass.connect(invocation), async () => {
      instance.code ??= objectClass.create(hostOf(platform, kept, instance))
      return instance.code[method]?.(...(parameters as never[])) // safe: as the caller sent them
    })
    const result = await Promise.race([work, instance.ended])
    await Promise.race([instance.persist(), instance.ended]) // no answer leaves before what was saved is durable
    return result
  } finally {
    instance.open -= 1
    for (const work of invocation.background) {
      instance.background.add(work)
      void work.finally(() => instance.background.delete(work))
    }
  }
}

/** Runs what an instance has set a timer for, if the instance still lives. */
async function runTimer({ env, objectClass }: Platform, instance: Instance, work: () => Promise<void>): Promise<void> {
  if (instance.isOver()) return
  const kind = `${objectClass.name} timer`
  env.count(`call: ${kind}`)
  const invocation = createInvocation(env, kind, `${instance.name}.timer-${env.scheduler.now()}`, instance)
  instance.open += 1
  try {
    await Promise.race([runIn(objectClass.connect(invocation), work), instance.ended])
  } catch (cause) {
    if (!isPlatformFault(cause)) env.violate(`a timer of ${instance.name} threw ${describe(cause)}`)
  } finally {
    instance.open -= 1
    for (const one of invocation.background) {
      instance.background.add(one)
      void one.finally(() => instance.background.delete(one))
    }
  }
}

function chooseInstance(platform: Platform, kept: Kept): Instance {
  const { env } = platform
  const { random, phase } = env
  const { instance } = kept
  if (instance !== null && !instance.isOver()) {
    if (instance.open === 0 && phase === 'faults' && random.chance(0.05)) {
      env.count('object: evicted')
      instance.evict()
    } else if (instance.open > 0 && isSuperseded(platform)) {
      env.count('object: superseded')
      env.trace(() => `${instance.name} superseded`)
      instance.isSuperseded = true
    } else return instance
  }
  platform.started += 1
  env.instancesAt.push(env.scheduler.now())
  kept.instance = createInstance(env, `${kept.id.slice(0, 7)}-${platform.started}`, kept)
  return kept.instance
}

/** Whether the platform starts another instance beside the one that works. */
function isSuperseded({ env, objectClass }: Platform): boolean {
  if (objectClass.name === 'scanner' && env.supersedesScanner) {
    env.supersedesScanner = false
    return true
  }
  return env.phase === 'faults' && env.random.chance(env.scenario.rates.kill / 2)
}

function createInstance(env: Environment, name: string, kept: Kept): Instance {
  const { restores } = env
  const unsaved = new Map<string, unknown>()
  const store = () => {
    for (const [key, value] of unsaved) kept.storage.set(key, value)
    unsaved.clear()
  }
  let isEnded = false
  const ending = Promise.withResolvers<never>()
  ending.promise.catch(() => undefined) // an end for which nobody waits must be no unhandled rejection
  const instance: Instance = {
    name,
    skewMs: drawSkew(env),
    code: null,
    open: 0,
    background: new Set(),
    isSuperseded: false,
    unsaved,
    stepsLeft: Number.POSITIVE_INFINITY,
    ended: ending.promise,
    isOver: () => isEnded || env.restores > restores,
    end(why) {
      if (isEnded) return
      isEnded = true
      env.trace(() => `${name} ends: ${why}`)
      env.scheduler.after(env.random.int(1, 500), () => ending.reject(new Error(`${platformFault} ${name}: ${why}`)))
    },
    async step() {
      instance.stepsLeft -= 1
      if (instance.stepsLeft === 0 && !isEnded) env.count('object: killed')
      if (instance.stepsLeft <= 0) instance.end('killed')
      await instance.persist()
    },
    async persist() {
      if (instance.isSuperseded && unsaved.size > 0) instance.end('superseded')
      if (instance.isOver()) await new Promise(() => {})
      store()
    },
    evict() {
      if (!instance.isSuperseded && !instance.isOver()) store()
      instance.end('evicted')
    },
  }
  return instance
}

function hostOf(platform: Platform, kept: Kept, instance: Instance): ObjectHost {
  const { env } = platform
  const touch = async () => {
    if (instance.isSuperseded) instance.end('superseded')
    await instance.step()
  }
  return {
    async setAlarm(at) {
      await touch()
      env.trace(() => `${instance.name} sets its alarm in ${at - env.clockMs - env.scheduler.now()} ms`)
      setAlarm(platform, kept, at)
    },
    async alarm() {
      await touch()
      return kept.alarmAt
    },
    async load<T>(key: string) {
      await touch()
      const value = instance.unsaved.has(key) ? instance.unsaved.get(key) : kept.storage.get(key)
      return structuredClone(value) as T | undefined // safe: as the object stored it
    },
    later(ms, work) {
      env.scheduler.after(ms, () => void runTimer(platform, instance, work))
    },
    save(key, value) {
      instance.unsaved.set(key, structuredClone(value))
    },
  }
}

function setAlarm(platform: Platform, kept: Kept, at: UnixMs): void {
  const { env } = platform
  const { random, scheduler } = env
  kept.alarmAt = at
  kept.alarms += 1
  const fate =
    env.phase === 'faults' && random.chance(env.scenario.rates.kill / 4) ? random.pick(['lost', 'late']) : null
  if (fate !== null) env.count(`object: alarm ${fate}`)
  if (fate === 'lost')
    kept.alarmAt = null // the platform has given up the alarm
  else {
    // the platform counts from now on, whatever its clock does
    const dueMs = Math.max(0, at - env.clockMs - scheduler.now())
    fireAfter(platform, kept, dueMs + random.int(0, fate === 'late' ? 60_000 : 20), 1)
  }
}

/** Fires the alarm after `ms`, unless another one is set before. */
function fireAfter(platform: Platform, kept: Kept, ms: number, attempt: number): void {
  const { alarms } = kept
  platform.env.scheduler.after(ms, () => {
    if (kept.alarms === alarms) void fire(platform, kept, attempt)
  })
}

/** The longest time of a tick in milliseconds, whatever the tick waits for. */
const tickMsMax = 150_000
/** After this many milliseconds the platform ends an alarm. */
const alarmMsMax = 900_000

/**
 * Whether a new alarm must wait, because one is still running. Reports a tick that runs for too
 * long.
 */
function waitsForAlarm({ env, objectClass }: Platform, { running, instance, id }: Kept): boolean {
  if (running === null || running.instance !== instance || instance.isOver()) return false
  const ms = env.scheduler.now() - running.since
  if (objectClass.name === 'scanner' && ms > tickMsMax) env.violate(`a tick of ${id} runs for ${ms} ms`)
  if (ms > alarmMsMax) instance.end('its alarm takes too long')
  return true
}

/**
 * Runs the alarm in an instance. After it the platform evicts the instance, if the scenario says
 * so.
 */
async function runAlarm(platform: Platform, kept: Kept): Promise<void> {
  const { env, objectClass } = platform
  const ending = runEvent(platform, kept, 'alarm', [])
  const { instance } = kept
  if (instance === null) throw new Error('an alarm without an instance')
  const own = { instance, since: env.scheduler.now() }
  kept.running = own
  try {
    await ending
  } finally {
    if (kept.running === own) kept.running = null
    if (env.scenario.evicts && objectClass.name === 'scanner') void evict(env, instance)
  }
}

/**
 * The platform evicts an instance once nothing of it is under way. A storm in which the scanner
 * keeps no memory ends it at once, as a deployment does.
 */
async function evict({ scenario }: Environment, instance: Instance): Promise<void> {
  const isSudden = scenario.storm?.keepsMemory === false
  if (!isSudden) await Promise.all(instance.background)
  if (instance.open > 0) return
  if (isSudden) instance.end('deployed anew')
  else instance.evict()
}

/** How often an alarm that fails is tried at most. */
const triesMax = 7

/** Runs the alarm. A failed one is tried again, and a successful one may come a second time. */
async function fire(platform: Platform, kept: Kept, attempt: number): Promise<void> {
  const { env } = platform
  const { random, scheduler } = env
  if (platform.isRemoved) return
  if (scheduler.now() < env.sleepsUntil) {
    fireAfter(platform, kept, env.sleepsUntil - scheduler.now() + random.int(0, 1_000), attempt)
    return
  }
  if (waitsForAlarm(platform, kept)) {
    fireAfter(platform, kept, 250, attempt)
    return
  }
  kept.alarmAt = null
  const { alarms } = kept
  try {
    await runAlarm(platform, kept)
    if (platform.objectClass.name === 'scanner' && kept.alarms === alarms)
      env.violate('a tick ended without the next one')
    if (env.phase !== 'faults' || !random.chance(0.03)) return
    env.count('object: alarm twice')
    scheduler.after(random.int(0, 5_000), () => void fire(platform, kept, 1))
  } catch (cause) {
    if (!isPlatformFault(cause)) env.violate(`the alarm of ${kept.id} threw ${describe(cause)}`)
    if (kept.alarmAt === null && attempt < triesMax) fireAfter(platform, kept, 1_000 * 2 ** attempt, attempt + 1)
  }
}
