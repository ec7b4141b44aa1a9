import { type BlockHeight, blockSeconds, formatPosition } from '../chain/block.ts'
import type { ScannerCalls } from '../chain/chain.ts'
import { formatInstant, type UnixMs } from '../common/time.ts'
import { selectOldestHeld } from '../deposits/store/held.ts'
import { selectFirstSeen } from '../deposits/store/of-caller.ts'
import { removeDropped } from '../deposits/store/transfers.ts'
import type { JudgeRules } from '../deposits/transfer.ts'
import { nothingStands } from '../issuer/state.ts'
import { selectIssuerState } from '../issuer/store.ts'
import { watchIssuers } from '../issuer/watch-issuers.ts'
import { isStoppedByFork } from '../ledger/stops.ts'
import { expireOrders } from '../orders/store/rows.ts'
import { expirePassed, readCosts } from '../payouts/conclusions.ts'
import type { RestoreDetector } from '../payouts/restore-detector.ts'
import type { Sender } from '../payouts/send.ts'
import { readWallet } from '../payouts/wallet.ts'
import { nothingOfPayouts, watchPayouts } from '../payouts/watch.ts'
import type { AlarmKind } from '../platform/alarm-table.ts'
import type { Clock } from '../platform/clock.ts'
import type { LogFields } from '../platform/logger.ts'
import type { Fault, Observation } from '../platform/observation.ts'
import { compareHoldings } from '../reconciliation/compare-holdings.ts'
import type { WebhookEndpoint } from '../webhooks/store/endpoint-state.ts'
import { removeExpiredEvents, watchEndpoints } from '../webhooks/watch-endpoints.ts'
import { reportNotFound } from './contradicted.ts'
import { readAgain } from './rescans.ts'
import { decideHeld, watchedFor } from './rules.ts'
import type { ScanEnd } from './scan.ts'
import type { Scans, ScansParts } from './scans.ts'
import { watchSize } from './size.ts'
import { nodesStatement } from './store/position.ts'
import { dueAtOnce, selectOpenGaps } from './store/rescans.ts'
import { selectWork, type TickWork } from './store/work.ts'
import { watchScan } from './watch.ts'

/** A tick ends after this time. Work that is left waits for the next tick. */
export const tickMs = 25_000
/**
 * Work with leftover requests (those that neither ticks nor users nor payouts need) gets at least
 * this long in a tick.
 */
const leftoverMsMin = 1_000
/** Most credited transfers that one tick reports as not found again. */
const notFoundMax = 100
/** Most orders that one statement ends, and most such statements of a tick. */
const [expiredMax, expireRoundsMax] = [500, 10] as const
/** Most dropped transfers (seen in blocks that did not become final) that one tick removes. */
const removedMax = 500
/** A deposit that has waited this long for review raises an alarm. */
const reviewMs = 3_600_000
const blockMs = blockSeconds * 1000
/**
 * Ticks of several cells are due at whole intervals of the clock. A tick that begins at most this
 * long before a due time counts as the tick of that time, because the clocks of machines differ.
 */
const apartMsMin = 1_000
/**
 * Added to the estimated time of finality. A tick that comes just before a block is final must be
 * repeated, which costs requests.
 */
const marginMs = 500

export interface ScannerParts extends ScansParts {
  /** Size of the database in bytes by the newest reply of D1; 0 before the first reply. */
  databaseBytes(): number
  /**
   * The earliest time at which the allowances of the nodes permit a tick before `scanEverySeconds`
   * are over.
   */
  tickAvailableAt(): UnixMs
  readonly scanEverySeconds: number
  /**
   * Whether regular ticks begin at whole intervals of the clock, together with those of other
   * cells.
   */
  readonly ticksTogether: boolean
  readonly eventsKeepDays: number
  /** Whether there is an archive, whose own object writes it. */
  readonly hasArchive: boolean
  readonly endpoints: readonly WebhookEndpoint[]
  /** Whether the configuration belongs to the stored data. If not, a tick changes nothing. */
  configMatchesData(): Promise<boolean>
  /** Identifies the set of configured nodes: a different text is a different set. */
  readonly nodes: string
  readonly nodeCount: number
  readonly nodeStatuses: ScannerCalls['nodes']
  /** The nodes that are in trouble now, for the alarms. */
  nodeTroubles(): Promise<Observation>
  /** When a node last recovered after minutes of trouble; 0 if none has. */
  recoveredAt(): UnixMs
  /** The counters of this instance's usage so far, for the log line of a tick. */
  usage(): LogFields
}

/** What a tick calls for payouts, and for pages that wait for deposits. */
export interface TickHelpers {
  readonly restores: RestoreDetector
  readonly sender: Sender
  /** Called when transfers may have changed otherwise than by a scan, of any user. */
  depositsChanged(): void
}

/**
 * One tick, in this order: endpoints, the scan, credits that were not found again, held transfers,
 * orders whose time has passed, sending of payouts, gaps and comparisons with leftover requests,
 * removal of old rows, alarms. The next tick repeats what fails. Work that has nothing to do costs
 * no statement. Returns the time of the next tick.
 */
export async function runTick(
  parts: ScannerParts,
  scans: Pick<Scans, 'tick'>,
  helpers: TickHelpers,
  startedAt: UnixMs,
): Promise<UnixMs> {
  const { db, clock, alarms } = parts
  const everyMs = parts.scanEverySeconds * 1000
  if (!(await parts.configMatchesData())) return (startedAt + everyMs) as UnixMs // safe: a later time
  const delivery = await watchEndpoints(parts) // a new endpoint must be stored before its first event
  const end = await scans.tick()
  const { state, rules, head, behind, failure, latest } = end
  const work = await selectWork(db, { now: clock.now(), eventsKeepDays: parts.eventsKeepDays })
  if (work.hasEvents) parts.wakeEndpoints()
  const isHalted = state !== null && state.halted !== null
  if (work.hasSought && !isStoppedByFork(isHalted, 'find')) await reportNotFound(parts, notFoundMax)
  const mayCredit = state !== null && !isStoppedByFork(isHalted, 'credit')
  if (work.hasHeld && rules !== null && mayCredit && (await decideHeld(parts, rules, state.correctedBy))) {
    helpers.depositsChanged()
    parts.wakeEndpoints()
  }
  if (work.hasDueOrders) await expireDue(parts)
  if (work.hasSigned) {
    await expirePassed(db, clock.now())
    parts.inBackground(helpers.sender.send()) // no tick waits for the sending
  }
  const next = () => nextTickAt(parts, end, work.firstSeen, startedAt)
  await useLeftover(parts, end, work, startedAt, next())
  if (work.hasRescans) helpers.depositsChanged()
  if (work.hasOld) await removeDropped(db, removedMax)
  if (work.hasOldEvents) await removeExpiredEvents(parts)
  const gaps = work.hasRescans ? await selectOpenGaps(db, clock.now()) : []
  const ended = endedKinds(parts, rules, work)
  const watched = watchScan({ now: clock.now(), state, head, latest, behind, failure, gaps, ended })
  const held = work.hasHeld ? await watchHeld(parts) : noneHeld
  const issuers = work.hasActs ? await selectIssuerState(db) : nothingStands
  const acts = watchIssuers(issuers, parts.currencies)
  const mayPayOut = parts.payouts !== null || work.hasPayouts || helpers.restores.known() !== null
  const restoredAt = mayPayOut ? await helpers.restores.compare() : null // this also notes the newest event
  const mayHaveFaults = work.hasPayouts || restoredAt !== null
  const paid = mayHaveFaults ? await watchPayouts(parts, restoredAt, await nodeNames(parts)) : nothingOfPayouts
  const nodes = await parts.nodeTroubles()
  await alarms.observe([delivery, watched, await watchSize(parts, work.sizeDay), held, acts, paid, nodes])
  return next()
}

const nodeNames = async ({ nodeStatuses }: ScannerParts) => (await nodeStatuses()).map(({ name }) => name)

/** Ends the orders whose time has passed. */
async function expireDue({ db, clock, wakeEndpoints }: ScannerParts): Promise<void> {
  for (let round = 0; round < expireRoundsMax; round += 1) {
    const ended = await expireOrders(db, clock.now(), expiredMax)
    wakeEndpoints()
    if (ended < expiredMax) return
  }
}

/** The kinds of alarms whose cause is known to be gone, except those of the scan itself. */
function endedKinds(
  { firstIndex, currencies, hasArchive }: ScannerParts,
  rules: JudgeRules | null,
  { hasAddress }: TickWork,
): readonly AlarmKind[] {
  const canIssue = firstIndex !== null || hasAddress
  const accepted = [...currencies.byContract].filter(([, { retired }]) => !retired)
  const isAgreed = rules !== null && accepted.every(([at, { decimals }]) => rules.decimals.get(at) === decimals)
  const kinds = [
    canIssue ? 'key-was-used' : null,
    isAgreed ? 'decimals-differ' : null,
    hasArchive ? null : 'archive-behind',
  ] as const
  return ['configuration-differs', ...kinds.filter((kind) => kind !== null)]
}

/**
 * The time of the next tick. If a transfer was seen: when its block should be final, estimated at
 * one final block per block time, then every block time until the block is final. If the scan is
 * behind but making progress: at once. Never before the allowances have room, and never later than
 * the interval. `seen` is the lowest height above the position with a transfer to a user, or null.
 */
export function nextTickAt(
  {
    clock,
    tickAvailableAt,
    scanEverySeconds,
    ticksTogether,
  }: Pick<ScannerParts, 'tickAvailableAt' | 'scanEverySeconds' | 'ticksTogether'> & {
    readonly clock: Pick<Clock, 'now'>
  },
  { state, head, failure }: Pick<ScanEnd, 'state' | 'head' | 'failure'>,
  seen: BlockHeight | null,
  startedAt: UnixMs,
): UnixMs {
  const now = clock.now()
  const everyMs = scanEverySeconds * 1000
  const whole = (Math.floor(startedAt / everyMs) + 1) * everyMs
  const byInterval = ticksTogether && whole - startedAt > apartMsMin ? whole : startedAt + everyMs
  const hasMore = state !== null && head !== null && state.height < head
  // Failing nodes are asked again at the interval. But if this tick has read blocks, it may only
  // have asked too much at once, and the next tick goes on.
  const goesOn = failure?.kind === 'no-answer' && state !== null && state.advancedAt >= startedAt
  const isBehind = hasMore && (failure?.kind === 'out-of-time' || goesOn)
  let wanted: number = isBehind ? now : byInterval
  if (!isBehind && state !== null && seen !== null) {
    const finalAt = state.finalizedAt + (seen - state.finalized) * blockMs + marginMs
    wanted = Math.max(finalAt, startedAt + blockMs)
  }
  return Math.max(now, Math.min(byInterval, Math.max(wanted, tickAvailableAt()))) as UnixMs // safe: one of the times
}

/**
 * Brings the next tick forward, after a look or a scan that a user asked for, if a transfer was
 * seen in a block that is not final.
 */
export async function bringForward(parts: ScannerParts, end: ScanEnd): Promise<void> {
  const { db, clock, host } = parts
  const seen = await selectFirstSeen(db)
  const due = await host.alarm()
  if (seen === null || due === null) return
  const next = nextTickAt(parts, end, seen.height, clock.now())
  if (next < due) await host.setAlarm(next)
}

const noneHeld: Observation = { kinds: ['review-overdue'], faults: [] }

/**
 * Watches the transfers that only a person can release: those too large for any wallet, and those
 * waiting for review. Only the oldest one of each currency and reason is reported.
 */
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

/**
 * Reads gaps and compares balances with leftover requests, until the next tick is due, but at least
 * for `leftoverMsMin`.
 */
async function useLeftover(
  parts: ScannerParts,
  { state, rules, head }: ScanEnd,
  work: TickWork,
  startedAt: UnixMs,
  nextAt: UnixMs,
): Promise<void> {
  const { clock } = parts
  if (state === null) return
  const now = clock.now()
  const checks = parts.openChain({ kind: 'leftover' }, (now + tickMs) as UnixMs) // safe: a later time
  // no tick waits for a node that hangs
  parts.inBackground(checks.checkNodes({ height: state.finalized, time: state.finalizedTime }))
  if (rules === null || head === null || state.halted !== null) return
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
  if (work.hasPayouts) await readCosts(parts.db, chain, clock.now())
  let compared = await compareHoldings({ ...parts, chain }, state)
  while (compared.ok && compared.value === 'more' && clock.now() < until) {
    compared = await compareHoldings({ ...parts, chain }, state)
  }
}

/**
 * Makes blocks that could not be read due at once if the set of nodes has changed, or if a node has
 * recovered since they were tried.
 */
async function noteNodes({ db, nodes, recoveredAt }: ScannerParts, triedWith: string, at: UnixMs): Promise<void> {
  const hasChanged = nodes !== triedWith
  const triedBefore = hasChanged ? ((at + 1) as UnixMs) : recoveredAt() // safe: a later time
  const changed = hasChanged ? [nodesStatement(db, nodes)] : []
  await db.batch([dueAtOnce(db, { at, triedBefore }), ...changed])
}
