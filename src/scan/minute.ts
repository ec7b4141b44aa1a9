import type { Clock } from '../platform/clock.ts'
import { minuteMs } from '../platform/limits.ts'

/** What the ticks of one minute need. */
export interface MinuteParts {
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /** How often a tick begins: 10 to 60. */
  readonly everySeconds: number
  /** One tick; the first one of a minute also does what is done once in a minute. */
  readonly tick: (isFirst: boolean) => Promise<void>
  /** Called at the end of each tick, however it ends. Nothing waits for what it starts. */
  readonly afterTick: () => void
}

/** How many ticks begin within a minute. */
export function ticksPerMinute(everySeconds: number): number {
  return Math.ceil(minuteMs / 1000 / everySeconds)
}

/**
 * The ticks of one minute, one after the other. One that takes longer than the interval leaves out those that were to begin
 * meanwhile. Throws what the first failed tick has thrown, after all of them.
 */
export async function runMinute({ clock, everySeconds, tick, afterTick }: MinuteParts): Promise<void> {
  const startedAt = clock.now()
  const everyMs = everySeconds * 1000
  const thrown: unknown[] = []
  for (let i = 0; i < ticksPerMinute(everySeconds); i += 1) {
    const waitMs = startedAt + i * everyMs - clock.now()
    if (waitMs <= -everyMs) continue
    if (waitMs > 0) await clock.sleep(waitMs)
    try {
      await tick(i === 0)
    } catch (error) {
      thrown.push(error)
    }
    afterTick()
  }
  if (thrown.length > 0) throw thrown[0]
}
