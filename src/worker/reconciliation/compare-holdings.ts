import { type Alarms, standstillMs } from '../alarms/alarms.ts'
import { formatBase58 } from '../chain/address.ts'
import { type BlockHeight, blockSeconds } from '../chain/block.ts'
import { balancesMax, type Chain, type ChainFailure } from '../chain/chain.ts'
import { ok, type Result } from '../common/result.ts'
import { dayMs, type UnixMs } from '../common/time.ts'
import type { WriteDatabase } from '../d1/database.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { closeReading, type Judgement, judgeBalance, nextStep, readingOf, readingsNeeded } from './judge.ts'
import {
  addMissingHoldings,
  type Holding,
  type HoldingChange,
  selectCompareWork,
  selectDueHoldings,
  selectSeenInGaps,
  storeHoldings,
} from './store/holdings.ts'

/** A holding (the record of one address in one currency) without changes is compared this often. */
const compareEveryMs = dayMs
/** Most addresses without transfers that get a holding in one call. */
const addedMax = 1_000
/** If more final blocks than this are unread, nothing is compared, because the records are old. */
const unscannedBlocksMax = 60
/**
 * If an address was paid in a block that could not be read, its balance is read again after this
 * pause.
 */
const gapMs = 3_600_000
/** If nodes gave no balances for some addresses, these are asked for again after this pause. */
const unreadMs = 60_000
const blockMs = blockSeconds * 1000

/**
 * The parts that comparing needs. Comparing never writes to the ledger: it reports a difference,
 * and a person decides.
 */
export interface CompareParts {
  readonly db: WriteDatabase
  /** Reads balances with leftover requests: those that neither ticks nor users nor payouts need. */
  readonly chain: Pick<Chain, 'balances'>
  readonly currencies: Currencies
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Pick<Logger, 'info'>
  readonly alarms: Pick<Alarms, 'raise' | 'clear'>
}

export interface ComparedScan {
  readonly height: BlockHeight
  readonly finalized: BlockHeight
  readonly finalizedAt: UnixMs
  readonly halted: string | null
}

/**
 * Compares one slice of the records with the chain: the holdings of the currency that has been due
 * longest, with at most one request for balances. A holding that a transfer has changed is due soon
 * after it, any other once a day. `more`: another slice is due.
 */
export async function compareHoldings(
  parts: CompareParts,
  scan: ComparedScan,
): Promise<Result<'more' | 'done', ChainFailure>> {
  const { db, clock, currencies } = parts
  const now = clock.now()
  if (!isComparable(scan, now)) return ok('done')
  const work = await selectCompareWork(
    db,
    currencies.list.map(({ cuy }) => cuy),
    now,
  )
  for (const one of work.filter(({ hasNew }) => hasNew)) await addMissingHoldings(db, one, addedMax, now)
  const due = work.filter(({ hasNew, dueAt }) => hasNew || dueAt !== null)
  const [first] = due.sort((a, b) => (a.dueAt ?? now) - (b.dueAt ?? now))
  const currency = first && currencies.byId.get(first.cuy)
  if (currency === undefined) return ok('done')
  return await compareSlice(parts, currency, scan, await selectDueHoldings(db, currency.cuy, now, balancesMax))
}

/**
 * Whether the records are new enough to compare: every block that a balance may include is known,
 * or will soon be scanned.
 */
function isComparable({ halted, finalized, finalizedAt, height }: ComparedScan, now: UnixMs): boolean {
  return halted === null && now - finalizedAt <= standstillMs && finalized - height <= unscannedBlocksMax
}

/**
 * Judges readings, and reads balances that are due. If the nodes fail, the judgements are stored
 * all the same.
 */
async function compareSlice(
  parts: CompareParts,
  currency: Currency,
  scan: ComparedScan,
  due: readonly Holding[],
): Promise<Result<'more' | 'done', ChainFailure>> {
  const { db, clock, logger } = parts
  const now = clock.now()
  const inGaps = await selectSeenInGaps(db, scan.height)
  const changes: HoldingChange[] = []
  const toRead: Holding[] = []
  for (const before of due) {
    const step = nextStep(before, scan.height)
    if (step.kind === 'read') toRead.push(before)
    else if (step.kind === 'wait') changes.push({ before, after: { ...before, dueAt: whenAt(step.until, scan, now) } })
    else if (inGaps.has(before.address)) {
      changes.push({ before, after: { ...before, reading: closeReading(step.reading), dueAt: later(now, gapMs) } })
    } else {
      const judgement = judgeBalance(step.reading.balance, before, currency.asset.kind === 'native')
      // the judgement is not stored, and the holding stays due
      if (!(await updateAlarm(parts, before, judgement))) continue
      const dueAt = judgement.outcome === 'open' ? now : later(now, compareEveryMs)
      changes.push({ before, after: { ...judgement, reading: closeReading(step.reading), dueAt } })
    }
  }
  const readings = await readBalances(parts, currency, scan, toRead)
  if (readings.ok) changes.push(...readings.value)
  else {
    logger.info('comparison-delayed', { cuy: currency.cuy, why: readings.error.kind })
    // Other currencies come first meanwhile, because nodes may be able to answer for them.
    changes.push(...toRead.map((before) => ({ before, after: { ...before, dueAt: later(now, unreadMs) } })))
  }
  await storeHoldings(db, changes)
  return readings.ok ? ok(due.length === balancesMax ? 'more' : 'done') : readings
}

async function readBalances(
  { chain, clock }: CompareParts,
  { asset }: Currency,
  scan: ComparedScan,
  toRead: readonly Holding[],
): Promise<Result<readonly HoldingChange[], ChainFailure>> {
  if (toRead.length === 0) return ok([])
  const addresses = toRead.map(({ address }) => address)
  const balances = await chain.balances(addresses, asset)
  if (!balances.ok) return balances
  const now = clock.now()
  const changes = toRead.flatMap((before, i) => {
    const balance = balances.value[i]
    if (balance === undefined) return []
    const reading = readingOf(balance, scan.height, scan.finalized, now - scan.finalizedAt)
    return [{ before, after: { ...before, reading, dueAt: whenAt(reading.toHeight, scan, now) } }]
  })
  return ok(changes)
}

const later = (now: UnixMs, ms: number) => (now + ms) as UnixMs // safe: a later time

/** The estimated time at which the scan reaches a height. */
function whenAt(height: BlockHeight, scan: ComparedScan, now: UnixMs): UnixMs {
  return later(now, Math.max(1, height - scan.height) * blockMs)
}

/**
 * Raises or ends the alarm of a difference, before the judgement is stored: after a crash in
 * between, the same reading is judged again. If a reported difference has changed, its alarm ends.
 * If it is unchanged, the alarm is raised again, because an earlier judgement may have ended it and
 * then not been stored. False if an alarm could not be ended.
 */
async function updateAlarm(
  { alarms, logger }: CompareParts,
  { address, cuy, differing }: Holding,
  { outcome, difference }: Judgement,
): Promise<boolean> {
  const subject = { cuy, address }
  const isShort = difference < 0n
  const amount = (isShort ? -difference : difference).toString()
  const fields = { address: formatBase58(address), cuy, amount }
  if (outcome === 'found' || (outcome === 'same' && difference !== 0n)) {
    await alarms.raise(isShort ? 'reconciliation-shortfall' : 'reconciliation-surplus', subject, fields)
  } else if (outcome === 'gone' || (outcome === 'open' && differing >= readingsNeeded)) {
    const hasEnded = [
      await alarms.clear('reconciliation-shortfall', subject),
      await alarms.clear('reconciliation-surplus', subject),
    ]
    if (hasEnded.includes(false)) return false
    logger.info('reconciliation-resolved', fields)
  }
  return true
}
