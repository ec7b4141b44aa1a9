import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { countedMax } from '../common/counted.ts'
import { type EndpointKey, type EntryType, entryTypes } from '../common/ids.ts'
import type { HeldReason } from '../common/reasons.ts'
import type { UnixMs } from '../common/time.ts'
import { ofHex, type ReadDatabase, shown, toStatement } from '../d1/database.ts'
import { alarmRows, days, holdings, rescans, sizes, totals } from '../d1/state-tables.ts'
import { addresses, type TotalKind, transfers } from '../d1/tables.ts'
import { type PartsOfCurrency, selectDestroyedSums, selectFrozenSums } from '../issuer/sums.ts'
import type { ReadContext } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { selectSumsUpTo } from '../ledger/store/entries.ts'
import { readPayoutSummary } from '../payouts/summary.ts'
import type { AlarmSubject } from '../platform/alarm-table.ts'
import { healthOf } from '../scan/health.ts'
import { databaseBytesMax } from '../scan/size.ts'
import type { StoredHealth } from '../scan/store/position.ts'
import {
  movedKinds,
  summaryAlarmsMax,
  summaryDays,
  summaryDifferencesMax,
  summaryGapSeenMax,
  summaryGapsMax,
  summaryUnreadMax,
} from '../schemas/summary.ts'
import { selectEndpoints } from '../webhooks/store/endpoint-state.ts'
import { ofDeployment } from '../webhooks/watch-endpoints.ts'

/** The balance of an address is read this long after a transfer to or from it was stored (`0001_invariants.sql`). */
const readAfterMs = 60_000

/** The database's growth in this many days predicts when it is full. */
const growthDays = 30
/** A predicted day further ahead than this is not shown. */
const daysAheadMax = 36_500
const dayMs = 86_400_000

type Moved = Readonly<Record<(typeof movedKinds)[number], bigint>>

/** The summary for operators, with integers as the database has them. `GET /ledger/summary` documents each member. */
export type Summary = Awaited<ReturnType<typeof readSummary>>
/** The sums of one currency: `owed`, `types` and `days` in ledger units, all other sums in chain units. */
export type CurrencySummary = ReturnType<typeof sumsOf>

/** Reads the summary from stored data alone. Sums are kept up to date by triggers, so the number of rows read does not grow with the history. */
export async function readSummary(
  context: Pick<ReadContext, 'db' | 'clock' | 'currencies' | 'payouts'>,
  endpoints: readonly { readonly key: EndpointKey }[],
  storedHealth: () => Promise<StoredHealth>,
) {
  const { db, clock, currencies } = context
  const now = clock.now()
  const today = Math.floor(now / dayMs)
  const cuys = currencies.offered.map(({ cuy }) => cuy)
  const queries = {
    totals: selectTotals(),
    days: selectDays(currencies, today - summaryDays),
    counts: selectCounts(),
    held: selectHeld(),
    gaps: selectGaps(),
    alarms: selectRaised(),
    differences: selectDifferences(),
    frozen: selectFrozenSums(),
    destroyed: selectDestroyedSums(),
    unread: selectUnread(JSON.stringify(cuys), now + readAfterMs),
    sizes: selectEarlierSize(today),
  }
  const [{ found, bytes }, stored, { scan: state }, payouts] = await Promise.all([
    readTogether(db, queries),
    endpoints.length === 0 ? [] : selectEndpoints(db),
    storedHealth(),
    context.payouts === null ? null : readPayoutSummary(db, context.payouts),
  ])
  const [counts] = found.counts
  return {
    currencies: cuys.map((cuy) => {
      const unread = found.unread.find((one) => one.cuy === cuy)?.unread ?? 0
      return sumsOf(
        {
          cuy,
          unread,
          totals: found.totals.filter((one) => one.cuy === cuy),
          days: found.days.filter((one) => one.cuy === cuy),
          frozen: found.frozen.find((one) => one.cuy === cuy),
          destroyed: found.destroyed.find((one) => one.cuy === cuy),
        },
        today,
      )
    }),
    addresses: counts?.addresses ?? 0,
    seen: counts?.seen ?? 0,
    held: found.held,
    gaps: found.gaps,
    alarms: found.alarms.map(({ kind, subject, since }) => {
      return { kind, subject: JSON.parse(subject) as AlarmSubject, since } // safe: `alarms/` writes this form
    }),
    differences: found.differences.map((one) => ({ ...one, difference: BigInt(one.difference) })),
    newestEvent: counts?.newestEvent ?? 0,
    database: { bytes, fullAt: fullAt({ day: today, bytes }, found.sizes[0]) },
    scan: { ...healthOf(state, now), problem: state?.problem ?? null },
    endpoints: ofDeployment(stored, endpoints),
    /** Null without `PAYOUTS`. */
    payouts,
  }
}

type Rows<Queries> = { readonly [Name in keyof Queries]: Queries[Name] extends SQL<infer Row> ? readonly Row[] : never }

/** Reads the rows of all queries at one moment, by name, and the size of the database in bytes; 0 if its replies do not say. */
async function readTogether<Queries extends Readonly<Record<string, SQLWrapper>>>(
  db: ReadDatabase,
  queries: Queries,
): Promise<{ readonly found: Rows<Queries>; readonly bytes: number }> {
  const results = await db.batch(Object.values(queries).map((query) => toStatement(db, query)))
  const named = Object.keys(queries).map((name, i) => [name, results[i]?.results ?? []])
  const found = Object.fromEntries(named) as Rows<Queries> // safe: results come in the order of the statements
  return { found, bytes: results.at(-1)?.meta.size_after ?? 0 }
}

type Total = typeof totals.$inferSelect
type TotalRow = Pick<Total, 'cuy' | 'kind' | 'number'> & { readonly at: UnixMs; readonly parts: string }

function selectTotals(): SQL<TotalRow> {
  const { cuy, kind, number, changed_at, part_0, part_1, part_2, part_3, part_4, part_5, part_6 } = totals
  const parts = sql.join([part_0, part_1, part_2, part_3, part_4, part_5, part_6], sql` || ' ' || `)
  return sql`SELECT ${cuy}, ${kind}, ${number}, ${changed_at} AS at, ${parts} AS parts FROM ${totals}`
}

type DayRow = Pick<typeof days.$inferSelect, 'day' | 'cuy' | 'type'> & {
  readonly count: number
  readonly parts: string
}

/**
 * SQL: for each day after `after`, the sums of all entries up to its end, the oldest day first. The rows before them are the sums up to the end of day
 * `after`.
 */
function selectDays(currencies: Currencies, after: number): SQL<DayRow> {
  const { day, cuy, type, entries, high, low } = days
  return sql`SELECT ${sql.raw(String(after))} AS day, cuy, type, entries AS count, high || ' ' || low AS parts
FROM (${selectSumsUpTo(currencies, sql`${after + 1}`)})
UNION ALL SELECT ${day}, ${cuy}, ${type}, ${entries}, ${high} || ' ' || ${low}
FROM json_each(${JSON.stringify(currencies.list.map((one) => one.cuy))}) AS currency
CROSS JOIN json_each(${JSON.stringify(Object.values(entryTypes))}) AS kind
CROSS JOIN ${days} ON ${cuy} = currency.value AND ${type} = kind.value AND ${day} > ${after}
ORDER BY 1, 2, 3`
}

/**
 * SQL: how many transfers are in the state `seen` (at most `countedMax`), how many addresses there are, and the newest event's id. Ids of addresses have no
 * gap, so the lowest and the highest give their number.
 */
function selectCounts(): SQL<{ readonly seen: number; readonly addresses: number; readonly newestEvent: number }> {
  const { id } = addresses
  return sql`
SELECT (SELECT count(*) FROM (
    SELECT 1 FROM ${transfers} INDEXED BY transfer_seen WHERE ${transfers.state} = 'seen' LIMIT ${countedMax})) AS seen,
  coalesce((SELECT max(${id}) FROM ${addresses}) - (SELECT min(${id}) FROM ${addresses}) + 1, 0) AS addresses,
  (SELECT id FROM last_event) AS newestEvent`
}

type Transfer = typeof transfers.$inferSelect
type HeldRow = Pick<Transfer, 'cuy'> & {
  readonly reason: HeldReason
  readonly count: number
  /** When the oldest of these held transfers was found. */
  readonly oldestAt: UnixMs
}

/** SQL: how many transfers are in the state `held`, by reason and currency, and when the oldest of them was found. Counting stops at `countedMax`. */
function selectHeld(): SQL<HeldRow> {
  const { reason, cuy, id, state, created_at } = transfers
  return sql`
SELECT held.reason, held.cuy, held.count, ${created_at} AS oldestAt FROM (
  SELECT reason, cuy, count(*) AS count, min(id) AS oldest FROM (
    SELECT ${reason} AS reason, ${cuy} AS cuy, ${id} AS id FROM ${transfers} INDEXED BY transfer_held
    WHERE ${state} = 'held' ORDER BY ${reason}, ${cuy}, ${id} LIMIT ${countedMax})
  GROUP BY reason, cuy
) AS held CROSS JOIN ${transfers} ON ${id} = held.oldest ORDER BY held.reason, held.cuy`
}

type Gap = typeof rescans.$inferSelect
type GapRow = Pick<Gap, 'attempts'> & {
  readonly from: Gap['next_height']
  readonly to: Gap['to_height']
  readonly why: string
  readonly since: UnixMs
  /** The number of transfers seen in the gap, at most `summaryGapSeenMax`. */
  readonly seen: number
}

function selectGaps(): SQL<GapRow> {
  const { next_height: from, to_height: to, attempts, why, created_at, kind, finished_at } = rescans
  const { state, height } = transfers
  return sql`
SELECT ${from} AS "from", ${to} AS "to", ${attempts}, ${why}, ${created_at} AS since, (
  SELECT count(*) FROM (SELECT 1 FROM ${transfers} INDEXED BY transfer_seen
    WHERE ${state} = 'seen' AND ${height} BETWEEN ${from} AND ${to} LIMIT ${summaryGapSeenMax})) AS seen
FROM ${rescans} INDEXED BY rescan_open WHERE ${finished_at} IS NULL AND (${kind} = 'gap' OR ${attempts} > 0)
ORDER BY ${to} LIMIT ${summaryGapsMax}`
}

type AlarmRow = Pick<typeof alarmRows.$inferSelect, 'kind' | 'subject'> & { readonly since: UnixMs }

function selectRaised(): SQL<AlarmRow> {
  const { kind, subject, raised_at } = alarmRows
  return sql`SELECT ${kind}, ${subject}, ${raised_at} AS since FROM ${alarmRows} WHERE ${raised_at} IS NOT NULL
ORDER BY ${kind}, ${subject} LIMIT ${summaryAlarmsMax}`
}

type DifferenceRow = Pick<typeof holdings.$inferSelect, 'cuy' | 'difference'> &
  Pick<typeof addresses.$inferSelect, 'address'> & { readonly since: UnixMs }

/** SQL: the reported differences between balance and records, signed and in chain units, with the times of their alarms. */
function selectDifferences(): SQL<DifferenceRow> {
  const { kind, subject, raised_at } = alarmRows
  const { cuy, difference } = holdings
  return sql`
SELECT ${cuy}, ${shown(addresses.address)} AS address, ${difference}, since FROM (
  SELECT ${subject} AS subject, ${raised_at} AS since FROM ${alarmRows}
  WHERE ${raised_at} IS NOT NULL AND ${kind} IN ('reconciliation-shortfall', 'reconciliation-surplus')
  ORDER BY ${kind}, ${subject} LIMIT ${summaryDifferencesMax}) AS reported
CROSS JOIN ${addresses} ON ${addresses.address} = ${ofHex(sql`reported.subject ->> 'address'`)}
CROSS JOIN ${holdings} ON ${cuy} = reported.subject ->> 'cuy' AND ${holdings.address_id} = ${addresses.id}
WHERE ${difference} <> '0'`
}

type UnreadRow = Pick<Total, 'cuy'> & { readonly unread: number }

/** SQL: how many addresses have a transfer that the last reading of their balance may lack, among addresses whose next reading is due by `soon`. */
function selectUnread(cuys: string, soon: number): SQL<UnreadRow> {
  const { cuy, due_at, changed_height, read_from } = holdings
  return sql`
SELECT value AS cuy, (
  SELECT count(*) FROM (
    SELECT ${changed_height} AS changed, ${read_from} AS read FROM ${holdings} INDEXED BY holding_due
    WHERE ${cuy} = value AND ${due_at} <= ${soon} ORDER BY ${due_at} LIMIT ${summaryUnreadMax})
  WHERE changed > coalesce(read, 0)) AS unread
FROM json_each(${cuys})`
}

type SizeRow = typeof sizes.$inferSelect

/** SQL: the size of the database on the oldest stored day of the last `growthDays`. */
function selectEarlierSize(today: number): SQL<SizeRow> {
  const { day, bytes } = sizes
  return sql`SELECT ${day}, ${bytes} FROM ${sizes} WHERE ${day} BETWEEN ${today - growthDays} AND ${today - 1} ORDER BY ${day} LIMIT 1`
}

/** The start of the day on which the database is full if it keeps growing at this rate. Null if it does not grow, or if that is unknown. */
function fullAt(now: SizeRow, then: SizeRow | undefined): UnixMs | null {
  if (then === undefined || now.bytes <= then.bytes) return null
  const perDay = (now.bytes - then.bytes) / (now.day - then.day)
  const daysLeft = Math.floor(Math.max(0, databaseBytesMax - now.bytes) / perDay)
  return daysLeft > daysAheadMax ? null : (((now.day + daysLeft) * dayMs) as UnixMs) // safe: the start of a day
}

interface SumRows {
  readonly cuy: Total['cuy']
  readonly unread: number
  readonly totals: readonly TotalRow[]
  readonly days: readonly DayRow[]
  readonly frozen: PartsOfCurrency | undefined
  readonly destroyed: PartsOfCurrency | undefined
}

/** Makes the sums of a currency. A sum without rows is 0. `days` has an item for each of the last `summaryDays` days, the oldest first. */
function sumsOf({ cuy, unread, totals: stored, days: rows, frozen, destroyed }: SumRows, today: number) {
  const total = (kind: TotalKind) => stored.find((one) => one.kind === kind)
  const sum = (kind: TotalKind) => sumOf(total(kind)?.parts, 12)
  const [read, difference] = [total('read'), total('difference')]
  const sums = sumsOfDays(rows)
  const types = Object.values(entryTypes).map((type) => ({ type, sum: sums.newest.get(type)?.sum ?? 0n }))
  const byDay = Map.groupBy(sums.list, ({ day }) => day)
  return {
    cuy,
    owed: types.reduce((owed, one) => owed + one.sum, 0n),
    types,
    moved: Object.fromEntries(movedKinds.map((kind) => [kind, sum(kind)])) as Moved, // safe: it has each kind
    /** The sum of the last balance that was read of each address; null if no balance was read. */
    held:
      read === undefined || read.number === 0
        ? null
        : { sum: sumOf(read.parts, 12), addresses: read.number, newestAt: read.at },
    unread,
    frozen: { sum: sumOf(frozen?.parts, 12), addresses: frozen?.addresses ?? 0 },
    destroyed: sumOf(destroyed?.parts, 12),
    unexplained: { sum: sum('difference'), addresses: difference?.number ?? 0 },
    days: Array.from({ length: summaryDays }, (_, i) => {
      const day = today - summaryDays + 1 + i
      const entries = (byDay.get(day) ?? []).map(({ type, count, sum }) => ({ type, count, sum }))
      return { startsAt: (day * dayMs) as UnixMs, entries } // safe: the start of a day
    }),
  }
}

/** Turns running sums per day into the amounts that each day added, and returns the newest running sums by type. */
function sumsOfDays(rows: readonly DayRow[]) {
  const newest = new Map<EntryType, { readonly count: number; readonly sum: bigint }>()
  const list = rows.map(({ day, type, count, parts }) => {
    const [before, sum] = [newest.get(type) ?? { count: 0, sum: 0n }, sumOf(parts, 9)]
    newest.set(type, { count, sum })
    return { day, type, count: count - before.count, sum: sum - before.sum }
  })
  return { list, newest }
}

/** A sum from its parts, the highest first; each further part has `digits` digits. The parts are one text: a part may have more digits than a double. */
function sumOf(parts = '0', digits: number): bigint {
  return parts.split(' ').reduce((sum, part) => sum * 10n ** BigInt(digits) + BigInt(part), 0n)
}
