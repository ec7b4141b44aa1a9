import { eq, getTableColumns, gte, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { EntryId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { madeOnce, type ReadDatabase, toStatement } from '../d1/database.ts'
import { days, totals } from '../d1/state-tables.ts'
import { flows, wallets } from '../d1/tables.ts'
import type { Clock } from '../platform/clock.ts'
import type { ReadContext } from './context.ts'
import type { Currency } from './currencies.ts'
import { type EntryRow, readEntry } from './entries.ts'
import type { Entry, EntrySelection } from './entry.ts'

/** Entries on a page without `limit`. */
export const statementRowsDefault = 100
/** Most entries on one page. */
export const statementRowsMax = 1_000

const dayMs = 86_400_000

/** Whole days of UTC: `from` ≤ created_at < `to`. */
export interface Period {
  readonly from: UnixMs
  readonly to: UnixMs
}

/** Which statement, and which page of its entries. */
export interface StatementSelection extends Pick<EntrySelection, 'cuy' | 'limit'> {
  readonly period: Period
  /** Absent: the sums and entries of all users, in all currencies. */
  readonly uid?: Uid | undefined
  /** Only entries above this id. */
  readonly after?: EntryId | undefined
}

/** The sums of one currency in ledger units: of all users they can be beyond an `Amount`. */
export interface StatementBalance {
  readonly currency: Currency
  /** What was there before the period. */
  readonly opening: bigint
  /** What is there after it or, while it is running, now. */
  readonly closing: bigint
}

/** A page of a statement. `opening` and the amounts of all entries add up to `closing`, in each currency. */
export interface Statement {
  /** The end of the period or, while it is running, now. */
  readonly until: UnixMs
  /** One for each configured currency, or the one that was asked for, ordered by `cuy`. */
  readonly balances: readonly StatementBalance[]
  /** The entries of this page, oldest first. */
  readonly list: readonly Entry[]
  /** The number of entries on all pages. */
  readonly count: number
}

/**
 * Reads a page of a statement at one moment, from the ledger alone. The rows read are those of the page, and of all users those of the
 * sums of each day since the period began: no page and no sum costs more for a longer history.
 */
export async function readStatement(
  { db, currencies, clock }: Pick<ReadContext, 'db' | 'currencies'> & { readonly clock: Pick<Clock, 'now'> },
  selection: StatementSelection,
): Promise<Statement> {
  const { period, uid, cuy, limit = statementRowsDefault } = selection
  const sums = uid === undefined ? sumsOfAll(period) : sumsOfUser(uid, period)
  const rows = sql`SELECT ${columnList} FROM ${scopeOf(selection)} AND ${inPeriod(selection)} ORDER BY ${id} LIMIT ${limit}`
  const [summed, page] = await readTogether(db, sums, rows)
  const byCuy = new Map(summed.map((row) => [row.cuy, row]))
  const shown = currencies.list.filter((currency) => cuy === undefined || currency.cuy === cuy)
  return {
    until: Math.min(clock.now(), period.to) as UnixMs, // safe: one of two times
    balances: shown.map((currency) => {
      const row = byCuy.get(currency.cuy)
      return { currency, opening: unitsIn(row?.opening ?? ''), closing: unitsIn(row?.closing ?? '') }
    }),
    list: page.map(readEntry),
    count: shown.reduce((sum, currency) => sum + (byCuy.get(currency.cuy)?.count ?? 0), 0),
  }
}

/** The sums of one currency. Units are parts with their powers of ten, such as `12e9 345e0`: D1 returns integers as doubles. */
interface SumRow extends Pick<Currency, 'cuy'> {
  readonly opening: string
  readonly closing: string
  readonly count: number
}

async function readTogether(db: ReadDatabase, sums: SQL, rows: SQL): Promise<[readonly SumRow[], readonly EntryRow[]]> {
  const [summed, page] = await db.batch<SumRow & EntryRow>([toStatement(db, sums), toStatement(db, rows)])
  return [summed?.results ?? [], page?.results ?? []]
}

/** The value of parts with their powers of ten; 0 of none. */
function unitsIn(parts: string): bigint {
  return parts.split(' ').reduce((sum, part) => {
    const [digits = '', power = ''] = part.split('e')
    return sum + BigInt(digits) * 10n ** BigInt(power)
  }, 0n)
}

const { number, type_number, ...columns } = getTableColumns(flows)
const { id, created_at: createdAt, wallet_id: walletId } = columns
const columnList = madeOnce(sql.join(Object.values(columns), sql`, `))

/** All entries of a user, of one wallet, or of all, as what follows FROM with a condition. */
function scopeOf({ uid, cuy }: StatementSelection): SQL {
  if (uid === undefined) return sql`${flows} WHERE true`
  if (cuy === undefined) return sql`${flows} INDEXED BY flow_uid WHERE ${eq(flows.uid, uid)}`
  const own = sql`SELECT ${wallets.id} FROM ${wallets} WHERE ${eq(wallets.uid, uid)} AND ${eq(wallets.cuy, cuy)}`
  return sql`${flows} INDEXED BY flow_wallet WHERE ${walletId} = (${own})`
}

/** `created_at` never decreases as ids grow (a trigger's rule), so a period is a range of ids: with one bound at each end, for the index. */
function inPeriod({ period, after = 0 as EntryId }: StatementSelection): SQL {
  return sql`${gte(id, sql`max(${firstAt(period.from)}, ${after} + 1)`)} AND ${lt(id, firstAt(period.to))}`
}

/** The first id at or after a time; where there is none, an id above all. */
function firstAt(time: UnixMs): SQL {
  return sql`coalesce((SELECT ${id} FROM ${flows} INDEXED BY flow_time WHERE ${gte(createdAt, time)}
    ORDER BY ${createdAt}, ${id} LIMIT 1), ${endOfIds})`
}
const endOfIds = sql.raw('9223372036854775807')

/** In each wallet of a user: the balance and the number of its newest entry before the period, and before the end of it. */
function sumsOfUser(uid: Uid, { from, to }: Period): SQL {
  const newestBefore = (time: UnixMs) => sql`(SELECT ${id} FROM ${flows} INDEXED BY flow_wallet
    WHERE ${walletId} = ${wallets.id} AND ${lt(id, firstAt(time))} ORDER BY ${id} DESC LIMIT 1)`
  return sql`
SELECT ${wallets.cuy} AS cuy, coalesce(opened.balance, 0) || 'e0' AS opening, coalesce(closed.balance, 0) || 'e0' AS closing,
  coalesce(closed.number, 0) - coalesce(opened.number, 0) AS count
FROM ${wallets}
LEFT JOIN ${flows} AS opened ON opened.id = ${newestBefore(from)}
LEFT JOIN ${flows} AS closed ON closed.id = ${newestBefore(to)}
WHERE ${eq(wallets.uid, uid)}`
}

/** Of all users: what is owed now, less what the days since then have added. Triggers keep both sums. */
function sumsOfAll({ from, to }: Period): SQL {
  const [first, end] = [from / dayMs, to / dayMs]
  const { cuy, kind, part_5, part_6 } = totals
  const { day, entries, high, low } = days
  const since = (part: SQLWrapper, start: number) => sql`coalesce(-sum(iif(${day} >= ${start}, ${part}, 0)), 0)`
  const at = (start: number) => sql`owed || ' ' || ${since(high, start)} || 'e9 ' || ${since(low, start)} || 'e0'`
  return sql`
SELECT summed.cuy AS cuy, ${at(first)} AS opening, ${at(end)} AS closing,
  coalesce(sum(iif(${day} < ${end}, ${entries}, 0)), 0) AS count
FROM (
  SELECT ${cuy} AS cuy, sum(${part_5}) || 'e12 ' || sum(${part_6}) || 'e0' AS owed
  FROM ${totals} WHERE ${kind} GLOB 'entry *' GROUP BY ${cuy}) AS summed
LEFT JOIN ${days} ON ${days.cuy} = summed.cuy AND ${day} >= ${first}
GROUP BY summed.cuy`
}
