import type { Clock } from '../platform/clock.ts'
import { minuteMs } from '../platform/limits.ts'

/** What the ticks of one minute need. */
export interface MinuteParts {
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  /** How often a tick begins: 10 to 60. */
  readonly everySeconds: number
  /** One tick; the last one of a minute also does what is done once in a minute. */
  readonly tick: (isLast: boolean) => Promise<void>
  /** Called at the end of each tick, however it ends. Nothing waits for what it starts. */
  readonly afterTick: () => void
}

/** How many ticks begin within a minute. */
export function ticksPerMinute(everySeconds: number): number {
  return Math.ceil(minuteMs / 1000 / everySeconds)
}

/**
 * The ticks of one minute, one after the other. One that takes longer than the interval leaves out those that were to begin
 * meanwhile, except for the last one. Throws what the first failed tick has thrown, after all of them.
 */
export async function runMinute({ clock, everySeconds, tick, afterTick }: MinuteParts): Promise<void> {
  const startedAt = clock.now()
  const everyMs = everySeconds * 1000
  const thrown: unknown[] = []
  const count = ticksPerMinute(everySeconds)
  for (let i = 0; i < count; i += 1) {
    const isLast = i === count - 1
    const waitMs = startedAt + i * everyMs - clock.now()
    if (waitMs <= -everyMs && !isLast) continue
    if (waitMs > 0) await clock.sleep(waitMs)
    try {
      await tick(isLast)
    } catch (error) {
      thrown.push(error)
    }
    afterTick()
  }
  if (thrown.length > 0) throw thrown[0]
}
