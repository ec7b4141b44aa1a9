import type { UnixMs } from '../../src/worker/common/time.ts'
import type { ObjectHost } from '../../src/worker/platform/object-host.ts'

/**
 * The storage and the alarm of a Durable Object, in memory. They outlive the instances that use
 * them.
 */
export interface MemoryHost extends ObjectHost {
  /** When the alarm is due, or null. The test must run it. */
  alarmAt: UnixMs | null
  readonly values: Map<string, unknown>
  /** The newest timer, which the test must run, or null. */
  timer: { readonly ms: number; readonly work: () => Promise<void> } | null
}

export function createMemoryHost(): MemoryHost {
  const values = new Map<string, unknown>()
  const host: MemoryHost = {
    alarmAt: null,
    timer: null,
    values,
    later(ms, work) {
      host.timer = { ms, work }
    },
    async setAlarm(at) {
      host.alarmAt = at
    },
    alarm: async () => host.alarmAt,
    load: async <T>(key: string) => structuredClone(values.get(key)) as T | undefined, // a copy, as from real storage
    save(key, value) {
      values.set(key, structuredClone(value))
    },
  }
  return host
}
