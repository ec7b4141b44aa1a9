import type { Address } from '../chain/address.ts'
import type { ChainFailure } from '../chain/chain.ts'
import type { CurrencyId, EndpointKey, EntryType } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { statement, type Value } from '../d1/database.ts'
import type { HeldReason, TotalKind } from '../d1/tables.ts'
import { countedMax } from '../deposits/deposits.ts'
import type { ReadContext } from '../ledger/context.ts'
import type { AlarmKind, AlarmSubject } from '../platform/alarm-table.ts'
import { type StoredEndpoint, selectEndpoints } from '../webhooks/endpoint-state.ts'
import { ofDeployment } from '../webhooks/watch-endpoints.ts'
import { readScanHealth, type ScanHealth, type SharedHealth } from './health.ts'
import type { OpenGap } from './rescans.ts'

/** Days in a summary, today's included. They are those of UTC. */
export const summaryDays = 30
/** Gaps in a summary, from the lowest on. */
export const summaryGapsMax = 20
/** Alarms in a summary, by kind. */
export const summaryAlarmsMax = 50

/** Addresses with a difference in a summary. */
export const summaryDifferencesMax = 20

/** Transfers of one gap that are counted. */
export const summaryGapSeenMax = 100
/** Addresses of one currency, those that are read next, among which the ones with newer transfers are counted. */
export const summaryUnreadMax = 200
/** An address is read this long after a transfer of it was stored (`0001_invariants.sql`). */
const readAfterMs = 60_000

const dayMs = 86_400_000

/** The entries of one type on one day. */
export interface TypeSum {
  readonly type: EntryType
  readonly count: number
  /** Ledger units. */
  readonly sum: bigint
}

/** One day, with each type of which there are entries. */
export interface SummaryDay {
  readonly startsAt: UnixMs
  readonly entries: readonly TypeSum[]
}

/** The sums of one currency. What nothing is known of is 0. */
export interface CurrencySummary {
  readonly cuy: CurrencyId
  /** What all wallets hold, in ledger units. */
  readonly owed: bigint
  /** What the addresses hold by their newest reading, in chain units; null where none was read. */
  readonly held: { readonly sum: bigint; readonly addresses: number; readonly newestAt: UnixMs } | null
  /** Of the `summaryUnreadMax` addresses that are read next: how many have a transfer that their newest reading may lack. */
  readonly unread: number
  /** The reported differences between records and readings, in chain units, and of how many addresses. */
  readonly unexplained: { readonly sum: bigint; readonly addresses: number }
  /** Oldest first, without a hole. */
  readonly days: readonly SummaryDay[]
}

/** Held transfers of one currency, for one reason. */
export interface HeldGroup {
  readonly reason: HeldReason
  readonly cuy: CurrencyId
  readonly count: number
  /** When the oldest of them was found. */
  readonly oldestAt: UnixMs
}

/** An address that holds more or less than is recorded. */
export interface HoldingDifference {
  readonly cuy: CurrencyId
  readonly address: Address
  /** Chain units, signed. */
  readonly difference: bigint
  /** When it was reported. */
  readonly since: UnixMs
}

/** A raised alarm. */
export interface RaisedAlarm {
  readonly kind: AlarmKind
  readonly subject: AlarmSubject
  /** When it was raised first. */
  readonly since: UnixMs
}

/** What an operator looks at first. */
export interface Summary {
  readonly currencies: readonly CurrencySummary[]
  /** Addresses that were issued, reserved ones included. */
  readonly addresses: number
  /** At most `countedMax`. */
  readonly seen: number
  /** Of the first `countedMax`, by their reason. */
  readonly held: readonly HeldGroup[]
  /** Each with the transfers that were seen in it, at most `summaryGapSeenMax`. */
  readonly gaps: readonly (OpenGap & { readonly since: UnixMs; readonly seen: number })[]
  readonly alarms: readonly RaisedAlarm[]
  /** Reported ones: the first `summaryDifferencesMax`. */
  readonly differences: readonly HoldingDifference[]
  /** The id of the newest event, 0 where there is none. */
  readonly newestEvent: number
  readonly scan: ScanHealth
  /** Why the newest tick did not read everything; null where it did. */
  readonly problem: ChainFailure['kind'] | null
  readonly endpoints: readonly StoredEndpoint[]
}

/** Reads what is stored, and no node. All sums are kept as they arise, so the rows read do not grow with the history. */
export async function readSummary(
  context: Pick<ReadContext, 'db' | 'clock' | 'currencies'>,
  endpoints: readonly { readonly key: EndpointKey }[],
  shared: SharedHealth,
): Promise<Summary> {
  const { db, clock, currencies } = context
  const now = clock.now()
  const today = Math.floor(now / dayMs)
  const values = {
    after: today - summaryDays,
    max: countedMax,
    ...{ gaps: summaryGapsMax, gapSeen: summaryGapSeenMax },
    alarms: summaryAlarmsMax,
    differences: summaryDifferencesMax,
    ...{
      cuys: JSON.stringify(currencies.list.map(({ cuy }) => cuy)),
      soon: now + readAfterMs,
      unread: summaryUnreadMax,
    },
  }
  const [rows, delays, scan] = await Promise.all([
    db.batch(Object.values(selects).map((select) => select(db, values satisfies Record<string, Value>))),
    endpoints.length === 0 ? [] : selectEndpoints(db),
    readScanHealth(context, shared),
  ])
  const [totals, days, counts, held, gaps, alarms, differences, unread] = rows.map(
    ({ results }) => results as unknown,
  ) as [
    readonly TotalRow[],
    readonly DayRow[],
    readonly (Pick<Summary, 'seen' | 'addresses' | 'newestEvent' | 'problem'> | undefined)[],
    Summary['held'],
    Summary['gaps'],
    readonly (Omit<RaisedAlarm, 'subject'> & { readonly subject: string })[],
    readonly (Omit<HoldingDifference, 'difference'> & { readonly difference: string })[],
    readonly Pick<CurrencySummary, 'cuy' | 'unread'>[],
  ] // safe: the statements in their order
  const { seen = 0, addresses = 0, newestEvent = 0, problem = null } = counts[0] ?? {}
  const sums = currencies.list.map(({ cuy }) => ({
    ...summaryOf(cuy, totals, days, today),
    unread: unread.find((one) => one.cuy === cuy)?.unread ?? 0,
  }))
  return {
    ...{
      currencies: sums,
      addresses,
      seen,
      held,
      gaps,
      newestEvent,
      scan,
      problem,
      endpoints: ofDeployment(delays, endpoints),
    },
    alarms: alarms.map((one) => ({ ...one, subject: JSON.parse(one.subject) })),
    differences: differences.map((one) => ({ ...one, difference: BigInt(one.difference) })),
  }
}

interface TotalRow {
  readonly cuy: CurrencyId
  readonly kind: TotalKind
  readonly number: number
  readonly at: UnixMs
  readonly parts: string
}

interface DayRow {
  readonly day: number
  readonly cuy: CurrencyId
  readonly type: EntryType
  readonly count: number
  readonly parts: string
}

function summaryOf(
  cuy: CurrencyId,
  totals: readonly TotalRow[],
  rows: readonly DayRow[],
  today: number,
): Omit<CurrencySummary, 'unread'> {
  const total = (kind: TotalKind) => totals.find((one) => one.cuy === cuy && one.kind === kind)
  const [owed, held, difference] = [total('owed'), total('held'), total('difference')]
  const byDay = Map.groupBy(
    rows.filter((one) => one.cuy === cuy),
    (one) => one.day,
  )
  return {
    cuy,
    owed: sumOf(owed?.parts, 12),
    held:
      held === undefined || held.number === 0
        ? null
        : { sum: sumOf(held.parts, 12), addresses: held.number, newestAt: held.at },
    unexplained: { sum: sumOf(difference?.parts, 12), addresses: difference?.number ?? 0 },
    days: Array.from({ length: summaryDays }, (_, i) => {
      const day = today - summaryDays + 1 + i
      const entries = (byDay.get(day) ?? []).map(({ type, count, parts }) => ({ type, count, sum: sumOf(parts, 9) }))
      return { startsAt: (day * dayMs) as UnixMs, entries } // safe: the start of a day
    }),
  }
}

/** A sum of parts with this many digits each, the highest first. They are one text: a part can have more digits than a double. */
function sumOf(parts = '0', digits: number): bigint {
  return parts.split(' ').reduce((sum, part) => sum * 10n ** BigInt(digits) + BigInt(part), 0n)
}

const partsText = [0, 1, 2, 3, 4, 5, 6].map((part) => `part_${part}`).join(` || ' ' || `)

/** In the order in which `readSummary` reads their rows. */
const selects = {
  totals: statement(`SELECT cuy, kind, number, changed_at AS at, ${partsText} AS parts FROM total`),
  days: statement(`
SELECT day, cuy, type, entries AS count, high || ' ' || low AS parts FROM day WHERE day > :after ORDER BY day, cuy, type`),
  counts: statement(`
SELECT (SELECT count(*) FROM (SELECT 1 FROM transfer INDEXED BY transfer_seen WHERE state = 'seen' LIMIT :max)) AS seen,
  coalesce((SELECT max(id) FROM address) - (SELECT min(id) FROM address) + 1, 0) AS addresses,
  coalesce((SELECT max(id) FROM event), 0) AS newestEvent, (SELECT problem FROM scan) AS problem`),
  held: statement(`
SELECT held.*, created_at AS oldestAt FROM (
  SELECT reason, cuy, count(*) AS count, min(id) AS oldest
  FROM (SELECT reason, cuy, id FROM transfer INDEXED BY transfer_held WHERE state = 'held' ORDER BY reason, cuy, id LIMIT :max)
  GROUP BY reason, cuy
) AS held CROSS JOIN transfer ON transfer.id = oldest ORDER BY held.reason, held.cuy`),
  gaps: statement(`
SELECT id, next_height AS "from", to_height AS "to", attempts, why, created_at AS since, (
  SELECT count(*) FROM (SELECT 1 FROM transfer INDEXED BY transfer_seen
    WHERE state = 'seen' AND height BETWEEN next_height AND to_height LIMIT :gapSeen)) AS seen
FROM rescan INDEXED BY rescan_open WHERE finished_at IS NULL AND (kind = 'gap' OR attempts > 0) ORDER BY to_height LIMIT :gaps`),
  alarms: statement(`
SELECT kind, subject, raised_at AS since FROM alarm WHERE raised_at IS NOT NULL ORDER BY kind, subject LIMIT :alarms`),
  differences: statement(`
SELECT holding.cuy, holding.address, holding.difference, raised_at AS since
FROM (SELECT subject, raised_at FROM alarm WHERE raised_at IS NOT NULL AND kind IN ('reconciliation-shortfall', 'reconciliation-surplus')
  ORDER BY kind, subject LIMIT :differences) AS reported
CROSS JOIN holding ON holding.cuy = reported.subject ->> 'cuy' AND holding.address = reported.subject ->> 'address'
WHERE holding.difference <> '0'`),
  unread: statement(`
SELECT value AS cuy, (
  SELECT count(*) FROM (SELECT changed_height, read_from FROM holding INDEXED BY holding_due
    WHERE cuy = value AND due_at <= :soon ORDER BY due_at LIMIT :unread)
  WHERE changed_height > coalesce(read_from, 0)) AS unread
FROM json_each(:cuys)`),
}
