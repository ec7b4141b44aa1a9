import { beforeEach, describe, expect, it } from 'vitest'
import type { BlockHeight } from '../../src/chain/block.ts'
import type { Chain } from '../../src/chain/chain.ts'
import { err, ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { createAddressBook } from '../../src/d1/address-book.ts'
import { createLedgerReader } from '../../src/d1/ledger-reader.ts'
import { createLedgerWriter } from '../../src/d1/ledger-writer.ts'
import { indexCurrencies } from '../../src/ledger/currencies.ts'
import type { Uid } from '../../src/ledger/entry.ts'
import {
  type CheckNowParts,
  checkNow,
  createSharedScanState,
  pollMsMax,
  pollMsMin,
  scanWaitMs,
  sharedStateMs,
} from '../../src/scan/check-now.ts'
import { leaseMs } from '../../src/scan/scan.ts'
import { freshDatabase } from '../support/database.ts'

const caller = 7 as Uid
const height = 100 as BlockHeight
const start = 1_000_000

let db: D1Database
let now: number
let sleeps: number[]
let looks: number
let parts: CheckNowParts
let onSleep: () => Promise<unknown>

/** A chain outside of us at `height`, where nothing happens. */
const quietChain = {
  finalizedHead: () =>
    Promise.resolve(ok({ height, hash: 'ab'.repeat(32), parentHash: 'cd'.repeat(32), timestamp: 0 })),
  tail: () => Promise.resolve(ok({ latest: height, blocks: [] })),
} as unknown as Chain // safe: at the head a scan asks nothing else

beforeEach(async () => {
  db = await freshDatabase()
  now = start
  sleeps = []
  looks = 0
  onSleep = () => Promise.resolve()
  const reader = createLedgerReader(db)
  const writer = createLedgerWriter(db)
  await writer.start({ height, hash: null }, now as UnixMs)
  const silent = () => undefined
  parts = {
    chain: quietChain,
    writer,
    addresses: createAddressBook(db),
    currencies: indexCurrencies([]),
    lease: 'mine',
    statements: () => 0,
    clock: {
      now: () => now as UnixMs,
      sleep: async (ms) => {
        sleeps.push(ms)
        now += Math.ceil(ms)
        await onSleep()
      },
      random: () => 0,
    },
    log: { info: silent, warn: silent, error: silent, alarm: silent },
    reader: {
      ...reader,
      scanState: () => {
        looks += 1
        return reader.scanState()
      },
    },
    shared: createSharedScanState(),
  }
})

const heldByAnother = (until: number) =>
  db.prepare("UPDATE scan SET lease = 'another', lease_until = ?").bind(until).run()

describe('recharge while another call scans', () => {
  it('waits its time, with longer and longer pauses, and then says that the scan still runs', async () => {
    await heldByAnother(start + leaseMs)
    const report = await checkNow(parts, caller)
    expect(report.ok && report.value.problem).toBe('still-running')
    expect(now - start).toBeLessThanOrEqual(scanWaitMs)
    expect(now - start).toBeGreaterThan(scanWaitMs - pollMsMax)
    expect(sleeps[0]).toBe(pollMsMin)
    expect(Math.max(...sleeps)).toBe(pollMsMax)
    expect(sleeps).toEqual([...sleeps].sort((a, b) => a - b))
  })

  it('is answered by a scan that began after it, without one of its own', async () => {
    await heldByAnother(start + leaseMs)
    onSleep = () =>
      db
        .prepare('UPDATE scan SET tried_at = ?1, tail_read_at = ?1, lease_until = 0')
        .bind(start + 1)
        .run()
    const report = await checkNow({ ...parts, chain: {} as Chain }, caller)
    expect(report.ok && report.value.problem).toBeNull()
    expect(sleeps).toHaveLength(1)
  })

  it('scans itself where the other one ended and had begun before it', async () => {
    await heldByAnother(start + leaseMs)
    onSleep = () =>
      db
        .prepare('UPDATE scan SET tried_at = ?1, tail_read_at = ?1, lease_until = 0')
        .bind(start - 1)
        .run()
    const report = await checkNow(parts, caller)
    expect(report.ok && report.value.problem).toBeNull()
    expect(await db.prepare('SELECT tried_at FROM scan').first('tried_at')).toBeGreaterThanOrEqual(start)
  })

  it('takes over from one that was killed, when its lease ends', async () => {
    await heldByAnother(start + 1000)
    const report = await checkNow(parts, caller)
    expect(report.ok && report.value.problem).toBeNull()
    expect(now).toBeGreaterThanOrEqual(start + 1000)
  })

  it.each([
    ['shares a look that another call of the isolate has just taken', sharedStateMs - 1, 0],
    ['looks itself when the last look is older', sharedStateMs, 1],
  ])('%s', async (_, age, expected) => {
    await heldByAnother(start + leaseMs)
    const state = await parts.reader.scanState()
    looks = 0
    const atSleep: number[] = []
    onSleep = () => Promise.resolve(atSleep.push(looks))
    await checkNow({ ...parts, shared: { state, lookedAt: start - age, scanningUntil: 0 } }, caller)
    expect(atSleep[0]).toBe(expected)
  })
})

describe('recharge', () => {
  it('without any scan started has nothing to report', async () => {
    await freshDatabase()
    const report = await checkNow(parts, caller)
    expect(report).toEqual(ok({ credited: [], unfinal: null, pending: [], behindBlocks: 0, trouble: null }))
  })

  it('that no node answers is a failure, not "nothing new"', async () => {
    const chain = { finalizedHead: () => Promise.resolve(err({ kind: 'no-answer', why: 'none' })) } as unknown as Chain
    expect(await checkNow({ ...parts, chain }, caller)).toEqual(err({ kind: 'chain-unavailable' }))
  })
})
