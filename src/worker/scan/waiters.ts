import type { ScannerCalls } from '../chain/chain.ts'
import type { Uid } from '../common/ids.ts'
import { createHolds } from './holds.ts'
import { lateSecondsOf } from './intake.ts'
import { createLooks, expectedMs } from './looks.ts'
import { createScans, type Scans } from './scans.ts'
import { createTailMemories } from './tail-memory.ts'
import { bringForward, type ScannerParts } from './tick.ts'

/** A page that waits asks again within this time after an answer. */
const askedAgainMs = 10_000

/** The scans of an instance, and those who wait for what scans and looks at the tail find. */
export interface Waiters extends Pick<ScannerCalls, 'waitForDeposit'> {
  readonly scans: Scans
  /** Somebody was given an address, or has asked for a scan: looks at the tail begin or go on. */
  expectPayment(): void
  /**
   * Transfers of this user may have changed otherwise than by a scan or a look; of all without one.
   */
  depositsChanged(uid?: Uid): void
  /** A tick has thrown: the database may be away, so nobody waits any longer. */
  lose(): void
}

/** Makes what a new instance keeps of those who wait. It is lost with the instance. */
export function createWaiters(parts: ScannerParts): Waiters {
  const { clock } = parts
  const memories = createTailMemories(parts)
  /** Whether the newest scan, look or tick has thrown, so that the database may be away. */
  let isLost = false
  const lose = () => {
    isLost = true
    holds.changedForAll()
  }
  const scans = createScans(parts, memories.ofScans, (end) => {
    if (end === null) return lose()
    isLost = false
    holds.changed(end.paid)
  })
  const holds = createHolds(clock, () => {
    const state = scans.newestEnd()?.state ?? null
    if (isLost || state === null) return !isLost
    return state.halted === null && lateSecondsOf(state, parts.scanEverySeconds, clock.now()) === null
  })
  const looks = createLooks(parts, scans, memories, {
    async seen(paid, end) {
      holds.changed(paid)
      parts.wakeEndpoints()
      await bringForward(parts, end)
    },
    lost: lose,
  })
  return {
    scans,
    lose,
    expectPayment: () => looks.expect(expectedMs),
    async waitForDeposit(uid, mark, ms) {
      looks.expect(ms + askedAgainMs)
      return await holds.wait(uid, mark, ms)
    },
    depositsChanged: (uid) => (uid === undefined ? holds.changedForAll() : holds.changed([uid])),
  }
}
