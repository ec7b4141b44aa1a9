import { and, eq, getTableColumns, gte, lt, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { parseTxid } from '../chain/block.ts'
import { type Amount, noAmount } from '../common/amount.ts'
import type { Uid } from '../common/ids.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import { fixedStatement, madeOnce, member, openTables, type ReadDatabase, toStatement } from '../d1/database.ts'
import { totals } from '../d1/state-tables.ts'
import { flows, wallets } from '../d1/tables.ts'
import type { Currencies, Currency } from './currencies.ts'
import type { Entry, EntryList, EntrySelection, WalletBalance } from './entry.ts'

/** The columns of an entry. */
export type EntryRow = Omit<typeof flows.$inferSelect, 'number' | 'type_number'>

/** An amount as stored. */
export function readAmount(stored: number): Amount {
  return BigInt(stored) as Amount // safe: the CHECK of every such column is the bound
}

/** A ledger entry as stored. */
export function readEntry(row: EntryRow): Entry {
  const { id, uid, wallet_id: wid, osn, type, cuy, mark, created_at: createdAt, posted_by: by } = row
  const [amount, balance] = [readAmount(row.amount), readAmount(row.balance)]
  return { id, uid, wid, osn, type, cuy, amount, balance, mark, createdAt, by }
}

/** The caller's wallets; a currency without an entry is absent. */
export async function selectBalances(db: ReadDatabase, uid: Uid): Promise<readonly WalletBalance[]> {
  const { cuy, balance } = wallets
  const rows = await openTables(db).select({ cuy, balance }).from(wallets).where(eq(wallets.uid, uid)).orderBy(cuy)
  return rows.map((row) => ({ cuy: row.cuy, amount: readAmount(row.balance) }))
}

/** The balances of wallets, in ledger units. One without an entry is absent. */
export function selectBalancesOf(
  db: ReadDatabase,
  owners: readonly Pick<WalletRow, 'uid' | 'cuy'>[],
): D1PreparedStatement {
  return selectBalancesIn(db, { owners: JSON.stringify(owners) })
}

/** A row of `selectBalancesOf`. */
export type WalletRow = Pick<typeof wallets.$inferSelect, 'uid' | 'cuy' | 'balance'>

const selectBalancesIn = fixedStatement<'owners'>(sql`
SELECT DISTINCT ${wallets.uid}, ${wallets.cuy}, ${wallets.balance} FROM json_each(${sql.placeholder('owners')})
CROSS JOIN ${wallets} ON ${wallets.uid} = ${member(wallets.uid)} AND ${wallets.cuy} = ${member(wallets.cuy)}`)

/** One balance in ledger units for each configured currency, ordered by `cuy`; 0 where there is no entry yet. */
export async function listWallets(
  { db, currencies }: { readonly db: ReadDatabase; readonly currencies: Currencies },
  uid: Uid,
): Promise<readonly { readonly currency: Currency; readonly amount: Amount }[]> {
  const balances = new Map((await selectBalances(db, uid)).map(({ cuy, amount }) => [cuy, amount]))
  return currencies.list.map((currency) => ({ currency, amount: balances.get(currency.cuy) ?? noAmount }))
}

/** Entries on a page without `limit`. */
export const pageRowsDefault = 20
/** Most entries that a page by number skips in a history that has more: each of them is read. */
export const offsetMax = 10_000
/** Pages past this one are empty in any database of D1's size (10 GB). It keeps page × limit far below 2^53. */
const pageNumberMax = 1_000_000_000
/** What is wrong with a page behind more than `offsetMax` entries. */
const tooDeep = `at most ${offsetMax} entries deep; use before for older ones`
/** What is wrong with a page together with `before`. */
export const notWithBefore = 'not allowed with before'

/**
 * One page of the caller's entries, and the number of all that match, in one round trip. Both queries read an index from its newest
 * end, so a page below an id costs the same at any depth, and the count reads no entry that it counts, since each entry has its number.
 * Each index is named: the planner has no statistics.
 */
export async function selectEntries(db: ReadDatabase, uid: Uid, selection: EntrySelection): Promise<EntryList> {
  const { rows, count } =
    selection.osn === undefined ? allEntries(uid, selection) : withOsn(uid, selection, selection.osn)
  const [counted, page] = await db.batch<EntryRow & { readonly count: number }>([
    toStatement(db, count),
    toStatement(db, selectPage(rows, selection)),
  ])
  return { list: (page?.results ?? []).map(readEntry), count: counted?.results[0]?.count ?? 0 }
}

/** One page of a caller's entries, newest first, unless it is too deep in a long history. */
export async function listEntries(
  { db }: { readonly db: ReadDatabase },
  uid: Uid,
  selection: EntrySelection,
): Promise<Result<EntryList, QueryFailure>> {
  const { page, before, limit = pageRowsDefault } = selection
  const refuse = (why: string) => err({ kind: 'bad-input', field: 'page', why } as const)
  if (page !== undefined && before !== undefined) return refuse(notWithBefore)
  const isDeep = page !== undefined && (page - 1) * limit > offsetMax
  // A page past the end of a short history is empty. The number of all entries is stored, so it costs nothing to read.
  if (isDeep && (await selectEntries(db, uid, { limit: 1 })).count > offsetMax) return refuse(tooDeep)
  return ok(await selectEntries(db, uid, selection))
}

/** The newest entries of all users below an id, and how many there are in all: a kept sum, so none is counted. */
export async function selectAllEntries(
  db: ReadDatabase,
  { before, limit = pageRowsDefault }: Pick<EntrySelection, 'before' | 'limit'>,
): Promise<EntryList> {
  const below = before === undefined ? sql`` : sql` WHERE ${lt(id, before)}`
  const number = sql`SELECT coalesce(sum(${totals.number}), 0) AS count FROM ${totals} WHERE ${totals.kind} GLOB 'entry *'`
  const [counted, page] = await db.batch<EntryRow & { readonly count: number }>([
    toStatement(db, number),
    toStatement(db, selectPage(sql`${flows}${below}`, { limit })),
  ])
  return { list: (page?.results ?? []).map(readEntry), count: counted?.results[0]?.count ?? 0 }
}

/** Entries of one order that are counted at most: a backend can give everybody the same `osn`. */
export const orderRowsMax = 1_000

/**
 * The newest entries of an order below an id, whoever its user is, and how many there are: `orderRowsMax` means that many or more.
 * Recharges are not among them: those of a transaction are found by their transfers.
 */
export async function selectOrder(
  db: ReadDatabase,
  wanted: string,
  { before, limit = pageRowsDefault }: Pick<EntrySelection, 'before' | 'limit'>,
): Promise<EntryList> {
  // The index has the condition on the type: SQLite uses it for statements that have the same one.
  const all = sql`${flows} INDEXED BY flow_order WHERE ${eq(osn, wanted)} AND ${type} <> 1`
  const rows = before === undefined ? all : sql`${all} AND ${lt(id, before)}`
  const [counted, page] = await db.batch<EntryRow & { readonly count: number }>([
    toStatement(db, sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${all} LIMIT ${orderRowsMax})`),
    toStatement(db, selectPage(rows, { limit })),
  ])
  return { list: (page?.results ?? []).map(readEntry), count: counted?.results[0]?.count ?? 0 }
}

/** The txid that a filter has in any form, as entries of deposits have it, or null. */
function txidIn(osn: string): string | null {
  const txid = parseTxid(osn)
  return txid.ok ? txid.value : null
}

const { number, type_number, ...columns } = getTableColumns(flows)
const { id, wallet_id: wid, type, osn } = columns
const columnList = madeOnce(sql.join(Object.values(columns), sql`, `))

function selectPage(rows: SQL, { page = 1, limit = pageRowsDefault }: EntrySelection): SQL {
  const offset = (Math.min(page, pageNumberMax) - 1) * limit
  return sql`SELECT ${columnList} FROM ${rows} ORDER BY ${id} DESC LIMIT ${limit} OFFSET ${offset}`
}

/** The entries that match, as what follows FROM with conditions, and a query for their number. */
interface EntryScope {
  readonly rows: SQL
  readonly count: SQL
}

/** The ids of the caller's wallets that are selected. */
function walletsOf(uid: Uid, selection: EntrySelection): SQL {
  const { cuy, wid } = selection
  const conditions = [
    eq(wallets.uid, uid),
    cuy === undefined ? undefined : eq(wallets.cuy, cuy),
    wid === undefined ? undefined : eq(wallets.id, wid),
  ]
  return sql`SELECT ${wallets.id} FROM ${wallets} WHERE ${and(...conditions)}`
}

/**
 * The ids of a time range and page, with one bound at each end: of two, an index uses the first one only. `created_at`
 * never decreases as ids grow (a trigger's rule), so a time range is a range of ids.
 */
function inRange({ from, to, before }: EntrySelection): SQL {
  const ends = [...(to === undefined ? [] : [firstAt(to)]), ...(before === undefined ? [] : [sql`${before}`])]
  const [end = null, other = null] = ends
  const lower = from === undefined ? sql`` : sql` AND ${gte(id, firstAt(from))}`
  if (end === null) return lower
  return sql`${lower} AND ${lt(id, other === null ? end : sql`min(${end}, ${other})`)}`
}

/** The first id at or after a time; where there is none, an id above all. */
function firstAt(time: UnixMs): SQL {
  const at = flows.created_at
  return sql`coalesce(
    (SELECT ${id} FROM ${flows} INDEXED BY flow_time WHERE ${gte(at, time)} ORDER BY ${at}, ${id} LIMIT 1), ${endOfIds})`
}

const endOfIds = sql.raw('9223372036854775807')

/** An order, or the entries of a transaction, are few: these are counted one by one. */
function withOsn(uid: Uid, selection: EntrySelection, wanted: string): EntryScope {
  const ofType = selection.type === undefined ? undefined : eq(type, selection.type)
  const find = (match: SQL) => sql`${flows} INDEXED BY flow_osn
    WHERE ${wid} IN (${walletsOf(uid, selection)}) AND ${and(match, ofType)}`
  const counted = (matching: SQL): EntryScope => ({
    rows: sql`${matching}${inRange(selection)}`,
    count: sql`SELECT count(*) AS count FROM ${matching}${inRange({ ...selection, before: undefined })}`,
  })
  const txid = txidIn(wanted)
  const exact = find(eq(osn, wanted))
  if (txid === null) return counted(exact)
  // `txid` and `txid:k` for every k. `;` is the character after `:`.
  const ofTransaction = find(sql`${gte(osn, txid)} AND ${lt(osn, `${txid};`)} AND substr(${osn}, 65, 1) IN ('', ':')`)
  if (txid === wanted) return counted(ofTransaction)
  // A backend can have posted it in this form. One condition with OR would not use the index.
  return counted(sql`${flows} WHERE ${id} IN (SELECT ${id} FROM ${exact} UNION ALL SELECT ${id} FROM ${ofTransaction})`)
}

const own = alias(wallets, 'own')
const newest = alias(flows, 'newest')

/**
 * Entries without an `osn`. The indexes of several wallets cannot be read as one in the order of ids: so of a type, the
 * newest entries of each wallet are read, and then the newest of those.
 */
function allEntries(uid: Uid, selection: EntrySelection): EntryScope {
  const { cuy, wid: wallet, page = 1, limit = pageRowsDefault } = selection
  const isOneWallet = cuy !== undefined || wallet !== undefined
  const [range, count] = [inRange(selection), numberOfAll(uid, selection)]
  if (selection.type === undefined) {
    const all = isOneWallet
      ? sql`${flows} INDEXED BY flow_wallet WHERE ${wid} = (${walletsOf(uid, selection)})`
      : sql`${flows} INDEXED BY flow_uid WHERE ${eq(flows.uid, uid)}`
    return { rows: sql`${all}${range}`, count }
  }
  const ofType = sql`${flows} INDEXED BY flow_type WHERE ${eq(type, selection.type)} AND ${wid} =`
  if (isOneWallet) return { rows: sql`${ofType} (${walletsOf(uid, selection)})${range}`, count }
  const most = Math.min(page, pageNumberMax) * limit
  return {
    rows: sql`${flows} WHERE ${id} IN (
      SELECT ${newest.id} FROM (${walletsOf(uid, selection)}) AS ${own} CROSS JOIN ${flows} AS ${newest} ON ${newest.id} IN (
        SELECT ${id} FROM ${ofType} ${own.id}${range} ORDER BY ${id} DESC LIMIT ${most}))`,
    count,
  }
}

/** In each wallet: the number of the newest entry in the range, minus that of the newest one before the range. */
function numberOfAll(uid: Uid, selection: EntrySelection): SQL {
  const { type: wanted, from, to } = selection
  const [column, entries] =
    wanted === undefined
      ? [number, sql`${flows} INDEXED BY flow_wallet WHERE ${wid} = ${own.id}`]
      : [type_number, sql`${flows} INDEXED BY flow_type WHERE ${wid} = ${own.id} AND ${eq(type, wanted)}`]
  const numberBelow = (end: SQL) =>
    sql`coalesce((SELECT ${column} FROM ${entries} AND ${lt(id, end)} ORDER BY ${id} DESC LIMIT 1), 0)`
  const before = from === undefined ? sql`0` : numberBelow(firstAt(from))
  const upTo = numberBelow(to === undefined ? endOfIds : firstAt(to))
  return sql`
SELECT coalesce(sum(max(0, ${upTo} - ${before})), 0) AS count FROM (${walletsOf(uid, selection)}) AS ${own}`
}
