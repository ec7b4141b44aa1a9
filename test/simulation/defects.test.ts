import { describe, expect, it } from 'vitest'
import { defects } from './defects.ts'
import { createSimulation } from './run.ts'

const run = createSimulation()

describe('the simulation finds within 1,000 seeds that', () => {
  it.each(Object.entries(defects))(
    '%s',
    async (_, create) => {
      let found: string | null = null
      for (let seed = 1; seed <= 1_000 && found === null; seed += 1) {
        found = (await run(seed, { defect: create() })).broken
      }
      expect(found).not.toBeNull()
    },
    60_000,
  )
})
