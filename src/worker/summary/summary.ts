import { addressFromHex, formatBase58 } from '../chain/address.ts'
import type { NodeStatus } from '../chain/node-status.ts'
import { type EndpointKey, type EntryType, entryTypes } from '../common/ids.ts'
import { dayMs, formatInstant, type UnixMs } from '../common/time.ts'
import type { ReadContext } from '../ledger/context.ts'
import { type Currency, configured } from '../ledger/currencies.ts'
import { readPayoutSummary } from '../payouts/summary.ts'
import { type AlarmKind, type AlarmRule, type AlarmSubject, alarmTable } from '../platform/alarm-table.ts'
import { healthOf } from '../scan/health.ts'
import { databaseBytesMax } from '../scan/size.ts'
import type { StoredHealth } from '../scan/store/position.ts'
import { movedKinds, type SummaryData, summaryDays } from '../schemas/summary.ts'
import { jsonAmount, type RawJson, type Written } from '../schemas/written.ts'
import { type StoredEndpoint, selectEndpoints } from '../webhooks/store/endpoint-state.ts'
import { ofDeployment } from '../webhooks/watch-endpoints.ts'
import { readRows, type SummaryRows } from './rows.ts'

/** A predicted day further ahead than this is not shown. */
const daysAheadMax = 36_500

/** The summary as far as it is stored; the route adds what the deployment knows. */
type StoredSummary = Written<Omit<SummaryData, 'nodes' | 'quorum' | 'reader' | 'cells'>>

/**
 * Reads the summary from stored data alone. Sums are kept up to date by triggers, so the number of
 * rows read does not grow with the history.
 */
export async function readSummary(
  context: Pick<ReadContext, 'db' | 'clock' | 'currencies' | 'payouts'>,
  endpoints: readonly { readonly key: EndpointKey }[],
  storedHealth: () => Promise<StoredHealth>,
): Promise<StoredSummary> {
  const { db, clock, currencies } = context
  const now = clock.now()
  const today = Math.floor(now / dayMs)
  const [{ found, bytes }, stored, { scan: state }, payouts] = await Promise.all([
    readRows(db, currencies, today, now),
    endpoints.length === 0 ? [] : selectEndpoints(db),
    storedHealth(),
    context.payouts === null ? null : readPayoutSummary(db, context.payouts, currencies),
  ])
  const [counts] = found.counts
  const { finalizedTime, ...health } = healthOf(state, now)
  const [oldest] = found.held.map(({ oldestAt }) => oldestAt).sort((a, b) => a - b)
  const full = fullAt({ day: today, bytes }, found.sizes[0])
  return {
    currencies: currencies.offered.map((currency) => sumsOf(currency, found, today)),
    addresses: counts?.addresses ?? 0,
    transfers: {
      seen: counts?.seen ?? 0,
      held: found.held.reduce((sum, { count }) => sum + count, 0),
      held_for: found.held.map(({ oldestAt, ...one }) => ({ ...one, oldest_at: formatInstant(oldestAt) })),
    },
    gaps: found.gaps.map(({ from, to, since, attempts, why, seen }) => {
      return { from, to, since: formatInstant(since), attempts, why, seen }
    }),
    alarms: found.alarms.map(({ kind, subject, since }) => {
      const about = JSON.parse(subject) as AlarmSubject // safe: `alarms/` writes this form
      return { kind, subject: shownSubject(about), since: formatInstant(since), ...rulesOf(kind) }
    }),
    differences: found.differences.map(({ cuy, address, difference, since }) => ({
      cuy,
      address: formatBase58(address),
      amt: jsonAmount(BigInt(difference), configured(cuy, currencies).decimals),
      since: formatInstant(since),
    })),
    newest_event: counts?.newestEvent ?? 0,
    database: { bytes, limit: databaseBytesMax, full_on: full === null ? null : dayOf(full) },
    scan: {
      status: health.status,
      scanned: health.scanned,
      finalized: health.finalized,
      behind: health.behind,
      msg: health.msg,
      problem: state?.problem ?? null,
      finalized_at: instantOrNull(finalizedTime),
      oldest_held_at: instantOrNull(oldest ?? null),
    },
    endpoints: ofDeployment(stored, endpoints).map((one) => endpointItem(one, now)),
    payouts,
  }
}

/** A node as the summary shows it. `index` is its place in `TRON_NODES`, from 0. */
export function nodeItem(status: NodeStatus, index: number): NonNullable<SummaryData['nodes']>[number] {
  const { name, state, use, answer, behind, error, used, perDay } = status
  return {
    number: index + 1,
    name,
    state,
    use,
    behind,
    answered_at: instantOrNull(answer?.at ?? null),
    answer_ms: answer?.ms ?? null,
    failed_at: instantOrNull(error?.at ?? null),
    failure: error?.why ?? null,
    used,
    per_day: perDay,
  }
}

function endpointItem(endpoint: StoredEndpoint, now: UnixMs): SummaryData['endpoints'][number] {
  const { number, waitingSince, failingSince, lastFailure, beginsAt } = endpoint
  return {
    number,
    behind_seconds: waitingSince === null ? 0 : Math.max(0, Math.floor((now - waitingSince) / 1000)),
    failing_since: instantOrNull(failingSince),
    last_failure: lastFailure,
    begins_at: formatInstant(beginsAt),
  }
}

/** The subject of an alarm, with addresses in Base58Check. */
function shownSubject(subject: AlarmSubject): SummaryData['alarms'][number]['subject'] {
  const shown = (hex: string) => {
    const address = addressFromHex(hex)
    return address === null ? hex : formatBase58(address)
  }
  if ('address' in subject) return { ...subject, address: shown(subject.address) }
  return 'contract' in subject ? { contract: shown(subject.contract) } : { ...subject }
}

/**
 * The urgency and the texts of a kind of alarm. The texts are empty for a kind that no longer
 * exists, which a row of an older version may have.
 */
function rulesOf(kind: AlarmKind): Omit<AlarmRule, 'ends' | 'needsLine'> {
  const { urgency, raised, remedy } = alarmTable[kind] ?? ({ urgency: 'now', raised: '', remedy: '' } as const)
  return { urgency, raised, remedy }
}

const instantOrNull = (at: UnixMs | null) => (at === null ? null : formatInstant(at))
/** The day (UTC) of an instant, as `2026-09-21`. */
const dayOf = (at: UnixMs) => formatInstant(at).slice(0, 10)

/**
 * The start of the day on which the database is full if it keeps growing at this rate. Null if it
 * does not grow, or if that is unknown.
 */
function fullAt(
  now: { readonly day: number; readonly bytes: number },
  then: SummaryRows['found']['sizes'][number] | undefined,
): UnixMs | null {
  if (then === undefined || now.bytes <= then.bytes) return null
  const perDay = (now.bytes - then.bytes) / (now.day - then.day)
  const daysLeft = Math.floor(Math.max(0, databaseBytesMax - now.bytes) / perDay)
  return daysLeft > daysAheadMax ? null : (((now.day + daysLeft) * dayMs) as UnixMs) // safe: the start of a day
}

/**
 * The sums of a currency. A sum without rows is 0. `days` has an item for each of the last
 * `summaryDays` days, the oldest first.
 */
function sumsOf(
  { cuy, symbol, scale, decimals }: Currency,
  found: SummaryRows['found'],
  today: number,
): Written<SummaryData['currencies'][number]> {
  const own = <Row extends { readonly cuy: number }>(rows: readonly Row[]) => rows.filter((row) => row.cuy === cuy)
  const ofLedger = (units: bigint) => jsonAmount(units, scale)
  const onChain = (parts: string | undefined) => jsonAmount(sumOf(parts, 12), decimals)
  const kinds = new Map(own(found.totals).map((row) => [row.kind, row]))
  const [read, difference] = [kinds.get('read'), kinds.get('difference')]
  const isRead = read !== undefined && read.number > 0
  const { list, newest } = sumsOfDays(own(found.days))
  const types = Object.values(entryTypes).map((type) => ({ type, sum: newest.get(type)?.sum ?? 0n }))
  const [frozen] = own(found.frozen)
  return {
    cuy,
    symbol,
    owed: ofLedger(types.reduce((owed, { sum }) => owed + sum, 0n)),
    owed_by: types.map(({ type, sum }) => ({ type, sum: ofLedger(sum) })),
    held: isRead ? onChain(read.parts) : null,
    held_at: isRead ? formatInstant(read.at) : null,
    held_by: movedKinds.map((what) => ({ what, sum: onChain(kinds.get(what)?.parts) })),
    compared: read?.number ?? 0,
    unread: own(found.unread)[0]?.unread ?? 0,
    frozen: onChain(frozen?.parts),
    frozen_addresses: frozen?.addresses ?? 0,
    destroyed: onChain(own(found.destroyed)[0]?.parts),
    unexplained: onChain(difference?.parts),
    differing: difference?.number ?? 0,
    days: daysOf(list, today, ofLedger),
  }
}

/** The days of a currency from what each day has added. A day without entries has sums of 0. */
function daysOf(
  added: ReturnType<typeof sumsOfDays>['list'],
  today: number,
  amountOf: (units: bigint) => RawJson,
): Written<SummaryData['currencies'][number]['days']> {
  const byDay = Map.groupBy(added, ({ day }) => day)
  return Array.from({ length: summaryDays }, (_, i) => {
    const day = today - summaryDays + 1 + i
    const entries = byDay.get(day) ?? []
    const deposits = entries.find(({ type }) => type === entryTypes.recharge)
    return {
      day: dayOf((day * dayMs) as UnixMs), // safe: the start of a day
      deposits: deposits?.count ?? 0,
      sum: amountOf(deposits?.sum ?? 0n),
      entries: entries.map(({ type, count, sum }) => ({ type, count, sum: amountOf(sum) })),
    }
  })
}

/**
 * Turns running sums per day into the amounts that each day added, and returns the newest running
 * sums by type.
 */
function sumsOfDays(rows: SummaryRows['found']['days']) {
  const newest = new Map<EntryType, { readonly count: number; readonly sum: bigint }>()
  const list = rows.map(({ day, type, count, parts }) => {
    const [before, sum] = [newest.get(type) ?? { count: 0, sum: 0n }, sumOf(parts, 9)]
    newest.set(type, { count, sum })
    return { day, type, count: count - before.count, sum: sum - before.sum }
  })
  return { list, newest }
}

/**
 * A sum from its parts, the highest first; each further part has `digits` digits. The parts are one
 * text: a part may have more digits than a double.
 */
function sumOf(parts = '0', digits: number): bigint {
  return parts.split(' ').reduce((sum, part) => sum * 10n ** BigInt(digits) + BigInt(part), 0n)
}
