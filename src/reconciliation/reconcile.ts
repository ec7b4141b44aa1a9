import type { UnixMs } from '../common/time.ts'
import type { Currencies, Currency } from '../ledger/currencies.ts'
import { stallMs } from '../scan/scan.ts'
import type { ScanState, ScanStore } from '../scan/scan-store.ts'
import { reconciliationLeaseMs, slicesPerTickMax, unscannedBlocksMax } from './judge-reading.ts'
import { oneIntervalBefore, reconcileSlice, type SliceParts } from './reconcile-slice.ts'

/** What reconciliation needs. It cannot write to the ledger: it reports, and a person decides. */
export interface ReconcileParts extends SliceParts {
  readonly scanStore: Pick<ScanStore, 'state'>
  readonly currencies: Currencies
}

/**
 * Compares what is recorded with the balances on the chain, slice by slice. Its lease in the database allows one tick at a
 * time; the scan and its lease are not involved. A balance is the node's newest view, so a difference is only a suspicion.
 * It is judged once the scan has passed every block that the reading can include, and reported once it was found
 * `readingsNeeded` times.
 */
export async function reconcile(parts: ReconcileParts): Promise<void> {
  const { clock, reconciliation, currencies, lease } = parts
  const state = await parts.scanStore.state()
  const now = clock.now()
  if (state === null || !isComparable(state, now)) return
  const cuys = currencies.list.map(({ cuy }) => cuy)
  const due = await reconciliation.currenciesDue(cuys, oneIntervalBefore(now), state.position.height)
  if (due.length === 0) return
  const at = clock.now()
  if ((await reconciliation.acquireLease(lease, at, (at + reconciliationLeaseMs) as UnixMs)) === 'taken') return
  try {
    // Each minute starts with another currency.
    const shift = Math.floor(now / 60_000) % due.length
    const inTurn = [...due.slice(shift), ...due.slice(0, shift)].flatMap((cuy) => currencies.byId.get(cuy) ?? [])
    await reconcileInTurn(parts, inTurn, state)
  } finally {
    await reconciliation.releaseLease(lease)
  }
}

/**
 * Whether the blocks that a reading can include are known, and will be scanned soon. While nothing becomes final, or the
 * scan is far behind or halted, no reading can be judged.
 */
function isComparable({ halted, finalized, finalizedAt, position }: ScanState, now: UnixMs): boolean {
  return halted === null && now - finalizedAt <= stallMs && finalized - position.height <= unscannedBlocksMax
}

/** One slice of each currency after the other, while there is work and the tick may do more. */
async function reconcileInTurn(parts: ReconcileParts, inTurn: readonly Currency[], state: ScanState): Promise<void> {
  const waiting = [...inTurn]
  for (let slices = 0; slices < slicesPerTickMax; slices += 1) {
    const currency = waiting.shift()
    if (currency === undefined) return
    const end = await reconcileSlice(parts, currency, state)
    if (end.ok && end.value === 'superseded') return
    if (end.ok && end.value === 'more') waiting.push(currency)
    if (end.ok) continue
    parts.logger.info('reconciliation-delayed', { cuy: currency.cuy, why: end.error.kind })
    if (end.error.kind === 'out-of-budget') return
  }
}
