import type { UnixMs } from '../common/time.ts'

/**
 * What the code in a Durable Object uses of the platform: one alarm, timers of the instance, and a
 * small storage. Tests and the simulation pass their own.
 */
export interface ObjectHost {
  /** Sets the object's only alarm, in place of one that is set. */
  setAlarm(at: UnixMs): Promise<void>
  /** When the alarm is due; null if none is set. While the alarm's own call runs, none is set. */
  alarm(): Promise<UnixMs | null>
  /**
   * Runs `work`, which must not reject, after `ms` milliseconds. Nothing is stored: if this
   * instance has ended by then, `work` never runs.
   */
  later(ms: number, work: () => Promise<void>): void
  /** Reads the value under this key from the object's storage; undefined if there is none. */
  load<T>(key: string): Promise<T | undefined>
  /**
   * Stores a small value. It returns at once: the platform holds back whatever the object sends
   * until the value is stored.
   */
  save<T>(key: string, value: T): void
}

/** Makes the host of a Durable Object with SQLite storage, which alone has the synchronous `kv`. */
export function hostOf(storage: DurableObjectStorage): ObjectHost {
  return {
    setAlarm: (at) => storage.setAlarm(at),
    alarm: async () => (await storage.getAlarm()) as UnixMs | null, // safe: set by `setAlarm` alone
    later: (ms, work) => {
      setTimeout(() => void work(), ms)
    },
    load: async (key) => storage.kv.get(key),
    save: (key, value) => {
      storage.kv.put(key, value)
    },
  }
}
