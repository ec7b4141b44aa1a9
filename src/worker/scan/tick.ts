import type { Fault, Observation } from '../alarms/alarms.ts'
import { type BlockHeight, blockSeconds, formatPosition } from '../chain/block.ts'
import type { ScannerCalls } from '../chain/chain.ts'
import { formatInstant, type UnixMs } from '../common/time.ts'
import { selectOldestHeld } from '../deposits/store/held.ts'
import { endSearch, removeDropped, selectNotFound } from '../deposits/store/transfers.ts'
import type { JudgeRules } from '../deposits/transfer.ts'
import { nothingStands } from '../issuer/state.ts'
import { selectIssuerState } from '../issuer/store.ts'
import { watchIssuers } from '../issuer/watch-issuers.ts'
import { expirePassed } from '../payouts/conclusions.ts'
import type { PayoutMemory } from '../payouts/memory.ts'
import type { Sender } from '../payouts/send.ts'
import { readWallet } from '../payouts/wallet.ts'
import { nothingOfPayouts, watchPayouts } from '../payouts/watch.ts'
import type { AlarmKind } from '../platform/alarm-table.ts'
import type { Clock } from '../platform/clock.ts'
import type { LogFields } from '../platform/logger.ts'
import { compareHoldings } from '../reconciliation/compare-holdings.ts'
import type { WebhookEndpoint } from '../webhooks/store/endpoint-state.ts'
import { removeExpiredEvents, watchEndpoints } from '../webhooks/watch-endpoints.ts'
import { readAgain } from './rescans.ts'
import { decideHeld, watchedFor } from './rules.ts'
import type { ScanEnd } from './scan.ts'
import type { Scans, ScansParts } from './scans.ts'
import { watchSize } from './size.ts'
import { nodesStatement } from './store/position.ts'
import { dueAtOnce, selectOpenGaps } from './store/rescans.ts'
import { droppedKeptMs, selectWork, type TickWork } from './store/work.ts'
import { watchScan } from './watch.ts'

/** After this, a tick ends: what is left waits for the next one. */
export const tickMs = 25_000
/** Work with leftover requests gets at least this long in a tick. */
const leftoverMsMin = 1_000
/** Credited transfers that one tick reports as not found again. */
const notFoundMax = 100
/** Dropped transfers that one tick removes. */
const removedMax = 500
/** A deposit may wait so long for a person who looks at it. */
const reviewMs = 3_600_000
const blockMs = blockSeconds * 1000
/** A tick that comes just before a block is final is followed by another one, which costs requests. */
const marginMs = 500

/** What the scanner is made of. */
export interface ScannerParts extends ScansParts {
  /** Bytes of the database by its newest answer; 0 before the first one. */
  databaseBytes(): number
  /** Earliest time for a tick that is not due by the interval. */
  tickRoomAt(): UnixMs
  readonly scanEverySeconds: number
  readonly eventsKeepDays: number
  readonly endpoints: readonly WebhookEndpoint[]
  /** Whether the configuration has the meaning of the stored data: otherwise a tick changes nothing. */
  configMatchesData(): Promise<boolean>
  /** Names the configured nodes: another text is another set of nodes. */
  readonly nodes: string
  /** How many are configured. */
  readonly nodeCount: number
  /** What an operator is shown of them. */
  readonly nodeReports: ScannerCalls['nodes']
  /** When a node was last well again after minutes of trouble; 0 if none was. */
  recoveredAt(): UnixMs
  /** What this instance has cost so far, in numbers. */
  usage(): LogFields
}

/** What a tick needs of payouts. */
export interface PayoutWork {
  readonly memory: PayoutMemory
  readonly sender: Sender
}

/**
 * One tick, in this order: the scan, held transfers, payouts that are sent, gaps and comparisons with leftover requests, endpoints and
 * old rows, alarms. What fails is tried again by the next one. What is as before costs no statement.
 * @returns when the next one comes
 */
export async function runTick(
  parts: ScannerParts,
  scans: Pick<Scans, 'tick'>,
  payouts: PayoutWork,
  startedAt: UnixMs,
): Promise<UnixMs> {
  const { db, clock, alarms } = parts
  const everyMs = parts.scanEverySeconds * 1000
  if (!(await parts.configMatchesData())) return (startedAt + everyMs) as UnixMs // safe: a later time
  const delivery = await watchEndpoints(parts) // before the first event that a new endpoint gets
  const end = await scans.tick()
  const { state, rules, head, behind, failure, latest } = end
  const work = await selectWork(db, { now: clock.now(), eventsKeepDays: parts.eventsKeepDays })
  if (work.hasEvents) parts.wakeEndpoints()
  if (work.hasSought) await reportNotFound(parts)
  if (work.hasHeld && rules !== null && state?.halted === null && (await decideHeld(parts, rules, state.correctedBy))) {
    parts.wakeEndpoints()
  }
  if (work.hasSigned) {
    await expirePassed(db, clock.now())
    parts.inBackground(payouts.sender.send()) // no tick waits for it
  }
  const next = () => nextTickAt(parts, end, work.firstSeen, startedAt)
  await useLeftover(parts, end, work, startedAt, next())
  if (work.hasOld) await removeDropped(db, (clock.now() - droppedKeptMs) as UnixMs, removedMax) // safe: an earlier time
  if (work.hasOldEvents) await removeExpiredEvents(parts)
  const gaps = work.hasRescans ? await selectOpenGaps(db, clock.now()) : []
  const ended = endedKinds(parts, rules, work)
  const watched = watchScan({ now: clock.now(), state, head, latest, behind, failure, gaps, ended })
  const held = work.hasHeld ? await watchHeld(parts) : noneHeld
  const issuers = work.hasActs ? await selectIssuerState(db) : nothingStands
  const acts = watchIssuers(issuers, parts.currencies)
  const mayPayOut = parts.payouts !== null || work.hasPayouts || payouts.memory.known() !== null
  const restoredAt = mayPayOut ? await payouts.memory.compare() : null // it notes the newest event
  const mayHaveFaults = work.hasPayouts || restoredAt !== null
  const paid = mayHaveFaults ? await watchPayouts(parts, restoredAt, parts.nodeCount) : nothingOfPayouts
  await alarms.observe([delivery, watched, await watchSize(parts, work.sizeDay), held, acts, paid])
  return next()
}

/** The kinds of alarms whose faults are known to be over, the scan's own aside. */
function endedKinds(
  { firstIndex, currencies }: ScannerParts,
  rules: JudgeRules | null,
  { hasAddress }: TickWork,
): readonly AlarmKind[] {
  const canIssue = firstIndex !== null || hasAddress
  const accepted = [...currencies.byContract].filter(([, { retired }]) => !retired)
  const isAgreed = rules !== null && accepted.every(([at, { decimals }]) => rules.decimals.get(at) === decimals)
  const kinds = [canIssue ? 'key-was-used' : null, isAgreed ? 'decimals-differ' : null] as const
  return ['configuration-differs', ...kinds.filter((kind) => kind !== null)]
}

/**
 * When the next tick comes after this end of a scan: when the block of a transfer that was seen should be final, by one final
 * block in each block time, then after each block time until it is; at once while the scan is behind and goes forward. Neither
 * before the allowances have room, nor later than by the interval. `seen`: the lowest height above the scan with a transfer to a caller.
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
  const hasMore = state !== null && head !== null && state.height < head
  // Nodes that fail are asked again by the interval, unless it was a question too many of a tick that has read others.
  const goesOn = failure?.kind === 'no-answer' && state !== null && state.advancedAt >= startedAt
  const isBehind = hasMore && (failure?.kind === 'out-of-time' || goesOn)
  let wanted: number = isBehind ? now : byInterval
  if (!isBehind && state !== null && seen !== null) {
    const finalAt = state.finalizedAt + (seen - state.finalized) * blockMs + marginMs
    wanted = Math.max(finalAt, startedAt + blockMs)
  }
  return Math.max(now, Math.min(byInterval, Math.max(wanted, tickRoomAt()))) as UnixMs // safe: one of the times
}

const noneHeld: Observation = { kinds: ['review-overdue'], faults: [] }

/** What only a person ends: transfers that no wallet can hold, and those that wait for a review. Of each currency the oldest one. */
async function watchHeld({ db, clock, currencies }: ScannerParts): Promise<Observation> {
  const oldest = await selectOldestHeld(
    db,
    currencies.list.map(({ cuy }) => cuy),
  )
  const faults = oldest.flatMap(({ txid, cuy, reason, changedAt, ...one }): Fault[] => {
    const position = formatPosition(one.position)
    if (reason !== 'review')
      return [{ kind: 'deposit-too-large', subject: { txid, position }, fields: { txid, position } }]
    const fields = { cuy, txid, position, since: formatInstant(changedAt) }
    return clock.now() - changedAt > reviewMs ? [{ kind: 'review-overdue', subject: { cuy }, fields }] : []
  })
  return { ...noneHeld, faults }
}

/** Raises an alarm for each credited transfer above a corrected height that was not found again. */
async function reportNotFound({ db, alarms }: ScannerParts): Promise<void> {
  const missing = await selectNotFound(db, notFoundMax)
  for (const { txid, position } of missing) {
    const subject = { txid, position: formatPosition(position) }
    await alarms.raise('corrected-credit', subject, subject)
  }
  const ids = missing.map(({ id }) => id)
  if (ids.length > 0) await endSearch(db, ids)
}

/** Gaps and comparisons, with leftover requests and time: until the next tick is due, but for a second at least. */
async function useLeftover(
  parts: ScannerParts,
  { state, rules, head }: ScanEnd,
  work: TickWork,
  startedAt: UnixMs,
  nextAt: UnixMs,
): Promise<void> {
  const { clock } = parts
  if (state === null || rules === null || head === null || state.halted !== null) return
  const now = clock.now()
  const until = Math.max(now + leftoverMsMin, Math.min(nextAt, startedAt + tickMs)) as UnixMs // safe: a later time
  const chain = parts.openChain({ kind: 'leftover' }, until)
  if (work.hasRescans || state.nodes !== parts.nodes) await noteNodes(parts, state.nodes, now)
  const half = (now + (until - now) / 2) as UnixMs // safe: a later time
  if (work.hasRescans) {
    const watch = watchedFor(state, rules)
    await readAgain(parts, chain, { rules, correctedBy: state.correctedBy, watch }, half)
    if (work.hasSigned) await expirePassed(parts.db, clock.now())
    parts.wakeEndpoints()
  }
  if (work.hasPayouts && parts.payouts !== null) await readWallet(parts, parts.payouts, chain)
  let compared = await compareHoldings({ ...parts, chain }, state)
  while (compared.ok && compared.value === 'more' && clock.now() < until) {
    compared = await compareHoldings({ ...parts, chain }, state)
  }
}

/** What could not be read is due at once if other nodes are configured, or if one of them is well again since. */
async function noteNodes({ db, nodes, recoveredAt }: ScannerParts, triedWith: string, at: UnixMs): Promise<void> {
  const hasChanged = nodes !== triedWith
  const triedBefore = hasChanged ? ((at + 1) as UnixMs) : recoveredAt() // safe: a later time
  const changed = hasChanged ? [nodesStatement(db, nodes)] : []
  await db.batch([dueAtOnce(db, { at, triedBefore }), ...changed])
}
