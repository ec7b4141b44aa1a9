import { eq, gte, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { EntryId, Uid } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { type ReadDatabase, toStatement } from '../d1/database.ts'
import { flows, wallets } from '../d1/tables.ts'
import type { Clock } from '../platform/clock.ts'
import type { ReadContext } from './context.ts'
import type { Currencies, Currency } from './currencies.ts'
import { type EntryRow, entriesWithWallet, entryColumns, readEntry, selectSumsUpTo, withTransfer } from './entries.ts'
import type { Entry, EntrySelection } from './entry.ts'
import { firstEntryAt } from './entry-times.ts'

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
  const sums = uid === undefined ? sumsOfAll(currencies, period) : sumsOfUser(uid, period)
  const rows = sql`SELECT ${entryColumns} FROM ${pageOf(selection, limit)} ORDER BY ${id} LIMIT ${limit}`
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

const { id, wallet_id: walletId } = flows
const oldest = alias(flows, 'oldest')

/** At least the first `limit` entries of a page: of all users in the order of ids, or of each wallet of a user. */
function pageOf(selection: StatementSelection, limit: number): SQL {
  const { uid, cuy } = selection
  if (uid === undefined) return sql`${entriesWithWallet} ${withTransfer} WHERE ${inPeriod(selection)}`
  const ofCurrency = cuy === undefined ? sql`` : sql` AND ${eq(wallets.cuy, cuy)}`
  return sql`${wallets} CROSS JOIN ${flows} ON ${id} IN (
    SELECT ${oldest.id} FROM ${flows} AS ${oldest} INDEXED BY flow_wallet
    WHERE ${oldest.wallet_id} = ${wallets.id} AND ${inPeriod(selection, oldest.id)} ORDER BY ${oldest.id} LIMIT ${limit})
  ${withTransfer} WHERE ${eq(wallets.uid, uid)}${ofCurrency}`
}

/** A period is a range of ids: with one bound at each end, for the index. */
function inPeriod({ period, after = 0 as EntryId }: StatementSelection, id: SQLWrapper = flows.id): SQL {
  return sql`${gte(id, sql`max(${firstEntryAt(period.from)}, ${after} + 1)`)} AND ${lt(id, firstEntryAt(period.to))}`
}

/** In each wallet of a user: the balance and the number of its newest entry before the period, and before the end of it. */
function sumsOfUser(uid: Uid, { from, to }: Period): SQL {
  const newestBefore = (time: UnixMs) => sql`(SELECT ${id} FROM ${flows} INDEXED BY flow_wallet
    WHERE ${walletId} = ${wallets.id} AND ${lt(id, firstEntryAt(time))} ORDER BY ${id} DESC LIMIT 1)`
  return sql`
SELECT ${wallets.cuy} AS cuy, coalesce(opened.balance, 0) || 'e0' AS opening, coalesce(closed.balance, 0) || 'e0' AS closing,
  coalesce(closed.number, 0) - coalesce(opened.number, 0) AS count
FROM ${wallets}
LEFT JOIN ${flows} AS opened ON opened.id = ${newestBefore(from)}
LEFT JOIN ${flows} AS closed ON closed.id = ${newestBefore(to)}
WHERE ${eq(wallets.uid, uid)}`
}

/** Of all users: what all entries before the period add up to, and those before its end. Triggers keep both sums. */
function sumsOfAll(currencies: Currencies, { from, to }: Period): SQL {
  const before = (time: UnixMs) => selectSumsUpTo(currencies, sql`${time / dayMs}`)
  const sumOf = (at: string) => sql.raw(`coalesce(sum(${at}.high), 0) || 'e9 ' || coalesce(sum(${at}.low), 0) || 'e0'`)
  return sql`
SELECT closed.cuy AS cuy, ${sumOf('opened')} AS opening, ${sumOf('closed')} AS closing,
  sum(closed.entries) - coalesce(sum(opened.entries), 0) AS count
FROM (${before(to)}) AS closed LEFT JOIN (${before(from)}) AS opened ON opened.cuy = closed.cuy AND opened.type = closed.type
GROUP BY closed.cuy`
}
