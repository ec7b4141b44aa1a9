import type { ObjectHost } from '../../src/worker/platform/object-host.ts'
import type { Scheduler } from '../simulation/scheduler.ts'
import { createMemoryHost } from '../support/memory-host.ts'

interface Alarmed {
  alarm(): Promise<void>
}

/**
 * An object that nobody has called for this long is evicted, unless a timer of it is running:
 * Cloudflare's page on the life of a Durable Object, November 2026.
 */
const evictedAfterMs = 10_000

/**
 * The objects of a class by their names. An instance is made when an object is called or its alarm
 * is due, and is evicted some time after the last call, as the platform does it: only its storage,
 * its alarm and the database outlive the instance.
 */
export function objectsOf<T extends object>(
  scheduler: Scheduler,
  create: (host: ObjectHost, name: string) => T,
  fire: (alarm: () => Promise<void>, name: string) => Promise<void> = (alarm) => alarm(),
): (name: string) => T {
  const stubs = new Map<string, T>()
  return (name) => {
    const stub =
      stubs.get(name) ??
      createObject(
        scheduler,
        (host) => create(host, name),
        (alarm) => fire(alarm, name),
      )
    stubs.set(name, stub)
    return stub
  }
}

function createObject<T extends object>(
  scheduler: Scheduler,
  create: (host: ObjectHost) => T,
  fire: (alarm: () => Promise<void>) => Promise<void>,
): T {
  let instance: T | null = null
  let [running, timers] = [0, 0]
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
          if (timers === 0) instance = null
        })
      }
    }
  }
  const later: ObjectHost['later'] = (ms, work) => {
    timers += 1
    scheduler.after(ms, () => {
      timers -= 1
      void use(work)
    })
  }
  const host = createHost(scheduler, later, () =>
    use((object) => fire(async () => ('alarm' in object ? (object as Alarmed).alarm() : undefined))),
  )
  type Method = (...args: unknown[]) => Promise<unknown>
  const methodOf =
    (name: keyof T) =>
    (...args: unknown[]) =>
      use((object) => (object[name] as Method)(...args)) // safe: an object has only methods
  return new Proxy({} as T, { get: (_, name) => methodOf(name as keyof T) })
}

function createHost(scheduler: Scheduler, later: ObjectHost['later'], fire: () => Promise<void>): ObjectHost {
  const host = createMemoryHost()
  let cancel: () => void = () => undefined
  return {
    ...host,
    later,
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
