import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { countedMax } from '../common/counted.ts'
import { entryTypes } from '../common/ids.ts'
import type { HeldReason } from '../common/reasons.ts'
import type { UnixMs } from '../common/time.ts'
import { ofHex, type ReadDatabase, shown, toStatement } from '../d1/database.ts'
import { alarmRows, days, holdings, rescans, sizes, totals } from '../d1/state-tables.ts'
import { addresses, transfers } from '../d1/tables.ts'
import { selectDestroyedSums, selectFrozenSums } from '../issuer/sums.ts'
import type { Currencies } from '../ledger/currencies.ts'
import { selectSumsUpTo } from '../ledger/store/entries.ts'
import {
  summaryAlarmsMax,
  summaryDays,
  summaryDifferencesMax,
  summaryGapSeenMax,
  summaryGapsMax,
  summaryUnreadMax,
} from '../schemas/summary.ts'

/**
 * The balance of an address is read this long after a transfer to or from it was stored
 * (`0001_invariants.sql`).
 */
const readAfterMs = 60_000
/** The database's growth in this many days predicts when it is full. */
const growthDays = 30

/**
 * The rows that a summary is made of, and the size of the database in bytes; 0 if its replies do
 * not say.
 */
export type SummaryRows = Awaited<ReturnType<typeof readRows>>

/**
 * Reads the rows of a summary at one moment. `today` is the number of the day (UTC), and `now` the
 * time in milliseconds.
 */
export function readRows(db: ReadDatabase, currencies: Currencies, today: number, now: number) {
  return readTogether(db, {
    totals: selectTotals(),
    days: selectDays(currencies, today - summaryDays),
    counts: selectCounts(),
    held: selectHeld(),
    gaps: selectGaps(),
    alarms: selectRaised(),
    differences: selectDifferences(),
    frozen: selectFrozenSums(),
    destroyed: selectDestroyedSums(),
    unread: selectUnread(JSON.stringify(currencies.offered.map(({ cuy }) => cuy)), now + readAfterMs),
    sizes: selectEarlierSize(today),
  })
}

type Rows<Queries> = { readonly [Name in keyof Queries]: Queries[Name] extends SQL<infer Row> ? readonly Row[] : never }

/** Reads the rows of all queries at one moment, by name, and the size of the database. */
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
 * SQL: for each day after `after`, the sums of all entries up to its end, the oldest day first. The
 * rows before them are the sums up to the end of day `after`.
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
 * SQL: how many transfers are in the state `seen` (at most `countedMax`), how many addresses there
 * are, and the newest event's id. Ids of addresses have no gap, so the lowest and the highest give
 * their number.
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

/**
 * SQL: how many transfers are in the state `held`, by reason and currency, and when the oldest of
 * them was found. Counting stops at `countedMax`.
 */
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

/**
 * SQL: the reported differences between balance and records, signed and in chain units, with the
 * times of their alarms.
 */
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

/**
 * SQL: how many addresses have a transfer that the last reading of their balance may lack, among
 * addresses whose next reading is due by `soon`.
 */
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
  return sql`SELECT ${day}, ${bytes} FROM ${sizes} WHERE ${day} BETWEEN ${today - growthDays} AND ${today - 1}
    ORDER BY ${day} LIMIT 1`
}
