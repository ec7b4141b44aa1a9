import type { UnixMs } from '../../src/worker/common/time.ts'
import type { ObjectHost } from '../../src/worker/platform/object-host.ts'

/** What a Durable Object keeps, in memory. It outlives the instances that use it. */
export interface MemoryHost extends ObjectHost {
  /** When the alarm is due, or null. Nothing runs it by itself. */
  alarmAt: UnixMs | null
  readonly values: Map<string, unknown>
}

/** A host without an alarm and without values. */
export function createMemoryHost(): MemoryHost {
  const values = new Map<string, unknown>()
  const host: MemoryHost = {
    alarmAt: null,
    values,
    async setAlarm(at) {
      host.alarmAt = at
    },
    alarm: async () => host.alarmAt,
    load: async <T>(key: string) => structuredClone(values.get(key)) as T | undefined, // as it was saved
    save(key, value) {
      values.set(key, structuredClone(value))
    },
  }
  return host
}
