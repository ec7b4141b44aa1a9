import { describe, expect, it } from 'vitest'
import { simulate } from './command.ts'
import { defects } from './defects.ts'
import { countOccurrences } from './source-patch.ts'

describe('the deliberate mistakes', () => {
  it.each(Object.entries(defects))('%s: the text to patch occurs exactly once', (_, defect) => {
    expect(countOccurrences(defect)).toBe(1)
  })
})

describe.concurrent('the simulation finds within 1,000 seeds that', { timeout: 240_000 }, () => {
  it.each(Object.entries(defects))('%s', async (name, { from }) => {
    const options = ['--defect', name, '--seeds', '1000', '--from', String(from)]
    expect(await simulate(options)).toMatch(/^seed \d+ broke a promise: /m)
  })
})
