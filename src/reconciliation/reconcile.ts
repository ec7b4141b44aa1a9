import { type Address, formatBase58 } from '../addresses/address.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import type { ChainFailure } from '../chain/failure.ts'
import {
  afterQuietLook,
  aheadBlocks,
  type Books,
  currenciesPerTickMax,
  type Finding,
  judgeLook,
  lagBlocks,
  looksAgainMax,
  magnitude,
  recordedIn,
  runEveryMs,
  sliceAddressesMax,
  unexamined,
  unexplained,
} from './judge-reading.ts'
import { ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { Chain } from '../chain/chain.ts'
import type { Clock } from '../platform/clock.ts'
import type { LedgerReader, ScanState } from '../ledger/ledger-store.ts'
import type { Log } from '../platform/logger.ts'
import type { Difference, Look, Reconciliations, Run, Standing, Turn, TurnResult } from './reconciliation-store.ts'
import { stallMs } from '../scan/scan.ts'

/** What reconciliation needs. It can't reach the ledger's writer: it reports, a person decides. */
export interface ReconcileParts {
  readonly chain: Pick<Chain, 'balances'>
  readonly reader: Pick<LedgerReader, 'scanState'>
  readonly store: Reconciliations
  readonly currencies: Currencies
  readonly clock: Clock
  readonly log: Log
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
  const waiting = await store.waiting(cuys, before(now), state.position.height)
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

const before = (now: UnixMs) => (now - runEveryMs) as UnixMs

/** One currency's turn: judges what is due, looks at the next addresses, stores both, and tells what is confirmed. */
async function takeTurn(
  parts: ReconcileParts,
  currency: Currency,
  state: ScanState,
): Promise<Result<null, ChainFailure>> {
  const { store, clock } = parts
  const { cuy } = currency
  const turn = await store.begin(cuy, clock.now(), before(clock.now()), state.position.height)
  if (turn === null) return ok(null)
  const judged = await judge(parts, currency, turn)
  const again = judged.filter(({ finding }) => finding.kind === 'open').slice(0, looksAgainMax)
  const slice = turn.next.slice(0, sliceAddressesMax - again.length)
  const seen = await look(parts, currency, state, [
    ...again.map(({ difference }) => difference.address),
    ...slice.map(({ address }) => address),
  ])
  if (!seen.ok) return seen
  const result = compare(turn, judged, slice, seen.value, currency.contract === null)
  const run = finish(result.run, clock.now())
  if ((await store.store({ ...result, run })) === 'superseded') return ok(null)
  if (run.finishedAt !== turn.run.finishedAt) report(parts.log, run)
  await tell(parts, currency)
  return ok(null)
}

/** A difference and what its newest look turned out to be. */
interface Judged {
  readonly difference: Difference & Standing
  readonly finding: Finding
}

async function judge({ store }: ReconcileParts, { cuy, contract }: Currency, turn: Turn): Promise<readonly Judged[]> {
  if (turn.due.length === 0) return []
  const books = await store.books(
    cuy,
    turn.due.map(({ address, look: { low, high } }) => ({ address, low, high })),
  )
  return turn.due.flatMap((difference, i) => {
    const own = books[i]
    if (own === undefined) return []
    const { baseline, suspicion, look } = difference
    return [{ difference, finding: judgeLook({ held: look.held, baseline, suspicion }, own, contract === null) }]
  })
}

/** What a look shows of each address: what it holds, and the books as they stand now. */
type Seen = ReadonlyMap<Address, { readonly look: Look; readonly books: Books }>

async function look(
  { chain, store }: ReconcileParts,
  { cuy, contract }: Currency,
  { position, finalized }: ScanState,
  wanted: readonly Address[],
): Promise<Result<Seen, ChainFailure>> {
  const addresses = [...new Set(wanted)]
  const seen = new Map<Address, { readonly look: Look; readonly books: Books }>()
  if (addresses.length === 0) return ok(seen)
  const low = Math.max(0, position.height - lagBlocks) as BlockHeight
  const high = (Math.max(finalized, position.height) + aheadBlocks) as BlockHeight
  const balances = await chain.balances(addresses, contract)
  if (!balances.ok) return balances
  const spans = addresses.map((address) => ({ address, low, high: endless }))
  const books = await store.books(cuy, spans)
  for (const [i, address] of addresses.entries()) {
    const held = balances.value[i]
    const own = books[i]
    if (held !== undefined && own !== undefined) seen.set(address, { look: { held, low, high }, books: own })
  }
  return ok(seen)
}

const endless = Number.MAX_SAFE_INTEGER as BlockHeight

/** What the turn found, without the run's end. */
function compare(turn: Turn, judged: readonly Judged[], slice: Turn['next'], seen: Seen, native: boolean): TurnResult {
  const open: Difference[] = []
  const closed: Address[] = []
  const baselines: Standing[] = []
  for (const { difference, finding } of judged) {
    const { address, baseline } = difference
    if (finding.kind !== 'open') closed.push(address)
    if (finding.kind === 'accepted') baselines.push({ address, baseline: finding.baseline })
    if (finding.kind !== 'open') continue
    const now = seen.get(address) // absent where this turn has no look left for it: judged again by the next one
    if (now === undefined) continue
    if (unexplained(now.look.held, now.books, baseline) === 0n) closed.push(address)
    else open.push({ address, suspicion: finding.suspicion, look: now.look })
  }
  let { run } = turn
  for (const { address, index, baseline, examined } of slice) {
    const now = seen.get(address)
    if (now === undefined) break
    const difference = unexplained(now.look.held, now.books, baseline)
    run = countIn(run, index, now.look.held, now.books, difference + baseline.known !== 0n)
    if (examined) continue
    if (difference !== 0n) open.push({ address, suspicion: unexamined, look: now.look })
    const quiet = difference === 0n ? afterQuietLook(now.books, baseline, native) : null
    if (quiet !== null) baselines.push({ address, baseline: quiet })
  }
  return { after: turn.run.turns, run, open, closed, baselines }
}

function countIn(run: Run, index: number, held: bigint, books: Books, differs: boolean): Run {
  return {
    ...run,
    cursor: index,
    addresses: run.addresses + 1,
    recorded: run.recorded + recordedIn(books),
    held: run.held + held,
    differing: run.differing + (differs ? 1 : 0),
  }
}

function finish(run: Run, now: UnixMs): Run {
  return run.finishedAt === null && run.cursor >= run.through
    ? { ...run, finishedAt: Math.max(now, run.startedAt) as UnixMs }
    : run
}

function report(log: Log, { cuy, addresses, recorded, held, differing, startedAt, finishedAt }: Run): void {
  const seconds = Math.floor(((finishedAt ?? startedAt) - startedAt) / 1000)
  const sums = { recorded: recorded.toString(), held: held.toString() }
  log.info('reconciled', { cuy, addresses, ...sums, differing, seconds })
}

/**
 * Raises the alarms of confirmed differences. They are told after they are stored and marked after they are told: one
 * that a killed tick kept to itself is told by the next, and an unchanged one never again.
 */
async function tell({ store, log }: ReconcileParts, { cuy }: Currency): Promise<void> {
  const untold = await store.untold(cuy)
  if (untold.length === 0) return
  for (const { address, baseline } of untold) {
    const fields = { address: formatBase58(address), cuy, amount: magnitude(baseline.known).toString() }
    if (baseline.known === 0n) log.info('reconciliation-resolved', fields)
    else log.alarm(baseline.known < 0n ? 'reconciliation-shortfall' : 'reconciliation-surplus', fields)
  }
  await store.markTold(cuy, untold)
}
