import { beforeEach, describe, expect, it } from 'vitest'
import { type BlockHeight, blockSeconds } from '../../src/chain/block.ts'
import type { Chain } from '../../src/chain/chain.ts'
import { err, ok } from '../../src/common/result.ts'
import type { UnixMs } from '../../src/common/time.ts'
import { toPending } from '../../src/deposits/verify-deposit.ts'
import { routeMs } from '../../src/platform/limits.ts'
import {
  type CheckNowParts,
  checkNow,
  createSharedScanState,
  pollMsMax,
  pollMsMin,
  scanMsMin,
  scanWaitMs,
  sharedStateMs,
} from '../../src/scan/check-now.ts'
import { leaseMs } from '../../src/scan/scan.ts'
import {
  alice,
  receiptsWithoutLogs,
  toAlice,
  transaction,
  transferBytes,
  trxCandidate,
  txid,
} from '../deposits/samples.ts'
import { trx } from '../support/currencies.ts'
import { freshDatabase } from '../support/database.ts'
import { blockAt, createScanParts, start, now as startedAt, type TestScanParts } from './scan-parts.ts'

const blockMs = blockSeconds * 1000
let now: number
let sleeps: number[]
let stateReads: number
let onSleep: () => Promise<unknown>
let stores: TestScanParts
let parts: CheckNowParts

/** Nodes with a finalized head at the start and no block after it. */
const quietChain: Partial<Chain> = {
  finalizedHead: async () => ok(blockAt(start)),
  unconfirmedBlocks: async () => ok({ latest: start, blocks: [] }),
}
const unavailable: Partial<Chain> = {
  finalizedHead: async () => err({ kind: 'no-answer', why: 'no node replied' }),
}

/** Parts over a scan that has started, with a clock that advances only in pauses. */
async function createParts(chain: Partial<Chain>): Promise<void> {
  stores = await createScanParts(chain)
  await stores.scanStore.start({ height: start, hash: null }, startedAt)
  const { scanStore, deposits, sightings, pending } = stores
  const sleep = async (ms: number) => {
    sleeps.push(ms)
    now += Math.ceil(ms)
    await onSleep()
  }
  const state = () => {
    stateReads += 1
    return scanStore.state()
  }
  parts = {
    ...stores,
    clock: { now: () => now as UnixMs, sleep, random: () => 0 },
    scanStore: { ...scanStore, state },
    caller: { deposits, sightings, pending },
    shared: createSharedScanState(),
  }
}

beforeEach(async () => {
  now = startedAt
  sleeps = []
  stateReads = 0
  onSleep = () => Promise.resolve()
  await createParts(quietChain)
})

/** Another scan gets the lease. */
const takeOtherLease = (until: number) => stores.scanStore.acquireLease('another', startedAt, until as UnixMs)

/** The other scan, which started at this time, ends. */
async function endOtherScan(scanStartedAt: number, endedAt = scanStartedAt) {
  await stores.scanStore.releaseLease('another', scanStartedAt as UnixMs, null, endedAt as UnixMs)
}

describe('check now, while another call scans', () => {
  it('waits with longer and longer pauses, and then reports that the scan is still running', async () => {
    await takeOtherLease(startedAt + leaseMs)
    const report = await checkNow(parts, alice.uid)
    expect(report.ok && report.value.problem).toBe('still-running')
    expect(now - startedAt).toBeLessThanOrEqual(scanWaitMs)
    expect(now - startedAt).toBeGreaterThan(scanWaitMs - pollMsMax)
    expect(sleeps[0]).toBe(pollMsMin)
    expect(Math.max(...sleeps)).toBe(pollMsMax)
    expect(sleeps).toEqual([...sleeps].sort((a, b) => a - b))
  })

  it('uses the result of a scan that began after the call, and does not scan itself', async () => {
    await createParts({})
    await takeOtherLease(startedAt + leaseMs)
    onSleep = () => endOtherScan(startedAt + 1)
    const report = await checkNow(parts, alice.uid)
    expect(report.ok && report.value.problem).toBeNull()
    expect(sleeps).toHaveLength(1)
  })

  it('scans itself after a scan that began before the call', async () => {
    await takeOtherLease(startedAt + leaseMs)
    onSleep = () => endOtherScan(startedAt - blockMs)
    const report = await checkNow(parts, alice.uid)
    expect(report.ok && report.value.problem).toBeNull()
    expect((await stores.scanStore.state())?.triedAt).toBeGreaterThanOrEqual(startedAt)
  })

  it('uses the result of a scan that ended less than one block time before the call', async () => {
    await createParts({})
    await takeOtherLease(startedAt + leaseMs)
    await endOtherScan(startedAt - 2 * blockMs, startedAt - blockMs + 1)
    const report = await checkNow(parts, alice.uid)
    expect(report.ok && report.value.problem).toBeNull()
    expect(sleeps).toEqual([])
  })

  it('proves the caller’s own candidates at once, whoever scanned', async () => {
    const transactionBytes: Chain['transactionBytes'] = async () => ok(transferBytes())
    await createParts({ receipts: receiptsWithoutLogs, transactionBytes })
    await stores.addresses.issueFirst(alice.uid, () => alice.address)
    const owned = toAlice({ ...trxCandidate, block: blockAt(start + 1) })
    await stores.pending.keep([toPending(owned, 'queued')], (startedAt - blockMs) as UnixMs)
    await takeOtherLease(startedAt + leaseMs)
    await endOtherScan(startedAt - 2 * blockMs, startedAt - blockMs + 1)
    const report = await checkNow(parts, alice.uid)
    expect(report.ok && report.value).toMatchObject({ credited: [{ cuy: trx.cuy, amount: 1_000_000n }], pending: [] })
  })

  it('scans after one that ended a block time before the call', async () => {
    await takeOtherLease(startedAt + leaseMs)
    await endOtherScan(startedAt - 2 * blockMs, startedAt - blockMs)
    await checkNow(parts, alice.uid)
    expect((await stores.scanStore.state())?.triedAt).toBe(startedAt)
  })

  it('does not take the lease when its own time is nearly over', async () => {
    await createParts({})
    const expiry = startedAt + routeMs - scanMsMin + 1
    await takeOtherLease(expiry)
    const report = await checkNow(parts, alice.uid)
    expect(report.ok && report.value.problem).toBe('still-running')
    expect(now).toBeGreaterThanOrEqual(expiry)
    expect((await stores.scanStore.state())?.leaseUntil).toBe(expiry)
  })

  it('takes over the lease of a killed scan when it expires', async () => {
    await takeOtherLease(startedAt + 1000)
    const report = await checkNow(parts, alice.uid)
    expect(report.ok && report.value.problem).toBeNull()
    expect(now).toBeGreaterThanOrEqual(startedAt + 1000)
  })

  it.each([
    ['shares a state that another call of the isolate has just read', sharedStateMs - 1, 0],
    ['reads the state itself where the shared one is older', sharedStateMs, 1],
  ])('%s', async (_, age, expected) => {
    await takeOtherLease(startedAt + leaseMs)
    const state = await stores.scanStore.state()
    const readsAtSleep: number[] = []
    onSleep = () => Promise.resolve(readsAtSleep.push(stateReads))
    await checkNow({ ...parts, shared: { state, readAt: startedAt - age, scanningUntil: 0 } }, alice.uid)
    expect(readsAtSleep[0]).toBe(expected)
  })
})

describe('check now', () => {
  it('reports nothing where no scan has started', async () => {
    await freshDatabase()
    const report = await checkNow(parts, alice.uid)
    expect(report).toEqual(ok({ credited: [], unconfirmed: null, pending: [], behindBlocks: 0, problem: null }))
  })

  it('reports transfers to the caller that are not final, and the time until the last one is final', async () => {
    const last = blockAt(start + 3, [transaction({ txid: txid(2) })])
    const blocks = [blockAt(start + 1, [transaction({ txid: txid(1) })]), blockAt(start + 2), last]
    await createParts({ ...quietChain, unconfirmedBlocks: async () => ok({ latest: last.height, blocks }) })
    await stores.addresses.issueFirst(alice.uid, () => alice.address)
    const report = await checkNow(parts, alice.uid)
    expect(report.ok && report.value.unconfirmed).toEqual({ count: 0, unproven: 2, seconds: 12 })
  })

  it('is a failure, not an empty report, where no node answers', async () => {
    await createParts(unavailable)
    expect(await checkNow(parts, alice.uid)).toEqual(err({ kind: 'chain-unavailable' }))
  })

  it('reports the known final blocks that are not scanned where no node answers', async () => {
    await createParts(unavailable)
    await stores.scanStore.recordFinalized((start + 5) as BlockHeight, startedAt)
    const report = await checkNow(parts, alice.uid)
    expect(report.ok && report.value).toMatchObject({ behindBlocks: 5, problem: 'no-answer' })
  })
})
