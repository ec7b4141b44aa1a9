import { eq, gte, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Address } from '../../chain/address.ts'
import type { Txid } from '../../chain/block.ts'
import { type EntryId, type EntryType, entryTypes, type Uid } from '../../common/ids.ts'
import { dayMs, type UnixMs } from '../../common/time.ts'
import { type ReadDatabase, toStatement } from '../../d1/database.ts'
import { orders } from '../../d1/order-tables.ts'
import { payouts } from '../../d1/payout-tables.ts'
import { flows, wallets } from '../../d1/tables.ts'
import type { StatementWord } from '../../schemas/entry.ts'
import type { Currencies, Currency } from '../currencies.ts'
import type { Entry, StatementEntry } from '../entry.ts'
import type { Period, StatementSelection } from '../period.ts'
import { type EntryRow, entriesWithWallet, entryColumns, readEntry, selectSumsUpTo, withTransfer } from './entries.ts'
import { firstEntryAt } from './entry-times.ts'

/**
 * One currency of a statement: its balance before the period and at its end, in ledger units, and
 * the number of entries between.
 */
export interface StatementSums extends Pick<Currency, 'cuy'> {
  readonly opening: bigint
  readonly closing: bigint
  readonly count: number
}

/**
 * The balances are texts of summands with powers of ten, such as `12e9 345e0` for 12,000,000,345: a
 * double would lose digits of the sum.
 */
type SumRow = Pick<StatementSums, 'cuy' | 'count'> & Readonly<Record<'opening' | 'closing', string>>

/**
 * Reads the sums of a statement and one page of its entries, oldest first, in one batch. A currency
 * without an entry before the period's end may be missing.
 */
export async function selectStatement(
  db: ReadDatabase,
  currencies: Currencies,
  selection: StatementSelection & { readonly limit: number },
): Promise<{ readonly sums: readonly StatementSums[]; readonly entries: readonly StatementEntry[] }> {
  const { uid, period, limit } = selection
  const sums = uid === undefined ? sumsOfAll(currencies, period) : sumsOfUser(uid, period)
  const rows = withReasons(sql`SELECT ${entryColumns} FROM ${pageOf(selection)} ORDER BY ${id} LIMIT ${limit}`)
  const [summed, page] = await db.batch<SumRow & StatementRow>([toStatement(db, sums), toStatement(db, rows)])
  return {
    sums: (summed?.results ?? []).map(({ cuy, count, opening, closing }) => {
      return { cuy, count, opening: unitsIn(opening), closing: unitsIn(closing) }
    }),
    entries: (page?.results ?? []).map((row) => ({ ...readEntry(row), ...reasonOf(row) })),
  }
}

type StatementRow = EntryRow & {
  readonly to_address: Address | null
  readonly txid: Txid | null
  readonly is_order: 0 | 1
}

/**
 * SQL that adds to the entries of a page the payout or the order that has made each: one look-up
 * each. A payout makes entries of the types 2, 4 (its fee) and 5 (given back) with its `osn`, an
 * order that takes one of type 4 with its own name.
 */
function withReasons(page: SQL): SQL {
  const { to_address: to, txid, fee } = payouts
  return sql`
SELECT page.*, ${to}, ${txid}, ${orders.id} IS NOT NULL AS is_order FROM (${page}) AS page
LEFT JOIN ${payouts} ON ${payouts.uid} = page.uid AND ${payouts.cuy} = page.cuy AND ${payouts.osn} = page.osn
  AND (page.type IN (2, 5) OR (page.type = 4 AND ${fee} > 0))
LEFT JOIN ${orders} ON ${orders.reference} = page.osn AND ${orders.uid} = page.uid AND ${orders.cuy} = page.cuy
  AND page.type = 4 AND ${orders.taken} = 1
ORDER BY page.id`
}

const words: Readonly<Record<EntryType, StatementWord>> = {
  1: 'deposit',
  2: 'withdrawal',
  3: 'transfer',
  4: 'payment',
  5: 'refund',
  9: 'adjustment',
}
/** The words of the entries that a payout makes. */
const payoutWords: Partial<typeof words> = { 2: 'payout', 4: 'fee', 5: 'payout-refund' }

/** The word for an entry, its recipient, and its transaction. */
function reasonOf({ type, osn, to_address: to, txid, is_order }: StatementRow): Omit<StatementEntry, keyof Entry> {
  const word = (to === null ? undefined : payoutWords[type]) ?? (is_order === 1 ? 'order' : words[type])
  // safe: the `osn` of a recharge begins with its txid
  return { what: word, to, txid: type === entryTypes.recharge ? (osn.slice(0, 64) as Txid) : txid }
}

/** Adds up a text such as `12e9 345e0` (see `SumRow`). */
function unitsIn(parts: string): bigint {
  return parts.split(' ').reduce((sum, part) => {
    const [digits = '', power = ''] = part.split('e')
    return sum + BigInt(digits) * 10n ** BigInt(power)
  }, 0n)
}

const { id, wallet_id: walletId } = flows
const oldest = alias(flows, 'oldest')

/**
 * SQL that follows FROM. It finds more entries than the page has (for one user, the first `limit`
 * of each wallet); the caller's LIMIT cuts them off.
 */
function pageOf(selection: StatementSelection): SQL {
  const { uid, cuy, limit, period, after = 0 as EntryId, ...others } = selection
  others satisfies Record<string, never> // a member that selects nothing does not compile
  const isIn = (entryId: SQLWrapper) => inPeriod(period, after, entryId)
  if (uid === undefined) return sql`${entriesWithWallet} ${withTransfer} WHERE ${isIn(id)}`
  const ofCurrency = cuy === undefined ? sql`` : sql` AND ${eq(wallets.cuy, cuy)}`
  return sql`${wallets} CROSS JOIN ${flows} ON ${id} IN (
    SELECT ${oldest.id} FROM ${flows} AS ${oldest} INDEXED BY flow_wallet
    WHERE ${oldest.wallet_id} = ${wallets.id} AND ${isIn(oldest.id)} ORDER BY ${oldest.id}
      LIMIT ${limit})
  ${withTransfer} WHERE ${eq(wallets.uid, uid)}${ofCurrency}`
}

/**
 * SQL that is true for ids within the period and above `after`. Both lower bounds are one
 * expression: SQLite searches an index by one lower bound only.
 */
function inPeriod(period: Period, after: EntryId, id: SQLWrapper): SQL {
  return sql`${gte(id, sql`max(${firstEntryAt(period.from)}, ${after} + 1)`)} AND ${lt(id, firstEntryAt(period.to))}`
}

/**
 * SQL for the balances of one user. It reads two entries of each wallet, the newest before the
 * period and before its end, because entries store balances.
 */
function sumsOfUser(uid: Uid, { from, to }: Period): SQL {
  const newestBefore = (time: UnixMs) => sql`(SELECT ${id} FROM ${flows} INDEXED BY flow_wallet
    WHERE ${walletId} = ${wallets.id} AND ${lt(id, firstEntryAt(time))} ORDER BY ${id} DESC LIMIT 1)`
  return sql`
SELECT ${wallets.cuy} AS cuy, coalesce(opened.balance, 0) || 'e0' AS opening,
  coalesce(closed.balance, 0) || 'e0' AS closing, coalesce(closed.number, 0) - coalesce(opened.number, 0) AS count
FROM ${wallets}
LEFT JOIN ${flows} AS opened ON opened.id = ${newestBefore(from)}
LEFT JOIN ${flows} AS closed ON closed.id = ${newestBefore(to)}
WHERE ${eq(wallets.uid, uid)}`
}

/**
 * SQL for the balances of all users together, before the period and at its end. It reads the
 * running sums that triggers keep for each day.
 */
function sumsOfAll(currencies: Currencies, { from, to }: Period): SQL {
  const before = (time: UnixMs) => selectSumsUpTo(currencies, sql`${time / dayMs}`)
  const sumOf = (at: string) => sql.raw(`coalesce(sum(${at}.high), 0) || 'e9 ' || coalesce(sum(${at}.low), 0) || 'e0'`)
  return sql`
SELECT closed.cuy AS cuy, ${sumOf('opened')} AS opening, ${sumOf('closed')} AS closing,
  sum(closed.entries) - coalesce(sum(opened.entries), 0) AS count
FROM (${before(to)}) AS closed LEFT JOIN (${before(from)}) AS opened ON opened.cuy = closed.cuy
  AND opened.type = closed.type
GROUP BY closed.cuy`
}
