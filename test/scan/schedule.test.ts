import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/worker/chain/block.ts'
import type { ChainFailure } from '../../src/worker/chain/chain.ts'
import { secondsToFinal } from '../../src/worker/chain/finality.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import type { ScanState } from '../../src/worker/scan/store/position.ts'
import { nextTickAt } from '../../src/worker/scan/tick.ts'
import { anyHeight } from '../support/arbitraries.ts'

const at = (height: number) => height as BlockHeight
const time = (ms: number) => ms as UnixMs

/**
 * Changes to a tick that began at 100 s and took a second, read up to the newest final block, saw
 * no transfer, and left enough allowance for the next tick.
 */
interface Over {
  readonly now?: number
  readonly availableAt?: number
  readonly isBehind?: boolean
  readonly failure?: ChainFailure
  readonly advancedAt?: number
  readonly seen?: number
  readonly finalizedAt?: number
  readonly ticksTogether?: boolean
}
function next(over: Over = {}) {
  const {
    now = 101_000,
    availableAt = 0,
    isBehind = false,
    seen = null,
    finalizedAt = 100_500,
    advancedAt = 50_000,
  } = over
  const parts = { clock: { now: () => time(now) }, tickAvailableAt: () => time(availableAt) }
  const times = { finalizedAt: time(finalizedAt), advancedAt: time(advancedAt) }
  // safe: `nextTickAt` reads no other member
  const state = { height: at(isBehind ? 900 : 1000), finalized: at(1000), ...times } as ScanState
  const failure = isBehind ? (over.failure ?? ({ kind: 'out-of-time' } as const)) : null
  const end = { state, head: at(1000), failure }
  const { ticksTogether = false } = over
  return nextTickAt(
    { ...parts, ticksTogether, scanEverySeconds: 20 },
    end,
    seen === null ? null : at(seen),
    time(100_000),
  )
}

describe('the next tick', () => {
  it('begins at a whole interval of the clock if it goes together with those of other cells', () => {
    expect(next({ ticksTogether: true })).toBe(120_000) // the last tick began at 100 s, and the interval is 20 s
  })

  it('comes after the interval, counted from the start of the one before', () => {
    expect(next()).toBe(120_000)
  })

  it('comes at once after one that took longer than the interval, and while the scan is behind', () => {
    expect(next({ now: 125_000 })).toBe(125_000)
    expect(next({ isBehind: true })).toBe(101_000)
  })

  it('comes at once after one that has read blocks and ended because nodes failed, and by the interval if it has read none', () => {
    const failure = { kind: 'no-answer', why: 'node 2: no answer in its part of the time' } as const
    expect(next({ isBehind: true, failure, advancedAt: 100_400 })).toBe(101_000)
    expect(next({ isBehind: true, failure })).toBe(120_000)
  })

  it('comes when the block of a transfer that was seen should be final', () => {
    expect(next({ seen: 1004 })).toBe(100_500 + 4 * 3000 + 500)
    expect(next({ seen: 1001 })).toBe(104_000)
  })

  it('comes again after each block time where that block is not final yet', () => {
    expect(next({ seen: 1004, finalizedAt: 50_000 })).toBe(103_000)
  })

  it('is never later than by the interval, whatever was seen', () => {
    expect(next({ seen: 1_000_000 })).toBe(120_000)
  })

  it('comes as early as the allowances have room for it, and by the interval in any case', () => {
    expect(next({ seen: 1001, availableAt: 109_000 })).toBe(109_000)
    expect(next({ isBehind: true, availableAt: 109_000 })).toBe(109_000)
    expect(next({ availableAt: 109_000 })).toBe(120_000)
    expect(next({ seen: 1001, availableAt: 900_000 })).toBe(120_000)
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
