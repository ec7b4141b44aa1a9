import type { UnixMs } from '../common/time.ts'

/** The parts of a Durable Object that the code in it uses. Tests and the simulation pass their own. */
export interface ObjectHost {
  /** Sets the object's only alarm, and replaces an earlier one. */
  setAlarm(at: UnixMs): Promise<void>
  /** When the alarm is due, or null. While the alarm runs, there is none. */
  alarm(): Promise<UnixMs | null>
  /** Reads a small value from the object's storage; undefined if there is none. */
  load<T>(key: string): Promise<T | undefined>
  /** Stores a value. The platform holds back every later request until the value is stored. */
  save<T>(key: string, value: T): void
}

/** Makes the host from the storage of a Durable Object. */
export function hostOf(storage: DurableObjectStorage): ObjectHost {
  return {
    setAlarm: (at) => storage.setAlarm(at),
    alarm: async () => (await storage.getAlarm()) as UnixMs | null, // safe: set by `setAlarm` alone
    load: async (key) => storage.kv.get(key),
    // Without await: the platform holds back later requests until it is stored.
    save: (key, value) => {
      storage.kv.put(key, value)
    },
  }
}
