import { watchScan } from '../alarms/watch-scan.ts'
import type { BlockHeight } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'
import { selectFirstSeen, selectOldestHeld } from '../deposits/transfers.ts'
import type { LogFields } from '../platform/logger.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { compareHoldings } from '../reconciliation/compare-holdings.ts'
import type { WebhookEndpoint } from '../webhooks/endpoint.ts'
import { registerEndpoints } from '../webhooks/endpoint-state.ts'
import { watchEndpoints } from '../webhooks/watch-endpoints.ts'
import { reportMissing } from './corrected-credits.ts'
import { readAgain } from './gaps.ts'
import { decideHeld } from './held.ts'
import { restEveryMs, restMsMin, tickMs } from './limits.ts'
import { selectOpenGaps } from './rescans.ts'
import type { ScanEnd } from './scan.ts'
import type { Scans, ScansParts } from './scans.ts'
import { nextTickAt } from './schedule.ts'

/** What the scanner is made of. */
export interface ScannerParts extends ScansParts {
  readonly host: ObjectHost
  /** Earliest time for a tick that is not due by the interval. */
  tickRoomAt(): UnixMs
  readonly scanEverySeconds: number
  readonly eventsKeepDays: number
  readonly endpoints: readonly WebhookEndpoint[]
  /** Whether the configuration has the meaning of the stored data: otherwise a tick changes nothing. */
  hasStoredMeaning(): Promise<boolean>
  /** What this instance has cost so far, in numbers. */
  usage(): LogFields
}

/** What the ticks of one instance remember. It can be lost at any time. */
export interface TickMemory {
  /** When leftover requests were last used. */
  restAt: number
}

/**
 * One tick, in this order: the scan, held transfers, gaps and comparisons with leftover requests, endpoints and
 * old events, alarms. What fails is tried again by the next one.
 * @returns when the next one comes
 */
export async function runTick(
  parts: ScannerParts,
  scans: Pick<Scans, 'tick'>,
  memory: TickMemory,
  startedAt: UnixMs,
): Promise<UnixMs> {
  const { db, clock, endpoints, firstIndex } = parts
  const everyMs = parts.scanEverySeconds * 1000
  if (!(await parts.hasStoredMeaning())) return (startedAt + everyMs) as UnixMs // safe: a later time
  await registerEndpoints(db, endpoints, startedAt) // before the first event that they get
  const end = await scans.tick()
  const { state, rules, head, failure, latest } = end
  if (state !== null) await reportMissing(parts, state)
  await alarmTooLarge(parts)
  if (rules !== null && state?.halted === null && (await decideHeld(parts, rules))) parts.wakeEndpoints()
  const seen = state === null ? null : await selectFirstSeen(db)
  const next = () => nextTickOf(parts, end, seen?.height ?? null, startedAt)
  await useRest(parts, end, memory, startedAt, next())
  await watchEndpoints(parts)
  const gaps = await selectOpenGaps(db)
  const well = ['configuration-differs', ...(firstIndex === null ? [] : ['key-was-used' as const])] as const
  await watchScan(parts, { now: clock.now(), state, head, latest, failure, gaps, well })
  return next()
}

/** When the next tick comes after this end of a scan. `seen`: the lowest height above the scan with a transfer to a caller. */
export function nextTickOf(
  { clock, tickRoomAt, scanEverySeconds }: Pick<ScannerParts, 'clock' | 'tickRoomAt' | 'scanEverySeconds'>,
  { state, head, failure }: ScanEnd,
  seen: BlockHeight | null,
  startedAt: UnixMs,
): UnixMs {
  return nextTickAt({
    ...{ startedAt, everyMs: scanEverySeconds * 1000, now: clock.now(), roomAt: tickRoomAt(), seen },
    isBehind: failure?.kind === 'out-of-time' && state !== null && head !== null && state.height < head,
    finalized: state?.finalized ?? (0 as BlockHeight), // safe: unused where nothing was seen
    finalizedAt: state?.finalizedAt ?? startedAt,
  })
}

/** Raises an alarm for transfers that no wallet can hold, the oldest one of each currency at a time. */
async function alarmTooLarge({ db, currencies, alarms }: ScannerParts): Promise<void> {
  const cuys = currencies.list.map(({ cuy }) => cuy)
  for (const { txid, position } of await selectOldestHeld(db, cuys)) {
    await alarms.raise('deposit-too-large', `${txid}:${position}`, { txid, position })
  }
}

/**
 * Gaps and comparisons, with leftover requests and time: until the next tick is due, but not for ever none
 * where ticks follow one another.
 */
async function useRest(
  parts: ScannerParts,
  { state, rules, head }: ScanEnd,
  memory: TickMemory,
  startedAt: UnixMs,
  nextAt: UnixMs,
): Promise<void> {
  const { clock } = parts
  if (state === null || rules === null || head === null || state.halted !== null) return
  const now = clock.now()
  const least = now - memory.restAt >= restEveryMs ? now + restMsMin : now
  const until = Math.max(least, Math.min(nextAt, startedAt + tickMs)) as UnixMs // safe: one of the times
  if (until <= now) return
  memory.restAt = now
  const chain = parts.openChain({ kind: 'rest' }, until)
  const half = (now + (until - now) / 2) as UnixMs // safe: a later time
  await readAgain(parts, chain, { rules, correctedBy: state.correctedBy }, half)
  let compared = await compareHoldings({ ...parts, chain }, state)
  while (compared.ok && compared.value === 'more' && clock.now() < until) {
    compared = await compareHoldings({ ...parts, chain }, state)
  }
}
