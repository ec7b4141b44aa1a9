import { eq, gte, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { parseTxid } from '../../chain/block.ts'
import type { Amount } from '../../common/amount.ts'
import { entryTypes, type Uid } from '../../common/ids.ts'
import { fixedStatement, member, ofHex, type ReadDatabase, toStatement } from '../../d1/database.ts'
import { days } from '../../d1/state-tables.ts'
import { flows, transfers, wallets } from '../../d1/tables.ts'
import type { Currencies } from '../currencies.ts'
import type { Entry, EntryList, EntrySelection, WalletBalance } from '../entry.ts'
import { firstEntryAt } from './entry-times.ts'

type Stored = typeof flows.$inferSelect
/** A row that `entryColumns` select: of an entry, with columns of its wallet and, for a recharge, of its transfer. */
export type EntryRow = Omit<Stored, 'osn' | 'transfer_id' | 'number' | 'type_number'> &
  Pick<typeof wallets.$inferSelect, 'uid' | 'cuy'> & { readonly osn: string }

/** Turns an amount from a column into a bigint: D1 returns it as a number. */
export function readAmount(stored: number): Amount {
  return BigInt(stored) as Amount // safe: a CHECK keeps every such column within ±(2^53−1)
}

/** Turns a row into the domain's type: amounts become bigints. */
export function readEntry(row: EntryRow): Entry {
  const { id, uid, wallet_id: wid, osn, type, cuy, mark, created_at: createdAt, posted_by: by } = row
  const [amount, balance] = [readAmount(row.amount), readAmount(row.balance)]
  return { id, uid, wid, osn, type, cuy, amount, balance, mark, createdAt, by }
}

/** Reads the user's balances, ordered by `cuy`. A currency in which the user has no wallet is missing. */
export async function selectBalances(db: ReadDatabase, uid: Uid): Promise<readonly WalletBalance[]> {
  const { results } = await selectOwn(db, { uid }).all<Pick<WalletRow, 'cuy' | 'balance'>>()
  return results.map((row) => ({ cuy: row.cuy, amount: readAmount(row.balance) }))
}

/** Makes the statement that reads the balances of wallets in ledger units, as `WalletRow`. A wallet that does not exist is missing in the result. */
export function selectBalancesOf(
  db: ReadDatabase,
  owners: readonly Pick<WalletRow, 'uid' | 'cuy'>[],
): D1PreparedStatement {
  return selectBalancesIn(db, { owners: JSON.stringify(owners) })
}

export type WalletRow = Pick<typeof wallets.$inferSelect, 'uid' | 'cuy' | 'balance'>

const selectOwn = fixedStatement<'uid'>(sql`
SELECT ${wallets.cuy}, ${wallets.balance} FROM ${wallets} WHERE ${wallets.uid} = ${sql.placeholder('uid')} ORDER BY ${wallets.cuy}`)

const selectBalancesIn = fixedStatement<'owners'>(sql`
SELECT DISTINCT ${wallets.uid}, ${wallets.cuy}, ${wallets.balance} FROM json_each(${sql.placeholder('owners')})
CROSS JOIN ${wallets} ON ${wallets.uid} = ${member(wallets.uid)} AND ${wallets.cuy} = ${member(wallets.cuy)}`)

/** Most entries on a page if `limit` is absent. */
export const pageRowsDefault = 20
/** A higher page number is read as this one: such a page is empty anyway, and the number of skipped entries stays far below 2^53. */
const pageNumberMax = 1_000_000_000
/**
 * Reads one page of the user's entries, newest first, and the number of all that match, in one round trip. A page with `before` costs the same at any depth.
 * Counting reads a few entries, because each stores its number. The queries name their indices, because D1 keeps no statistics by which SQLite would choose
 * them.
 */
export async function selectEntries(db: ReadDatabase, uid: Uid, selection: EntrySelection): Promise<EntryList> {
  const statements =
    selection.osn === undefined ? listing(db, uid, selection) : ofOrder(db, uid, selection, selection.osn)
  const [counted, page] = await db.batch<EntryRow & { readonly count: number }>([...statements])
  return { list: (page?.results ?? []).map(readEntry), count: counted?.results[0]?.count ?? 0 }
}

/** Reads the newest `limit` entries of all users, below `before` if it is given. `count` is the number of all entries, read from stored sums. */
export async function selectAllEntries(
  { db, currencies }: { readonly db: ReadDatabase; readonly currencies: Currencies },
  { before, limit = pageRowsDefault }: Pick<EntrySelection, 'before' | 'limit'>,
): Promise<EntryList> {
  const [counted, page] = await db.batch<EntryRow & { readonly count: number }>([
    toStatement(
      db,
      sql`SELECT coalesce(sum(entries), 0) AS count FROM (${selectSumsUpTo(currencies, sql.raw('1e9'))})`,
    ),
    toStatement(
      db,
      selectPage({ rows: entriesWithWallet, where: before === undefined ? sql`true` : sql`${lt(id, before)}` }, limit),
    ),
  ])
  return { list: (page?.results ?? []).map(readEntry), count: counted?.results[0]?.count ?? 0 }
}

/**
 * SQL that selects the sums of all entries before the day `end` (UTC, in days since 1970), one row for each currency and type with entries: `cuy`, `type`,
 * `entries`, `high`, `low` (the sum is high × 10^9 + low). It reads one stored row for each row of the result.
 */
export function selectSumsUpTo({ list }: Currencies, end: SQL): SQL {
  const { cuy, type, day, entries, high, low } = days
  return sql`SELECT ${cuy}, ${type}, ${entries}, ${high}, ${low}
FROM json_each(${JSON.stringify(list.map((currency) => currency.cuy))}) AS currency
CROSS JOIN json_each(${sql.raw(`'${JSON.stringify(Object.values(entryTypes))}'`)}) AS kind
CROSS JOIN ${days} ON ${cuy} = currency.value AND ${type} = kind.value AND ${day} = (
  SELECT max(newest.day) FROM ${days} AS newest WHERE newest.cuy = currency.value AND newest.type = kind.value AND newest.day < ${end})`
}

/** `selectOrder` finds no more entries than this, because a backend may give every user the same `osn`. */
export const orderRowsMax = 1_000

/**
 * Reads entries with this `osn` of all users, newest first: up to `limit`, below `before` if it is given. Recharges are not among them. `count` is the number
 * of entries with this `osn`. If `count` is `orderRowsMax`, more may exist, because only the wallets with the lowest numbers were searched. `selectEntries`
 * finds the entries of one user.
 */
export async function selectOrder(
  db: ReadDatabase,
  wanted: string,
  { before, limit = pageRowsDefault }: Pick<EntrySelection, 'before' | 'limit'>,
): Promise<EntryList> {
  const found = sql`SELECT ${id} AS id FROM ${flows} INDEXED BY flow_key WHERE ${eq(osn, wanted)} LIMIT ${orderRowsMax}`
  const below = before === undefined ? sql`` : sql` WHERE id < ${before}`
  const newestOf = sql`SELECT id FROM (${found})${below} ORDER BY id DESC LIMIT ${limit}`
  const [counted, page] = await db.batch<EntryRow & { readonly count: number }>([
    toStatement(db, sql`SELECT count(*) AS count FROM (${found})`),
    toStatement(db, selectPage({ rows: entriesWithWallet, where: sql`${id} IN (${newestOf})` }, limit)),
  ])
  return { list: (page?.results ?? []).map(readEntry), count: counted?.results[0]?.count ?? 0 }
}

/** Parses an `osn` filter that is a txid into the form that the `osn` of a recharge has; null for any other text. */
function txidIn(osn: string): string | null {
  const txid = parseTxid(osn)
  return txid.ok ? txid.value : null
}

const { id, wallet_id: wid, type, osn, number, type_number } = flows
/** SQL that selects an `EntryRow`. FROM must have `entriesWithWallet` or the same tables, and then `withTransfer`. */
export const entryColumns = sql`${id}, ${wid}, ${wallets.uid}, ${wallets.cuy}, ${type}, coalesce(${osn}, ${transfers.osn}) AS osn,
  ${flows.amount}, ${flows.balance}, iif(${type} = 1, 'deposit', ${flows.mark}) AS mark, ${flows.created_at}, ${flows.posted_by}`
/** SQL that joins the transfer of a recharge, for its `osn`. */
export const withTransfer = sql`LEFT JOIN ${transfers} ON ${transfers.id} = ${flows.transfer_id}`
function selectPage({ rows, where }: Pick<EntryScope, 'rows' | 'where'>, limit: unknown, offset: unknown = 0): SQL {
  return sql`SELECT ${entryColumns} FROM ${rows} ${withTransfer} WHERE ${where} ORDER BY ${id} DESC LIMIT ${limit} OFFSET ${offset}`
}

const offsetOf = ({ page = 1, limit = pageRowsDefault }: EntrySelection) => (Math.min(page, pageNumberMax) - 1) * limit

const boundNames = ['cuy', 'wid', 'type', 'from', 'to', 'before'] as const
/** The values of a selection, or placeholders for them. */
type Bounds = { readonly [Name in (typeof boundNames)[number]]?: unknown }

/**
 * The statements that count and read a page, for a selection without `osn`. Their texts are built once for each set of filters that are given, and kept in
 * `listings`.
 */
function listing(db: ReadDatabase, uid: Uid, selection: EntrySelection): readonly D1PreparedStatement[] {
  const given = boundNames.filter((name) => selection[name] !== undefined)
  const key = given.join(' ')
  const made = listings.get(key) ?? makeListing(given)
  listings.set(key, made)
  const { limit = pageRowsDefault } = selection
  const offset = offsetOf(selection)
  const values = { ...selection, uid, limit, offset, most: offset + limit }
  return [made.count(db, values), made.page(db, values)]
}

type Made = ReturnType<typeof fixedStatement<string>>
const listings = new Map<string, { readonly count: Made; readonly page: Made }>()

function makeListing(given: readonly (typeof boundNames)[number][]) {
  const bounds: Bounds = Object.fromEntries(given.map((name) => [name, sql.placeholder(name)]))
  const scope = allEntries(bounds)
  const page = selectPage(scope, sql.placeholder('limit'), sql.placeholder('offset'))
  return { count: fixedStatement<string>(scope.count), page: fixedStatement<string>(page) }
}

/** The matching entries as SQL: `rows` follows FROM and has entries with their wallets, `where` follows WHERE, and `count` is a whole query. */
interface EntryScope {
  readonly rows: SQL
  readonly where: SQL
  readonly count: SQL
}

/** SQL that follows FROM: all entries, each with its wallet. */
export const entriesWithWallet = sql`${flows} CROSS JOIN ${wallets} ON ${wallets.id} = ${wid}`

/** SQL that is true for those wallets of the user that match the selection's `cuy` and `wid`. */
function isSelected(uid: unknown, { cuy, wid }: Bounds): SQL {
  const ofCurrency = cuy === undefined ? sql`` : sql` AND ${wallets.cuy} = ${cuy}`
  return sql`${wallets.uid} = ${uid}${ofCurrency}${wid === undefined ? sql`` : sql` AND ${wallets.id} = ${wid}`}`
}

/** SQL that is true for ids within the selection's times and below `before`. Both upper bounds are one expression: SQLite searches an index by only one. */
function inRange({ from, to, before }: Bounds, id: SQLWrapper = flows.id): SQL {
  const bounds = [to === undefined ? null : firstEntryAt(sql`${to}`), before === undefined ? null : sql`${before}`]
  const [end = null, other = null] = bounds.filter((bound) => bound !== null)
  const lower = from === undefined ? sql`` : sql` AND ${gte(id, firstEntryAt(sql`${from}`))}`
  if (end === null) return lower
  return sql`${lower} AND ${lt(id, other === null ? end : sql`min(${end}, ${other})`)}`
}

function ofOrder(
  db: ReadDatabase,
  uid: Uid,
  selection: EntrySelection,
  wanted: string,
): readonly D1PreparedStatement[] {
  const scope = withOsn(uid, selection, wanted)
  const page = selectPage(scope, selection.limit ?? pageRowsDefault, offsetOf(selection))
  return [toStatement(db, scope.count), toStatement(db, page)]
}

/** A selection with `osn`: the entries of one order or one transaction are few, so they are counted one by one. */
function withOsn(uid: Uid, selection: EntrySelection, wanted: string): EntryScope {
  const isOwn = sql`${wid} IN (SELECT ${wallets.id} FROM ${wallets} WHERE ${isSelected(uid, selection)})`
  const ofType = selection.type === undefined ? sql`` : sql` AND ${eq(type, selection.type)}`
  const posted = (match: SQL) =>
    sql`SELECT ${id} FROM ${flows} INDEXED BY flow_key WHERE ${match} AND ${isOwn}${ofType}`
  const credited = (transaction: string, match: SQL) => sql`SELECT ${id} FROM ${transfers} INDEXED BY transfer_key
    CROSS JOIN ${flows} INDEXED BY flow_deposit ON ${isOwn} AND ${flows.transfer_id} = ${transfers.id}
    WHERE ${transfers.txid} = ${ofHex(transaction)} AND ${match}${ofType}`
  const counted = (...parts: SQL[]): EntryScope => {
    const isOne = sql`${id} IN (${sql.join(parts, sql` UNION ALL `)})`
    return {
      rows: entriesWithWallet,
      where: sql`${isOne}${inRange(selection)}`,
      count: sql`SELECT count(*) AS count FROM ${flows} WHERE ${isOne}${inRange({ ...selection, before: undefined })}`,
    }
  }
  const txid = txidIn(wanted)
  const exact = posted(eq(osn, wanted))
  if (txid === null) {
    const [transaction = ''] = /^[0-9a-f]{64}(?=:|$)/.exec(wanted) ?? []
    return transaction === '' ? counted(exact) : counted(exact, credited(transaction, eq(transfers.osn, wanted)))
  }
  // Matches an `osn` that is the txid, or begins with the txid and `:` (`;` is the next character). The first is a part of its own: the index then finds it in
  // each wallet, however many users have the same `osn`. `exact` is for a backend that has posted the txid as it stands in the filter, for example in upper
  // case.
  const ofTransaction = [posted(eq(osn, txid)), posted(sql`${gte(osn, `${txid}:`)} AND ${lt(osn, `${txid};`)}`)]
  return counted(...(txid === wanted ? [] : [exact]), ...ofTransaction, credited(txid, sql`true`))
}

const newest = alias(flows, 'newest')

/**
 * A selection without `osn`. In the index, entries are in the order of ids only within one wallet. So of several wallets the newest entries of each are read,
 * and the newest of these kept.
 */
function allEntries(bounds: Bounds): EntryScope {
  const { cuy, wid: wallet, type: wanted } = bounds
  const count = numberOfAll(bounds)
  const where = isSelected(sql.placeholder('uid'), bounds)
  const index = sql.raw(wanted === undefined ? 'flow_wallet' : 'flow_type')
  const ofWallet = (table: typeof flows | typeof newest) => {
    const ofType = wanted === undefined ? sql`` : sql` AND ${table.type} = ${wanted}`
    return sql`${table.wallet_id} = ${wallets.id}${ofType}${inRange(bounds, table.id)}`
  }
  if (cuy !== undefined || wallet !== undefined) {
    const rows = sql`${wallets} CROSS JOIN ${flows} INDEXED BY ${index} ON ${ofWallet(flows)}`
    return { rows, where, count }
  }
  const rows = sql`${wallets} CROSS JOIN ${flows} ON ${id} IN (
    SELECT ${newest.id} FROM ${flows} AS ${newest} INDEXED BY ${index} WHERE ${ofWallet(newest)}
    ORDER BY ${newest.id} DESC LIMIT ${sql.placeholder('most')})`
  return { rows, where, count }
}

/** Counts the entries in a range of ids: in each wallet, the number of the newest entry in the range minus the number of the newest entry before the range. */
function numberOfAll(bounds: Bounds): SQL {
  const { type: wanted, from, to } = bounds
  const [column, entries] =
    wanted === undefined
      ? [number, sql`${flows} INDEXED BY flow_wallet WHERE ${wid} = ${wallets.id}`]
      : [type_number, sql`${flows} INDEXED BY flow_type WHERE ${wid} = ${wallets.id} AND ${type} = ${wanted}`]
  const numberBelow = (end: SQL) =>
    sql`coalesce((SELECT ${column} FROM ${entries} AND ${lt(id, end)} ORDER BY ${id} DESC LIMIT 1), 0)`
  const endOfIds = sql.raw('9223372036854775807')
  const before = from === undefined ? sql`0` : numberBelow(firstEntryAt(sql`${from}`))
  const upTo = numberBelow(to === undefined ? endOfIds : firstEntryAt(sql`${to}`))
  return sql`
SELECT coalesce(sum(max(0, ${upTo} - ${before})), 0) AS count FROM ${wallets} WHERE ${isSelected(sql.placeholder('uid'), bounds)}`
}
