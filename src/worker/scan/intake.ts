import { blockSeconds } from '../chain/block.ts'
import { finalityMs } from '../chain/finality.ts'
import type { CurrencyId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import type { ReadContext } from '../ledger/context.ts'
import { selectKnownDecimals } from './rules.ts'
import { type ScanState, selectScan } from './store/position.ts'

/** The deposits that can be credited now, and how late credits are. */
export interface Intake {
  /** The currencies whose deposits can be credited now. */
  readonly open: ReadonlySet<CurrencyId>
  /** Estimated seconds by which credits are later than usual; null if they are on time. */
  readonly lateSeconds: number | null
}

/**
 * In normal operation the last successful scan is no older than the interval between scans plus
 * these milliseconds.
 */
const scanMsMax = 25_000
/**
 * In normal operation the newest final block is no older than these milliseconds, which include the
 * interval between scans and a scan.
 */
const finalMsMax = 120_000

/**
 * Reads from stored state which deposits can be credited now, and how late; no node is queried.
 * `scanEverySeconds` is the configured interval between scans.
 */
export async function readIntake(
  { db, clock, currencies }: Pick<ReadContext, 'db' | 'clock' | 'currencies'>,
  scanEverySeconds: number,
): Promise<Intake> {
  const tokens = [...currencies.byContract.keys()]
  const [state, decimals] = await Promise.all([selectScan(db), selectKnownDecimals(db, tokens)])
  const open = currencies.list.filter(({ retired, asset, decimals: configured }) => {
    if (retired || (state !== null && state.halted !== null)) return false
    return asset.kind === 'native' || decimals.get(asset.contract) === configured
  })
  const lateSeconds = state === null ? null : lateSecondsOf(state, scanEverySeconds, clock.now())
  return { open: new Set(open.map(({ cuy }) => cuy)), lateSeconds }
}

/**
 * Estimated seconds by which credits are later than usual in this state; null if they are on time.
 */
export function lateSecondsOf(
  state: Pick<ScanState, 'height' | 'finalized' | 'finalizedTime' | 'finalizedAt' | 'caughtUpAt'>,
  scanEverySeconds: number,
  now: UnixMs,
): number | null {
  const unreadMs = (state.finalized - state.height) * blockSeconds * 1000
  // Before the first successful scan: the time since the newest final block was stored, plus the
  // time in which the unread blocks were made.
  const unscannedMs = state.caughtUpAt > 0 ? now - state.caughtUpAt : now - state.finalizedAt + unreadMs
  const finalAgeMs = state.finalizedTime > 0 ? now - state.finalizedTime : 0
  if (unscannedMs <= scanEverySeconds * 1000 + scanMsMax && finalAgeMs <= finalMsMax) return null
  return Math.round(Math.max(unscannedMs, finalAgeMs - finalityMs) / 1000)
}
