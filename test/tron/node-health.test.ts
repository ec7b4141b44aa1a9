import { expect, it } from 'vitest'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { nodeError } from '../../src/worker/tron/node-errors.ts'
import { createHealth, noteHealth } from '../../src/worker/tron/node-health.ts'

const down = nodeError('unreachable', 'it is down').error

/** Whether there is trouble after these answers about receipts, good or not, at these seconds. */
function hasTrouble(answers: readonly (readonly [seconds: number, isGood: boolean])[]): boolean {
  const node = { health: createHealth() }
  for (const [seconds, isGood] of answers) {
    const clock = { now: () => (seconds * 1_000) as UnixMs }
    noteHealth(
      { pool: { clock, remember: () => {} }, retried: { error: null } },
      node,
      'receipts',
      isGood ? null : down,
    )
  }
  return node.health.receipts.since !== null
}

const failures = [
  [0, false],
  [60, false],
] as const

it('trouble ends with three good answers in a row, or with one that comes ten minutes after the newest failure', () => {
  expect(hasTrouble(failures)).toBe(true)
  expect(hasTrouble([...failures, [61, true], [62, true]])).toBe(true)
  expect(hasTrouble([...failures, [61, true], [62, true], [63, true]])).toBe(false)
  expect(hasTrouble([...failures, [659, true]])).toBe(true)
  expect(hasTrouble([...failures, [660, true]])).toBe(false)
})
