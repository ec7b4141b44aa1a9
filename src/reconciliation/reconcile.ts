import { type Address, formatBase58 } from '../addresses/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainFailure } from '../chain/failure.ts'
import { ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import type { LedgerReader, ScanState } from '../ledger/ledger-store.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { stallMs } from '../scan/scan.ts'
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

/** What reconciliation needs. It can't reach the ledger's writer: it reports, a person decides. */
export interface ReconcileParts {
  readonly chain: Pick<Chain, 'balances'>
  readonly reader: Pick<LedgerReader, 'scanState'>
  readonly store: ReconciliationStore
  readonly currencies: Currencies
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Compares what is recorded with what the addresses hold (rule R18): one slice of addresses for each currency, after a
 * scan that ended caught up. A balance is the node's newest view, so a difference is only a suspicion: it is
 * judged when the scan is past all that the look can have seen, and told when it was found three times. Where the
 * nodes fail, the currency's slice is as if it had never begun.
 */
export async function reconcile(parts: ReconcileParts): Promise<void> {
  const { clock, store, currencies, log } = parts
  const state = await parts.reader.scanState()
  const now = clock.now()
  // While finality stands still, `latest` runs away from it, and no look has a known end.
  if (state === null || state.halted !== null || now - state.finalizedAt > stallMs) return
  const cuys = currencies.list.map(({ cuy }) => cuy)
  const waiting = await store.currenciesDue(cuys, before(now), state.position.height)
  const shift = Math.floor(now / 60_000) % Math.max(1, waiting.length)
  for (const cuy of [...waiting.slice(shift), ...waiting.slice(0, shift)].slice(0, currenciesPerTickMax)) {
    const currency = currencies.byId.get(cuy)
    if (currency === undefined) continue
    const taken = await takeTurn(parts, currency, state)
    if (taken.ok) continue
    log.info('reconciliation-delayed', { cuy, why: taken.error.kind })
    if (taken.error.kind === 'out-of-budget') return
  }
}

const before = (now: UnixMs) => (now - runIntervalMs) as UnixMs

/** One currency's turn: judges what is due, looks at the next addresses, stores both, and tells what is confirmed. */
async function takeTurn(
  parts: ReconcileParts,
  currency: Currency,
  state: ScanState,
): Promise<Result<null, ChainFailure>> {
  const { store, clock } = parts
  const { cuy } = currency
  const turn = await store.beginSlice(cuy, clock.now(), before(clock.now()), state.position.height)
  if (turn === null) return ok(null)
  const judged = await judge(parts, currency, turn)
  const again = judged.filter(({ finding }) => finding.kind === 'open').slice(0, rereadingsMax)
  const slice = turn.next.slice(0, sliceAddressesMax - again.length)
  const seen = await look(parts, currency, state, [
    ...again.map(({ difference }) => difference.address),
    ...slice.map(({ address }) => address),
  ])
  if (!seen.ok) return seen
  const result = compare(turn, judged, slice, seen.value, currency.asset.kind === 'native')
  const run = finish(result.run, clock.now())
  if ((await store.storeSlice({ ...result, run })) === 'superseded') return ok(null)
  if (run.finishedAt !== turn.run.finishedAt) report(parts.log, run)
  await tell(parts, currency)
  return ok(null)
}

/** A difference and what its newest look turned out to be. */
interface Judged {
  readonly difference: OpenDifference & AddressDifference
  readonly finding: ReadingVerdict
}

async function judge({ store }: ReconcileParts, { cuy, asset }: Currency, turn: Slice): Promise<readonly Judged[]> {
  if (turn.due.length === 0) return []
  const books = await store.recordedBalances(
    cuy,
    turn.due.map(({ address, reading: { low, high } }) => ({ address, low, high })),
  )
  return turn.due.flatMap((difference, i) => {
    const own = books[i]
    if (own === undefined) return []
    const { accepted: baseline, suspicion, reading: look } = difference
    return [
      { difference, finding: judgeReading({ held: look.balance, baseline, suspicion }, own, asset.kind === 'native') },
    ]
  })
}

/** What a look shows of each address: what it holds, and the books as they stand now. */
type Seen = ReadonlyMap<Address, { readonly look: BalanceReading; readonly books: RecordedBalance }>

async function look(
  { chain, store }: ReconcileParts,
  { cuy, asset }: Currency,
  { position, finalized }: ScanState,
  wanted: readonly Address[],
): Promise<Result<Seen, ChainFailure>> {
  const addresses = [...new Set(wanted)]
  const seen = new Map<Address, { readonly look: BalanceReading; readonly books: RecordedBalance }>()
  if (addresses.length === 0) return ok(seen)
  const low = Math.max(0, position.height - readingLagBlocks) as BlockHeight
  const high = (Math.max(finalized, position.height) + readingAheadBlocks) as BlockHeight
  const balances = await chain.balances(addresses, asset)
  if (!balances.ok) return balances
  const spans = addresses.map((address) => ({ address, low, high: endless }))
  const books = await store.recordedBalances(cuy, spans)
  for (const [i, address] of addresses.entries()) {
    const held = balances.value[i]
    const own = books[i]
    if (held !== undefined && own !== undefined) seen.set(address, { look: { balance: held, low, high }, books: own })
  }
  return ok(seen)
}

const endless = Number.MAX_SAFE_INTEGER as BlockHeight

/** What the turn found, without the run's end. */
function compare(
  turn: Slice,
  judged: readonly Judged[],
  slice: Slice['next'],
  seen: Seen,
  native: boolean,
): SliceResult {
  const open: OpenDifference[] = []
  const closed: Address[] = []
  const baselines: AddressDifference[] = []
  for (const { difference, finding } of judged) {
    const { address, accepted: baseline } = difference
    if (finding.kind !== 'open') closed.push(address)
    if (finding.kind === 'accepted') baselines.push({ address, accepted: finding.baseline })
    if (finding.kind !== 'open') continue
    const now = seen.get(address) // absent where this turn has no look left for it: judged again by the next one
    if (now === undefined) continue
    if (unexplained(now.look.balance, now.books, baseline) === 0n) closed.push(address)
    else open.push({ address, suspicion: finding.suspicion, reading: now.look })
  }
  let { run } = turn
  for (const { address, index, accepted: baseline, examined } of slice) {
    const now = seen.get(address)
    if (now === undefined) break
    const difference = unexplained(now.look.balance, now.books, baseline)
    run = countIn(run, index, now.look.balance, now.books, difference + baseline.confirmed !== 0n)
    if (examined) continue
    if (difference !== 0n) open.push({ address, suspicion: noSuspicion, reading: now.look })
    const quiet = difference === 0n ? acceptedAfterMatch(now.books, baseline, native) : null
    if (quiet !== null) baselines.push({ address, accepted: quiet })
  }
  return { after: turn.run.slices, run, open, closed, accepted: baselines }
}

function countIn(
  run: ReconciliationRun,
  index: number,
  held: bigint,
  books: RecordedBalance,
  differs: boolean,
): ReconciliationRun {
  return {
    ...run,
    cursor: index,
    addresses: run.addresses + 1,
    recorded: run.recorded + recordedTotal(books),
    onChain: run.onChain + held,
    differing: run.differing + (differs ? 1 : 0),
  }
}

function finish(run: ReconciliationRun, now: UnixMs): ReconciliationRun {
  return run.finishedAt === null && run.cursor >= run.lastIndex
    ? { ...run, finishedAt: Math.max(now, run.startedAt) as UnixMs }
    : run
}

function report(
  log: Logger,
  { cuy, addresses, recorded, onChain: held, differing, startedAt, finishedAt }: ReconciliationRun,
): void {
  const seconds = Math.floor(((finishedAt ?? startedAt) - startedAt) / 1000)
  const sums = { recorded: recorded.toString(), held: held.toString() }
  log.info('reconciled', { cuy, addresses, ...sums, differing, seconds })
}

/**
 * Raises the alarms of confirmed differences. They are told after they are stored and marked after they are told: one
 * that a killed tick kept to itself is told by the next, and an unchanged one never again.
 */
async function tell({ store, log }: ReconcileParts, { cuy }: Currency): Promise<void> {
  const untold = await store.unreported(cuy)
  if (untold.length === 0) return
  for (const { address, accepted: baseline } of untold) {
    const fields = { address: formatBase58(address), cuy, amount: magnitude(baseline.confirmed).toString() }
    if (baseline.confirmed === 0n) log.info('reconciliation-resolved', fields)
    else log.alarm(baseline.confirmed < 0n ? 'reconciliation-shortfall' : 'reconciliation-surplus', fields)
  }
  await store.markReported(cuy, untold)
}
