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
