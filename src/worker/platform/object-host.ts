import type { UnixMs } from '../common/time.ts'

/** What a Durable Object gives to the plain code in it. Tests and the simulation have their own. */
export interface ObjectHost {
  /** Sets the only alarm; an earlier one is replaced. */
  setAlarm(at: UnixMs): Promise<void>
  /** When the alarm is due, or null. While the alarm runs there is none. */
  alarm(): Promise<UnixMs | null>
  /** A small value of the object's own storage, or undefined. */
  load<T>(key: string): Promise<T | undefined>
  /** Stores it. The platform sends no request that follows before it is stored. */
  save<T>(key: string, value: T): void
}

/** The host over the storage of a Durable Object. */
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
