import { type BlockHeight, blockSeconds } from '../chain/block.ts'
import type { ChainFailure } from '../chain/failure.ts'
import type { Uid } from '../common/ids.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Pending } from '../deposits/deposit.ts'
import type { DepositReader } from '../deposits/deposit-store.ts'
import type { PendingDeposits } from '../deposits/pending-deposits.ts'
import type { WalletBalance } from '../ledger/ledger-reader.ts'
import { routeMs } from '../platform/limits.ts'
import { secondsToFinal } from './plan.ts'
import { proveOwn } from './prove-queue.ts'
import { leaseMs, type ScanParts, scan } from './scan.ts'
import type { ScanState, ScanStore } from './scan-store.ts'
import type { Sightings } from './sightings.ts'

/** How long a call waits for a scan that another call runs. With its own scan before it: at most 15 s in all. */
export const scanWaitMs = 12_000
/** A call begins no scan with less time left than this: its requests to nodes end `routeMs` after its start. */
export const scanMsMin = 2_000
/** First pause between two reads of the state of a running scan. Each next one is longer, up to `pollMsMax`. */
export const pollMsMin = 150
/** Longest pause between two reads of the state of a running scan. */
export const pollMsMax = 1_200
/** Highest age of a state that calls of one isolate share: a fraction of the shortest pause. */
export const sharedStateMs = 100

/** The result of "check now" for one caller. */
export interface CheckNowReport {
  /** What was credited since the call began, per currency; a currency without a credit is absent. */
  readonly credited: readonly WalletBalance[]
  /** Transfers to the caller that are not final. */
  readonly unconfirmed: UnconfirmedTransfers | null
  /** The caller's deposits that cannot be decided yet. */
  readonly pending: readonly Pending[]
  /** Finalized blocks that are not scanned yet. */
  readonly behindBlocks: number
  /** Why the scan is not caught up, or null. */
  readonly problem: ChainFailure['kind'] | 'still-running' | null
}

/** Transfers to one caller in blocks that are not final. */
export interface UnconfirmedTransfers {
  /** Token transfers. */
  readonly count: number
  /** Transactions that are TRX or a worthless TRC-10 token: only their bytes show which. */
  readonly unproven: number
  /** About how long until the last one is final. */
  readonly seconds: number
}

/** What "check now" reads for the caller. */
export interface CallerStores {
  readonly deposits: Pick<DepositReader, 'creditedSince'>
  readonly sightings: Pick<Sightings, 'of'>
  readonly pending: Pick<PendingDeposits, 'of'>
}

/** What "check now" needs. */
export interface CheckNowParts extends ScanParts {
  readonly scanStore: ScanParts['scanStore'] & Pick<ScanStore, 'state'>
  readonly caller: CallerStores
  readonly shared: SharedScanState
}

/**
 * "Check now" for one caller. Of all calls at the same time one scans, and the others wait for its end. A scan that
 * began after a call answers that call, and so does one that ended less than one block time before it.
 */
export async function checkNow(parts: CheckNowParts, uid: Uid): Promise<Result<CheckNowReport, QueryFailure>> {
  const since = parts.clock.now()
  const { state, running } = await awaitScan(parts, uid, since)
  if (state === null) {
    return ok({ credited: [], unconfirmed: null, pending: [], behindBlocks: 0, problem: null })
  }
  const [sightings, before] = await Promise.all([parts.caller.sightings.of(uid), parts.caller.pending.of(uid, null)])
  if (before.length > 0) await proveOwn(parts, uid)
  const [credited, pending] = await Promise.all([
    parts.caller.deposits.creditedSince(uid, since),
    before.length === 0 ? before : parts.caller.pending.of(uid, null),
  ])
  const problem = running ? 'still-running' : state.problem
  const isUnread = problem === 'no-answer' && state.caughtUpAt < since && credited.length === 0
  if (isUnread && state.position.height >= state.finalized) return err({ kind: 'chain-unavailable' })
  const above = sightings.filter(({ block }) => block.height > state.position.height)
  const unproven = above.filter(({ cuy }) => cuy === parts.currencies.native?.cuy).length
  const heights = above.map(({ block }) => block.height)
  // The newest sighting is the best stored lower bound of the chain's head.
  const newest = Math.max(0, ...heights) as BlockHeight
  const seconds = secondsToFinal(newest, state.finalized, newest)
  return ok({
    credited,
    unconfirmed: above.length === 0 ? null : { count: above.length - unproven, unproven, seconds },
    pending,
    behindBlocks: Math.max(0, state.finalized - state.position.height),
    problem,
  })
}

/**
 * What the calls of one isolate share about the running scan, so that a thousand waiting calls do not each query the
 * database a thousand times. It can be lost at any time: the truth is in the database.
 */
export interface SharedScanState {
  state: ScanState | null
  /** When `state` was read. */
  readAt: number
  /** Until when this isolate expects its own scan to run; 0 where none runs. A killed one is not waited for longer. */
  scanningUntil: number
}

/** The shared state of a new isolate. */
export function createSharedScanState(): SharedScanState {
  return { state: null, readAt: 0, scanningUntil: 0 }
}

/** Returns when a scan that began at or after `since` has ended, run by this call or by another one. */
async function awaitScan(
  parts: CheckNowParts,
  uid: Uid,
  since: UnixMs,
): Promise<{ readonly state: ScanState | null; readonly running: boolean }> {
  const { clock, shared } = parts
  const giveUpAt = since + scanWaitMs
  let pauseMs = pollMsMin
  for (;;) {
    const isShared = clock.now() < shared.scanningUntil || clock.now() - shared.readAt < sharedStateMs
    const state = isShared ? shared.state : await readState(parts)
    if (state === null && !isShared) return { state, running: false }
    if (state !== null && isAnswered(state, since)) return { state, running: false }
    const isFree = state !== null && state.leaseUntil <= clock.now() && shared.scanningUntil <= clock.now()
    if (isFree && clock.now() > since + routeMs - scanMsMin) return { state, running: state.endedAt < since }
    if (isFree) {
      if (await scanOnce(parts, uid)) {
        const after = await readState(parts)
        // A scan that lost its lease did not store its end: another scan is running.
        return { state: after, running: after !== null && after.triedAt < since }
      }
    }
    if (clock.now() + pauseMs > giveUpAt) return { state: state ?? (await readState(parts)), running: true }
    await clock.sleep(pauseMs * (1 + clock.random() / 2))
    pauseMs = Math.min(pauseMs * 1.6, pollMsMax)
  }
}

/** Whether the state is that of a scan which answers a call of this time. */
function isAnswered({ triedAt, endedAt }: ScanState, since: UnixMs): boolean {
  return triedAt >= since || endedAt > since - blockSeconds * 1000
}

async function readState({ scanStore, clock, shared }: CheckNowParts): Promise<ScanState | null> {
  shared.readAt = clock.now()
  shared.state = await scanStore.state()
  return shared.state
}

/** Scans. False where another scan has the lease. */
async function scanOnce(parts: CheckNowParts, uid: Uid): Promise<boolean> {
  const { shared, clock } = parts
  shared.scanningUntil = clock.now() + leaseMs
  try {
    return (await scan(parts, uid)).kind !== 'taken'
  } finally {
    shared.scanningUntil = 0
  }
}
