import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/chain/block.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { nextTickAt, secondsToFinal, type TickEnd } from '../../src/scan/schedule.ts'
import { anyHeight } from '../support/arbitraries.ts'

const at = (height: number) => height as BlockHeight
const time = (ms: number) => ms as UnixMs

/** A tick that began at 100 s and took one second, with nothing seen, and room for another one at once. */
const next = (over: Partial<TickEnd> = {}) =>
  nextTickAt({
    startedAt: time(100_000),
    now: time(101_000),
    everyMs: 20_000,
    roomAt: time(0),
    isBehind: false,
    seen: null,
    finalized: at(1000),
    finalizedAt: time(100_500),
    ...over,
  })

describe('the next tick', () => {
  it('comes after the interval, counted from the start of the one before', () => {
    expect(next()).toBe(120_000)
  })

  it('comes at once after one that took longer than the interval, and while the scan is behind', () => {
    expect(next({ now: time(125_000) })).toBe(125_000)
    expect(next({ isBehind: true })).toBe(101_000)
  })

  it('comes when the block of a transfer that was seen should be final', () => {
    expect(next({ seen: at(1004) })).toBe(100_500 + 4 * 3000 + 500)
    expect(next({ seen: at(1001) })).toBe(104_000)
  })

  it('comes again after each block time where that block is not final yet', () => {
    expect(next({ seen: at(1004), finalizedAt: time(50_000) })).toBe(103_000)
  })

  it('is never later than by the interval, whatever was seen', () => {
    expect(next({ seen: at(1_000_000) })).toBe(120_000)
  })

  it('comes as early as the allowances have room for it, and by the interval in any case', () => {
    expect(next({ seen: at(1001), roomAt: time(109_000) })).toBe(109_000)
    expect(next({ isBehind: true, roomAt: time(109_000) })).toBe(109_000)
    expect(next({ roomAt: time(109_000) })).toBe(120_000)
    expect(next({ seen: at(1001), roomAt: time(900_000) })).toBe(120_000)
  })
})

describe('the time until a block is final', () => {
  it.each([
    ['is 0 for a final block', 100, 100, 118, 0],
    ['is 0 below the finalized head', 1, 100, 118, 0],
    ['is 57 s for the newest block', 118, 100, 118, 57],
    ['is the time of two blocks for the first block above the finalized head', 101, 100, 118, 6],
    ['is at least the time of one block, also while finality is stalled', 101, 100, 900, 3],
    ['is short where the head is close to final, as on a private chain', 102, 100, 102, 9],
  ])('%s', (_, height, finalized, latest, seconds) => {
    expect(secondsToFinal(at(height), at(finalized), at(latest))).toBe(seconds)
  })

  it('is a multiple of the block time, and 0 only for final blocks', () => {
    fc.assert(
      fc.property(anyHeight, anyHeight, anyHeight, (height, finalized, latest) => {
        const seconds = secondsToFinal(height, finalized, latest)
        expect(seconds % 3).toBe(0)
        expect(seconds === 0).toBe(height <= finalized)
      }),
    )
  })
})
