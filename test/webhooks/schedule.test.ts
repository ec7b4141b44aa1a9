import { expect, it } from 'vitest'
import { retryAfterMs } from '../../src/worker/webhooks/deliver-events.ts'

it.each([
  [1, 5],
  [2, 30],
  [3, 120],
  [4, 600],
  [5, 3600],
  [6, 3600],
  [80, 3600],
])('after failure %i the next try is %i s later, a fifth more or less', (attempts, seconds) => {
  expect(retryAfterMs(attempts, 0)).toBe(seconds * 800)
  expect(retryAfterMs(attempts, 0.5)).toBe(seconds * 1000)
  expect(retryAfterMs(attempts, 1)).toBe(seconds * 1200)
})
