import type { Carrier } from '../support/sqlite-d1.ts'
import type { Invocation } from './invocation.ts'
import type { World } from './world.ts'

/**
 * The way to the database as one invocation sees it: it takes time both ways, and fails before the first statement,
 * between any two, at the commit, or after it, when the answer is lost. `changed` is called after each trip that wrote.
 */
export function carryTo(world: World, invocation: Invocation, changed: () => void): Carrier {
  const { random, scheduler, scenario } = world
  // Once in a while longer than a lease lasts: who comes back then must find that it is somebody else's.
  const latency = () => random.int(1, world.healed || random.chance(0.97) ? 15 : random.chance(0.9) ? 3_000 : 60_000)
  return async (work, statements) => {
    await invocation.step()
    await scheduler.wait(latency())
    const fault = !world.healed && random.chance(scenario.rates.database) ? random.int(1, 4) : 0
    world.trace(() => `${invocation.name} → D1 ${statements.map(shorten).join('; ')} ${faults[fault] ?? ''}`)
    const name = faults[fault]
    if (name !== undefined) world.count(name)
    if (fault === 1) throw new Error('D1_ERROR: the database did not answer')
    // In a batch of n statements there are n places before one and one before the commit.
    const failAt = fault === 2 ? random.int(0, statements.length - 1) : fault === 3 ? statements.length : undefined
    const result = work(failAt)
    if (statements.some((sql) => !/^\s*SELECT/i.test(sql))) changed()
    await scheduler.wait(latency())
    await invocation.step()
    if (fault === 4) throw new Error('D1_ERROR: the answer was lost')
    return result
  }
}

const faults: Readonly<Record<number, string>> = {
  1: 'database: no answer',
  2: 'database: failure between two statements',
  3: 'database: failure at the commit',
  4: 'database: answer lost after the commit',
}

/** Whether an error is one that this file threw: the only ones that the service may let through. */
export function isOrdered(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false
  // Drizzle wraps what the database threw.
  return isOrdered(cause.cause) || /the database (did not answer|failed)|the answer was lost/.test(cause.message)
}

const shorten = (sql: string) => sql.trim().split(/\s+/).slice(0, 3).join(' ')
