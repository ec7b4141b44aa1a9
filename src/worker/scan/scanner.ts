import { checkKeyUse, type KeyUse } from '../addresses/issue-address.ts'
import { isBookEmpty } from '../addresses/store/address-book.ts'
import type { Address } from '../chain/address.ts'
import { type Asset, blockSeconds, type Txid } from '../chain/block.ts'
import {
  balancesMax,
  type Chain,
  type ChainFailure,
  type CreditAnswer,
  type ScanAnswer,
  type ScannerCalls,
  type TransactionFinding,
} from '../chain/chain.ts'
import { reservedUid, type Uid } from '../common/ids.ts'
import type { IssueReason } from '../common/reasons.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import { createRestoreDetector } from '../payouts/restore-detector.ts'
import { createSender } from '../payouts/send.ts'
import { endsWithin } from '../platform/clock.ts'
import { type LogFields, stackOf } from '../platform/logger.ts'
import { createSharedRuns } from '../platform/shared-runs.ts'
import { misconfigured, toQueryFailure } from './failure.ts'
import { answerInquiry, lookUpTransaction } from './inquiry.ts'
import { ensureStarted } from './scan.ts'
import { callMs } from './scans.ts'
import { selectScan } from './store/position.ts'
import { bringForward, runTick, type ScannerParts, type TickHelpers, tickMs } from './tick.ts'
import { createWaiters, type Waiters } from './waiters.ts'

/** The scanner in its Durable Object. One run of the object's alarm is one tick. */
export interface ScannerObject extends ScannerCalls {
  /** Runs one tick, and sets the time of the next tick, whatever happens. */
  alarm(): Promise<void>
}

/**
 * Operators are alarmed only if ticks still throw this long after the first exception. A single
 * tick may throw because the database was busy for a moment.
 */
const againMs = 1_000
/** A tick that runs longer than this is given up. */
const lostTickMs = 4 * tickMs
/**
 * A user's call that runs longer than this is given up. Its requests to nodes end after `callMs`,
 * so then the database hangs.
 */
const lostCallMs = callMs + 3_000
/** The balances of a user's addresses are reused for one block time after nodes have shown them. */
const keptBalancesMs = blockSeconds * 1000

/**
 * Makes the scanner, the only part of the service that talks to nodes. Its lasting state is in the
 * database, because an instance may lose its memory at any await, and two instances may run at the
 * same time.
 */
export function createScanner(parts: ScannerParts): ScannerObject {
  const { db, clock } = parts
  const waiters = createWaiters(parts)
  const { scans } = waiters
  const restores = createRestoreDetector(parts)
  const sender = createSender({ ...parts, restores })
  const keyUse: KeyUse = { wasUsed: false, withoutAccount: 0 }
  const openFor = (uid: Uid) => parts.openChain({ kind: 'caller', uid }, (clock.now() + callMs) as UnixMs)
  const calls = { lostMs: lostCallMs }
  const prepared = createSharedRuns<Result<null, QueryFailure>>(parts, calls)
  const balances = createSharedRuns<Result<readonly bigint[], QueryFailure>>(parts, {
    ...calls,
    keptMs: (end) => (end.ok && end.value.ok ? keptBalancesMs : 0),
  })
  const lookUps = createSharedRuns<Result<TransactionFinding, QueryFailure>>(parts, calls)
  const inquiries = createSharedRuns<Result<CreditAnswer, QueryFailure>>(parts, calls)
  return {
    ...createTicks(parts, waiters, { restores, sender, depositsChanged: waiters.depositsChanged }),
    async sendPayouts() {
      if (await parts.configMatchesData()) await sender.send()
    },
    isRestored: async () => (await restores.compare()) !== null,
    async noteWrite() {
      await restores.compare()
    },
    nodes: parts.nodeStatuses,
    expectPayment: async () => waiters.expectPayment(),
    waitForDeposit: waiters.waitForDeposit,
    prepareIssue: (uid, firstIndex) => {
      const isOlder = firstIndex !== parts.firstIndex
      if (isOlder) return Promise.resolve(err(cannotIssue('deploying')))
      // All users share one run: for the very first addresses it asks nodes about the key, which
      // many calls at once would do too often for the allowances.
      return prepared.wait(() => prepareIssue(parts, keyUse, openFor(uid)))
    },
    balances: (uid, addresses, asset) => {
      const key = `${asset.kind === 'native' ? 'TRX' : asset.contract} ${addresses.join(' ')}`
      return balances.wait(() => readBalances(openFor(uid), addresses, asset), key)
    },
    async scanNow(uid): Promise<Result<ScanAnswer, QueryFailure>> {
      const since = clock.now()
      const hasStarted = scans.hasBegun() || (await selectScan(db)) !== null
      if (!hasStarted || !(await parts.configMatchesData())) return ok({ problem: null, since })
      waiters.expectPayment()
      const end = await scans.answer({ kind: 'caller', uid }, since)
      // if this fails, the next tick comes after the usual interval
      if (end !== null) bringForward(parts, end).catch(() => undefined)
      if (end?.failure?.kind === 'limited') return err(toQueryFailure(end.failure))
      return ok({ problem: end === null ? 'still-running' : (end.failure?.kind ?? null), since })
    },
    checkTransaction: (uid, txid: Txid) =>
      inquiries.wait(async () => {
        if (!(await parts.configMatchesData())) return err(misconfigured)
        waiters.expectPayment()
        const answer = await answerInquiry(parts, openFor(uid), uid, txid)
        waiters.depositsChanged(uid)
        // An undecided transfer may have been stored for review just now, with an event.
        if (answer.ok ? answer.value.when === 'credited' : answer.error.kind === 'undecided') parts.wakeEndpoints()
        return answer
      }, `${uid} ${txid}`),
    lookUpTransaction: (txid) =>
      lookUps.wait(async () => {
        const isKnown = await parts.configMatchesData()
        return isKnown ? lookUpTransaction(parts, openFor(reservedUid), txid) : err(misconfigured)
      }, txid),
  }
}

/**
 * Runs ticks, and makes sure that the object's next alarm is set.
 */
function createTicks(
  parts: ScannerParts,
  { scans, lose }: Waiters,
  helpers: TickHelpers,
): Pick<ScannerObject, 'alarm' | 'wake'> {
  const { host, clock, logger, alarms } = parts
  const everyMs = parts.scanEverySeconds * 1000
  const ticks = createSharedRuns<void>(parts, { lostMs: lostTickMs })
  const tick = async (startedAt: UnixMs) => {
    const before = parts.usage()
    let next = (startedAt + everyMs) as UnixMs // safe: `everyMs` milliseconds after a time
    try {
      next = await runTick(parts, scans, helpers, startedAt)
    } catch (thrown) {
      lose()
      logger.error('tick-crashed', { why: stackOf(thrown) })
      // The database may have been busy for a moment. The next tick does the work of this one.
      const why = thrown instanceof Error ? thrown.message : String(thrown)
      await alarms.raise('tick-failed', {}, { why }, againMs)
    } finally {
      const now = clock.now() // the clock may have stepped back since the tick began
      // safe: `next`, `now`, or a time `everyMs` after `now`
      await host.setAlarm(Math.min(Math.max(next, now), now + everyMs) as UnixMs)
      logger.info('tick', { durationMs: clock.now() - startedAt, ...difference(parts.usage(), before) })
    }
  }
  return {
    async alarm() {
      const { startedAt, result } = ticks.join(() => tick(clock.now()))
      // The platform runs no alarm of this object while one runs, so a tick that never ends would
      // be the last one.
      const isOver = await endsWithin(result, lostTickMs - (clock.now() - startedAt), clock)
      if (isOver) return
      logger.error('tick-lost', { seconds: lostTickMs / 1000 })
      await host.setAlarm(clock.now())
      const raised = alarms.raise('tick-failed', {}, { why: 'a call of the tick has not returned' }, againMs)
      // raising an alarm writes to the database, which may be what hangs
      await endsWithin(raised, lostTickMs / 10, clock)
    },
    async wake() {
      const due = await host.alarm()
      const now = clock.now()
      const isSet = due !== null && due > now && due <= now + everyMs
      if (!isSet && ticks.known() === null) await host.setAlarm(now)
    },
  }
}

/** How much each counter has grown between two readings. */
function difference(after: LogFields, before: LogFields): LogFields {
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, Number(value) - Number(before[name])]))
}

/**
 * Makes sure that the scan has started and, before the first address is issued, that the account
 * key has not served another database.
 */
async function prepareIssue(parts: ScannerParts, keyUse: KeyUse, chain: Chain): Promise<Result<null, QueryFailure>> {
  if (!(await parts.configMatchesData())) return err(cannotIssue('configuration-differs'))
  if (parts.firstIndex === null && (await isBookEmpty(parts.db))) {
    const key = await checkKeyUse({ ...parts, keyUse, chain })
    if (!key.ok) return err(unavailable(key.error))
    if (key.value === 'used') return err(cannotIssue('key-was-used'))
  }
  const started = await ensureStarted(parts, chain)
  if (started.ok) {
    // the first scan does not wait for the cron trigger
    if (started.value.triedAt === 0) await parts.host.setAlarm(parts.clock.now())
    return ok(null)
  }
  return err(
    started.error.kind === 'start-above-head' ? cannotIssue('start-block-too-high') : unavailable(started.error),
  )
}

const cannotIssue = (reason: IssueReason) => ({ kind: 'cannot-issue', reason }) as const

/** The failure of a call that concerns no transaction, when the nodes cannot be asked. */
function unavailable(failure: ChainFailure): QueryFailure {
  return failure.kind === 'limited' ? toQueryFailure(failure) : { kind: 'chain-unavailable' }
}

async function readBalances(
  chain: Chain,
  addresses: readonly Address[],
  asset: Asset,
): Promise<Result<readonly bigint[], QueryFailure>> {
  const all: bigint[] = []
  for (let i = 0; i < addresses.length; i += balancesMax) {
    const balances = await chain.balances(addresses.slice(i, i + balancesMax), asset)
    if (!balances.ok) return err(unavailable(balances.error))
    all.push(...balances.value)
  }
  return ok(all)
}
