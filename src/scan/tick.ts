import { isBookEmpty } from '../addresses/address-book.ts'
import type { Fault, Observation } from '../alarms/alarms.ts'
import { type BlockHeight, blockSeconds } from '../chain/block.ts'
import type { UnixMs } from '../common/time.ts'
import type { JudgeRules } from '../deposits/transfer.ts'
import { selectFirstSeen, selectOldestHeld } from '../deposits/transfers.ts'
import type { AlarmKind } from '../platform/alarm-table.ts'
import type { Clock } from '../platform/clock.ts'
import type { LogFields } from '../platform/logger.ts'
import type { ObjectHost } from '../platform/object-host.ts'
import { compareHoldings } from '../reconciliation/compare-holdings.ts'
import type { WebhookEndpoint } from '../webhooks/endpoint-state.ts'
import { removeExpiredEvents, watchEndpoints } from '../webhooks/watch-endpoints.ts'
import { readAgain } from './gaps.ts'
import { reportMissing, selectOpenGaps } from './rescans.ts'
import { decideHeld } from './rules.ts'
import type { ScanEnd } from './scan.ts'
import type { Scans, ScansParts } from './scans.ts'
import { watchScan } from './watch.ts'

/** After this, a tick ends: what is left waits for the next one. */
export const tickMs = 25_000
/** Work with leftover requests gets at least this long in a tick where it got none for `restEveryMs`. */
const restMsMin = 2_000
/** See `restMsMin`. */
const restEveryMs = 20_000
/** Old events are looked for this often. */
const expireEveryMs = 60_000
const blockMs = blockSeconds * 1000
/** A tick that comes just before a block is final is followed by another one, which costs requests. */
const marginMs = 500

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
  /** When old events were last looked for. */
  expiredAt: number
}

/**
 * One tick, in this order: endpoints, the scan, held transfers, gaps and comparisons with leftover requests, old events,
 * alarms. What fails is tried again by the next one.
 * @returns when the next one comes
 */
export async function runTick(
  parts: ScannerParts,
  scans: Pick<Scans, 'tick'>,
  memory: TickMemory,
  startedAt: UnixMs,
): Promise<UnixMs> {
  const { db, clock, alarms } = parts
  const everyMs = parts.scanEverySeconds * 1000
  if (!(await parts.hasStoredMeaning())) return (startedAt + everyMs) as UnixMs // safe: a later time
  const delivery = await watchEndpoints(parts) // before the first event that a new endpoint gets
  const end = await scans.tick()
  const { state, rules, head, failure, latest } = end
  if (state !== null) await reportMissing(parts, state)
  if (rules !== null && state?.halted === null && (await decideHeld(parts, rules, state.correctedBy)))
    parts.wakeEndpoints()
  const seen = state === null ? null : await selectFirstSeen(db)
  const next = () => nextTickAt(parts, end, seen?.height ?? null, startedAt)
  await useRest(parts, end, memory, startedAt, next())
  if (startedAt - memory.expiredAt >= expireEveryMs) {
    memory.expiredAt = startedAt
    await removeExpiredEvents(parts)
  }
  const gaps = await selectOpenGaps(db)
  const watched = { now: clock.now(), state, head, latest, failure, gaps, well: await wellKinds(parts, rules) }
  await alarms.observe([delivery, await watchScan(parts, watched), await findTooLarge(parts)])
  return next()
}

/** The kinds of alarms whose faults are known to be over, the scan's own aside. */
async function wellKinds(
  { db, firstIndex, currencies }: ScannerParts,
  rules: JudgeRules | null,
): Promise<readonly AlarmKind[]> {
  const canIssue = firstIndex !== null || !(await isBookEmpty(db))
  const accepted = [...currencies.byContract].filter(([, { retired }]) => !retired)
  const isAgreed = rules !== null && accepted.every(([at, { decimals }]) => rules.decimals.get(at) === decimals)
  const kinds = [canIssue ? 'key-was-used' : null, isAgreed ? 'decimals-differ' : null] as const
  return ['configuration-differs', ...kinds.filter((kind) => kind !== null)]
}

/**
 * When the next tick comes after this end of a scan: when the block of a transfer that was seen should be final, by one final
 * block in each block time, then after each block time until it is; at once while the scan is behind. Neither before the
 * allowances have room, nor later than by the interval. `seen`: the lowest height above the scan with a transfer to a caller.
 */
export function nextTickAt(
  {
    clock,
    tickRoomAt,
    scanEverySeconds,
  }: Pick<ScannerParts, 'tickRoomAt' | 'scanEverySeconds'> & { readonly clock: Pick<Clock, 'now'> },
  { state, head, failure }: Pick<ScanEnd, 'state' | 'head' | 'failure'>,
  seen: BlockHeight | null,
  startedAt: UnixMs,
): UnixMs {
  const now = clock.now()
  const byInterval = startedAt + scanEverySeconds * 1000
  const isBehind = failure?.kind === 'out-of-time' && state !== null && head !== null && state.height < head
  let wanted: number = isBehind ? now : byInterval
  if (!isBehind && state !== null && seen !== null) {
    const finalAt = state.finalizedAt + (seen - state.finalized) * blockMs + marginMs
    wanted = Math.max(finalAt, startedAt + blockMs)
  }
  return Math.max(now, Math.min(byInterval, Math.max(wanted, tickRoomAt()))) as UnixMs // safe: one of the times
}

/** Transfers that no wallet can hold: the oldest one of each currency. */
async function findTooLarge({ db, currencies }: ScannerParts): Promise<Observation> {
  const oldest = await selectOldestHeld(
    db,
    currencies.list.map(({ cuy }) => cuy),
  )
  const faults = oldest.map(({ txid, position }): Fault => {
    return { kind: 'deposit-too-large', subject: { txid, position }, fields: { txid, position } }
  })
  return { kinds: [], faults }
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
