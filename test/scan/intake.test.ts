import { describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/worker/chain/block.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import { lateSecondsOf } from '../../src/worker/scan/intake.ts'

const now = 1_800_000_000_000 as UnixMs

/**
 * The state where the last complete scan was `scan` seconds ago (null: never), the newest final
 * block was made `block` seconds ago, and `unread` blocks below it are not scanned.
 */
function state(scan: number | null, block: number, unread = 0) {
  const ago = (seconds: number) => (now - seconds * 1_000) as UnixMs
  return {
    height: (5_000 - unread) as BlockHeight,
    finalized: 5_000 as BlockHeight,
    finalizedTime: ago(block),
    finalizedAt: ago(10),
    caughtUpAt: scan === null ? (0 as UnixMs) : ago(scan),
  }
}

describe('credits are late', () => {
  it.each([
    ['not with a scan of 45 s ago, at the interval of 20 s', state(45, 60), null],
    ['by its age, where none has succeeded since', state(46, 60), 46],
    ['not with a final block of two minutes ago', state(5, 120), null],
    ['by what is more than usual, where the newest final block is older', state(5, 121), 64],
    ['by the longer of the two', state(400, 300), 400],
    ['not where a first scan has just begun', state(null, 60), null],
    ['by the blocks that a first scan has not read yet', state(null, 60, 1_000), 3_010],
    [
      'not where the time of the newest final block is not known',
      { ...state(5, 60), finalizedTime: 0 as UnixMs },
      null,
    ],
    ['not by a clock that has stepped back', state(-3_600, -3_600), null],
  ])('%s', (_what, stored, seconds) => expect(lateSecondsOf(stored, 20, now)).toBe(seconds))
})
