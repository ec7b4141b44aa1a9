import type { Clock } from '../../src/platform/clock.ts'
import type { World } from './world.ts'

/** One request or tick of the service. A killed one never goes on from where it stands. */
export interface Invocation {
  /** Unique: also the name of its lease. */
  readonly name: string
  readonly clock: Clock
  /** Stands at every place where the platform can end an invocation: resolves, or never. */
  step(): Promise<void>
}

/** Two machines' clocks are no further apart than this, in milliseconds. */
export const clocksApartMs = 1_000

/** An invocation on a machine whose clock is `skewMs` ahead; killed at one of its first steps, at the world's rate. */
export function createInvocation(world: World, name: string, skewMs: number): Invocation {
  const { random, scheduler, scenario } = world
  let stepsLeft = !world.healed && random.chance(scenario.rates.kill) ? random.int(1, 40) : Number.POSITIVE_INFINITY
  const step = async () => {
    stepsLeft -= 1
    if (stepsLeft > 0) return
    if (stepsLeft === 0) {
      world.count('invocation killed')
      world.trace(() => `${name} killed`)
    }
    await new Promise(() => {})
  }
  return {
    name,
    step,
    clock: {
      now: () => (scheduler.now() + skewMs) as ReturnType<Clock['now']>, // milliseconds since 1970
      sleep: async (ms) => {
        await scheduler.wait(ms)
        if (stepsLeft <= 0) await new Promise(() => {})
      },
      random: () => random.next(),
    },
  }
}
