import { type Address, formatBase58 } from '../addresses/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { stallMs } from '../scan/scan.ts'
import type { ScanState, ScanStore } from '../scan/scan-store.ts'
import {
  acceptedAfterMatch,
  currenciesPerTickMax,
  judgeReading,
  magnitude,
  noSuspicion,
  type ReadingVerdict,
  type RecordedBalance,
  readingAheadBlocks,
  readingLagBlocks,
  recordedTotal,
  rereadingsMax,
  runIntervalMs,
  sliceAddressesMax,
  unexplained,
} from './judge-reading.ts'
import type {
  AddressDifference,
  BalanceReading,
  OpenDifference,
  ReconciliationRun,
  ReconciliationStore,
  Slice,
  SliceResult,
} from './reconciliation-store.ts'

/** What reconciliation needs. It cannot write to the ledger: it reports, and a person decides. */
export interface ReconcileParts {
  readonly chain: Pick<Chain, 'balances'>
  readonly scanStore: Pick<ScanStore, 'state'>
  readonly reconciliation: ReconciliationStore
  readonly currencies: Currencies
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Compares what is recorded with the balances on the chain: one slice of addresses per currency, after a scan that ended
 * caught up. A balance is the node's newest view, so a difference is only a suspicion. It is judged once the scan has
 * passed every block that the reading can include, and reported once it was found `readingsNeeded` times. Where the nodes
 * fail, nothing of the currency's slice is stored.
 */
export async function reconcile(parts: ReconcileParts): Promise<void> {
  const { clock, reconciliation, currencies, logger } = parts
  const state = await parts.scanStore.state()
  const now = clock.now()
  // While nothing becomes final, the distance to `latest` grows, and no reading has a known upper bound.
  if (state === null || state.halted !== null || now - state.finalizedAt > stallMs) return
  const cuys = currencies.list.map(({ cuy }) => cuy)
  const due = await reconciliation.currenciesDue(cuys, oneIntervalBefore(now), state.position.height)
  const shift = Math.floor(now / 60_000) % Math.max(1, due.length)
  for (const cuy of [...due.slice(shift), ...due.slice(0, shift)].slice(0, currenciesPerTickMax)) {
    const currency = currencies.byId.get(cuy)
    if (currency === undefined) continue
    const reconciled = await reconcileSlice(parts, currency, state)
    if (reconciled.ok) continue
    logger.info('reconciliation-delayed', { cuy, why: reconciled.error.kind })
    if (reconciled.error.kind === 'out-of-budget') return
  }
}

function oneIntervalBefore(now: UnixMs): UnixMs {
  return (now - runIntervalMs) as UnixMs
}

/** One slice of a currency: judges the due readings, reads the next balances, stores both, and reports. */
async function reconcileSlice(
  parts: ReconcileParts,
  currency: Currency,
  state: ScanState,
): Promise<Result<null, ChainFailure>> {
  const { reconciliation, clock, logger } = parts
  const { cuy } = currency
  const now = clock.now()
  const slice = await reconciliation.beginSlice(cuy, now, oneIntervalBefore(now), state.position.height)
  if (slice === null) return ok(null)
  const judged = await judgeDue(parts, currency, slice)
  const rereadings = judged.filter(({ verdict }) => verdict.kind === 'open').slice(0, rereadingsMax)
  const next = slice.next.slice(0, sliceAddressesMax - rereadings.length)
  const readings = await readBalances(parts, currency, state, [
    ...rereadings.map(({ difference }) => difference.address),
    ...next.map(({ address }) => address),
  ])
  if (!readings.ok) return readings
  const compared = compareNext({ ...slice, next }, readings.value, currency.asset.kind === 'native')
  const decided = applyVerdicts(judged, readings.value)
  const run = finish(compared.run, clock.now())
  const stored = await reconciliation.storeSlice({
    after: slice.run.slices,
    run,
    open: [...decided.open, ...compared.open],
    closed: decided.closed,
    accepted: [...decided.accepted, ...compared.accepted],
  })
  if (stored === 'superseded') return ok(null)
  if (run.finishedAt !== slice.run.finishedAt) logFinished(logger, run)
  await reportDifferences(parts, currency)
  return ok(null)
}

/** An open difference and the verdict on its reading. */
interface JudgedDifference {
  readonly difference: OpenDifference & AddressDifference
  readonly verdict: ReadingVerdict
}

async function judgeDue(
  { reconciliation }: ReconcileParts,
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

async function readBalances(
  { chain, reconciliation }: ReconcileParts,
  { cuy, asset }: Currency,
  { position, finalized }: ScanState,
  wanted: readonly Address[],
): Promise<Result<Readings, ChainFailure>> {
  const addresses = [...new Set(wanted)]
  if (addresses.length === 0) return ok(new Map())
  const fromHeight = Math.max(0, position.height - readingLagBlocks) as BlockHeight
  const toHeight = (Math.max(finalized, position.height) + readingAheadBlocks) as BlockHeight
  const balances = await chain.balances(addresses, asset)
  if (!balances.ok) return balances
  const spans = addresses.map((address) => ({ address, fromHeight, toHeight: endless }))
  const recorded = await reconciliation.recordedBalances(cuy, spans)
  const pairs = addresses.flatMap((address, i) => {
    const [balance, own] = [balances.value[i], recorded[i]]
    if (balance === undefined || own === undefined) return []
    return [[address, { reading: { balance, fromHeight, toHeight }, recorded: own }] as const]
  })
  return ok(new Map(pairs))
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

/** Compares the next addresses: the run after them, and the differences that they show. */
function compareNext(
  { run: before, next }: Slice,
  readings: Readings,
  native: boolean,
): Pick<SliceResult, 'run' | 'open' | 'accepted'> {
  let run = before
  const open: OpenDifference[] = []
  const accepted: AddressDifference[] = []
  for (const one of next) {
    const { address } = one
    const now = readings.get(address)
    if (now === undefined) break
    const { reading, recorded } = now
    const difference = unexplained(reading.balance, recorded, one.accepted)
    run = {
      ...run,
      cursor: one.index,
      addresses: run.addresses + 1,
      recorded: run.recorded + recordedTotal(recorded),
      onChain: run.onChain + reading.balance,
      differing: run.differing + (difference + one.accepted.confirmed === 0n ? 0 : 1),
    }
    if (one.open) continue
    if (difference !== 0n) open.push({ address, suspicion: noSuspicion, reading })
    const matched = difference === 0n ? acceptedAfterMatch(recorded, one.accepted, native) : null
    if (matched !== null) accepted.push({ address, accepted: matched })
  }
  return { run, open, accepted }
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
async function reportDifferences({ reconciliation, logger }: ReconcileParts, { cuy }: Currency): Promise<void> {
  const unreported = await reconciliation.unreported(cuy)
  if (unreported.length === 0) return
  for (const { address, accepted } of unreported) {
    const fields = { address: formatBase58(address), cuy, amount: magnitude(accepted.confirmed).toString() }
    if (accepted.confirmed === 0n) logger.info('reconciliation-resolved', fields)
    else logger.alarm(accepted.confirmed < 0n ? 'reconciliation-shortfall' : 'reconciliation-surplus', fields)
  }
  await reconciliation.markReported(cuy, unreported)
}
