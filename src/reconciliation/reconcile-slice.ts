import { type Address, formatBase58 } from '../chain/address.ts'
import { type BlockHeight, blockSeconds } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Currency } from '../ledger/currencies.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { ScanState } from '../scan/scan-store.ts'
import {
  acceptedAfterMatch,
  judgeReading,
  magnitude,
  noSuspicion,
  type ReadingVerdict,
  type RecordedBalance,
  readingAheadBlocks,
  readingLagBlocks,
  recordedTotal,
  rereadingsMax,
  runAddressesMin,
  runIntervalMs,
  sliceAddressesMax,
  unexplained,
} from './judge-reading.ts'
import type {
  AddressDifference,
  BalanceReading,
  ComparedAddress,
  OpenDifference,
  ReconciliationRun,
  ReconciliationStore,
  Slice,
  SliceResult,
} from './reconciliation-store.ts'

/** What a slice needs. */
export interface SliceParts {
  readonly chain: Pick<Chain, 'balances'>
  readonly reconciliation: ReconciliationStore
  readonly clock: Clock
  readonly logger: Logger
  /** Name of the lease of the tick. */
  readonly lease: string
}

/** What remains after a slice: perhaps `more`, nothing (`done`), or not this tick's work any more (`superseded`). */
export type SliceEnd = 'more' | 'done' | 'superseded'

/** The newest start of a run after which another one is due. */
export function oneIntervalBefore(now: UnixMs): UnixMs {
  return (now - runIntervalMs) as UnixMs
}

/**
 * One slice of a currency: judges the due readings, reads the next balances, stores both, and reports. Read again are
 * balances that differed, then those of addresses that moved, then those of the run. Where the nodes fail, nothing is
 * stored.
 */
export async function reconcileSlice(
  parts: SliceParts,
  currency: Currency,
  state: ScanState,
): Promise<Result<SliceEnd, ChainFailure>> {
  const { reconciliation, clock, logger, lease } = parts
  const now = clock.now()
  const slice = await reconciliation.beginSlice(currency.cuy, now, oneIntervalBefore(now), state.position.height)
  if (slice === null) return ok('done')
  const judged = await judgeDue(parts, currency, slice)
  const rereadings = judged.filter(({ verdict }) => verdict.kind === 'open').slice(0, rereadingsMax)
  const { moved, next } = choose(slice, sliceAddressesMax - rereadings.length)
  const readings = await readNow(parts, currency, state, [
    ...rereadings.map(({ difference }) => difference.address),
    ...[...moved, ...next].map(({ address }) => address),
  ])
  if (!readings.ok) return readings
  const compared = compare([...moved, ...next], readings.value, currency.asset.kind === 'native')
  const decided = applyVerdicts(judged, readings.value)
  const run = finish(countNext(slice.run, next, readings.value), clock.now())
  const stored = await reconciliation.storeSlice(lease, {
    run,
    open: [...decided.open, ...compared.open],
    closed: decided.closed,
    accepted: [...decided.accepted, ...compared.accepted],
    moved,
    fromHeight: fromHeightOf(state),
  })
  if (stored === 'superseded') return ok('superseded')
  if (run.finishedAt !== slice.run.finishedAt) logFinished(logger, run)
  await reportDifferences(parts, currency)
  const isFull = rereadings.length + slice.moved.length + slice.next.length >= sliceAddressesMax
  return ok(isFull || slice.due.length > rereadingsMax ? 'more' : 'done')
}

/** The first `room` addresses: the moved ones, except for what is left to the run, and then those of the run. */
function choose({ moved, next }: Slice, room: number): Pick<Slice, 'moved' | 'next'> {
  const chosen = moved.slice(0, room - Math.min(runAddressesMin, next.length))
  return { moved: chosen, next: next.slice(0, room - chosen.length) }
}

/** An open difference and the verdict on its reading. */
interface JudgedDifference {
  readonly difference: OpenDifference & AddressDifference
  readonly verdict: ReadingVerdict
}

async function judgeDue(
  { reconciliation }: SliceParts,
  { cuy, asset }: Currency,
  { due }: Slice,
): Promise<readonly JudgedDifference[]> {
  if (due.length === 0) return []
  const spans = due.map(({ address, reading: { fromHeight, toHeight } }) => ({ address, fromHeight, toHeight }))
  const recorded = await reconciliation.recordedBalances(cuy, spans)
  return due.flatMap((difference, i) => {
    const own = recorded[i]
    if (own === undefined) return []
    const { accepted, suspicion, reading } = difference
    return [{ difference, verdict: judgeReading(reading.balance, own, accepted, suspicion, asset.kind === 'native') }]
  })
}

/** A new reading of each address, and what is recorded of it now. */
type Readings = ReadonlyMap<Address, { readonly reading: BalanceReading; readonly recorded: RecordedBalance }>

async function readNow(
  { chain, reconciliation, clock }: SliceParts,
  { cuy, asset }: Currency,
  state: ScanState,
  wanted: readonly Address[],
): Promise<Result<Readings, ChainFailure>> {
  const addresses = [...new Set(wanted)]
  if (addresses.length === 0) return ok(new Map())
  const balances = await chain.balances(addresses, asset)
  if (!balances.ok) return balances
  const [fromHeight, toHeight] = [fromHeightOf(state), toHeightOf(state, clock.now())]
  const spans = addresses.map((address) => ({ address, fromHeight, toHeight: endless }))
  const recorded = await reconciliation.recordedBalances(cuy, spans)
  const pairs = addresses.flatMap((address, i) => {
    const [balance, own] = [balances.value[i], recorded[i]]
    if (balance === undefined || own === undefined) return []
    return [[address, { reading: { balance, fromHeight, toHeight }, recorded: own }] as const]
  })
  return ok(new Map(pairs))
}

/** Every balance that is read includes the blocks up to this height. */
function fromHeightOf({ position }: ScanState): BlockHeight {
  return Math.max(0, position.height - readingLagBlocks) as BlockHeight
}

/** A balance that was read by `now` includes no block above this height. */
function toHeightOf({ position, finalized, finalizedAt }: ScanState, now: UnixMs): BlockHeight {
  const blocksSince = Math.max(0, Math.ceil((now - finalizedAt) / (blockSeconds * 1000)))
  return (Math.max(finalized, position.height) + blocksSince + readingAheadBlocks) as BlockHeight
}

const endless = Number.MAX_SAFE_INTEGER as BlockHeight

/** What the verdicts change: a difference that stays open needs a new reading. */
function applyVerdicts(
  judged: readonly JudgedDifference[],
  readings: Readings,
): Pick<SliceResult, 'open' | 'closed' | 'accepted'> {
  const open: OpenDifference[] = []
  const closed: Address[] = []
  const accepted: AddressDifference[] = []
  for (const { difference, verdict } of judged) {
    const { address } = difference
    if (verdict.kind !== 'open') closed.push(address)
    if (verdict.kind === 'accepted') accepted.push({ address, accepted: verdict.accepted })
    if (verdict.kind !== 'open') continue
    const now = readings.get(address) // absent beyond `rereadingsMax`: a later slice judges its reading again
    if (now === undefined) continue
    if (unexplained(now.reading.balance, now.recorded, difference.accepted) === 0n) closed.push(address)
    else open.push({ address, suspicion: verdict.suspicion, reading: now.reading })
  }
  return { open, closed, accepted }
}

/** Compares addresses, each of which can occur twice: the differences that they show, and the fees accounted for. */
function compare(
  wanted: readonly ComparedAddress[],
  readings: Readings,
  native: boolean,
): Pick<SliceResult, 'open' | 'accepted'> {
  const open: OpenDifference[] = []
  const accepted: AddressDifference[] = []
  for (const one of new Map(wanted.map((each) => [each.address, each])).values()) {
    const now = readings.get(one.address)
    if (now === undefined || one.open) continue
    const { address } = one
    const difference = unexplained(now.reading.balance, now.recorded, one.accepted)
    if (difference !== 0n) open.push({ address, suspicion: noSuspicion, reading: now.reading })
    const matched = difference === 0n ? acceptedAfterMatch(now.recorded, one.accepted, native) : null
    if (matched !== null) accepted.push({ address, accepted: matched })
  }
  return { open, accepted }
}

/** The run after its next addresses. */
function countNext(before: ReconciliationRun, next: Slice['next'], readings: Readings): ReconciliationRun {
  let run = before
  for (const { address, index, accepted } of next) {
    const now = readings.get(address)
    if (now === undefined) break
    const { reading, recorded } = now
    const difference = unexplained(reading.balance, recorded, accepted)
    run = {
      ...run,
      cursor: index,
      addresses: run.addresses + 1,
      recorded: run.recorded + recordedTotal(recorded),
      onChain: run.onChain + reading.balance,
      differing: run.differing + (difference + accepted.confirmed === 0n ? 0 : 1),
    }
  }
  return run
}

function finish(run: ReconciliationRun, now: UnixMs): ReconciliationRun {
  if (run.finishedAt !== null || run.cursor < run.lastIndex) return run
  return { ...run, finishedAt: Math.max(now, run.startedAt) as UnixMs }
}

function logFinished(logger: Logger, run: ReconciliationRun): void {
  const { cuy, addresses, recorded, onChain, differing, startedAt, finishedAt } = run
  const seconds = Math.floor(((finishedAt ?? startedAt) - startedAt) / 1000)
  const sums = { recorded: recorded.toString(), onChain: onChain.toString() }
  logger.info('reconciled', { cuy, addresses, ...sums, differing, seconds })
}

/**
 * Raises the alarms of confirmed differences, after they are stored and before they are marked as reported. So a tick
 * that is killed in between leaves its alarms to the next one, and an unchanged difference is reported once.
 */
async function reportDifferences({ reconciliation, logger }: SliceParts, { cuy }: Currency): Promise<void> {
  const unreported = await reconciliation.unreported(cuy)
  if (unreported.length === 0) return
  for (const { address, accepted } of unreported) {
    const fields = { address: formatBase58(address), cuy, amount: magnitude(accepted.confirmed).toString() }
    if (accepted.confirmed === 0n) logger.info('reconciliation-resolved', fields)
    else logger.alarm(accepted.confirmed < 0n ? 'reconciliation-shortfall' : 'reconciliation-surplus', fields)
  }
  await reconciliation.markReported(cuy, unreported)
}
