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
/** An entry as `entryColumns` read it, with columns of its wallet and its transfer. */
export type EntryRow = Omit<Stored, 'osn' | 'transfer_id' | 'number' | 'type_number'> &
  Pick<typeof wallets.$inferSelect, 'uid' | 'cuy'> & { readonly osn: string }

/** An amount from a column: D1 returns it as a number. */
export function readAmount(stored: number): Amount {
  return BigInt(stored) as Amount // safe: the CHECK of every such column is the bound
}

/** Makes an entry of its row: amounts become `bigint`. */
export function readEntry(row: EntryRow): Entry {
  const { id, uid, wallet_id: wid, osn, type, cuy, mark, created_at: createdAt, posted_by: by } = row
  const [amount, balance] = [readAmount(row.amount), readAmount(row.balance)]
  return { id, uid, wid, osn, type, cuy, amount, balance, mark, createdAt, by }
}

/** Reads the user's balances. A currency without an entry is absent. */
export async function selectBalances(db: ReadDatabase, uid: Uid): Promise<readonly WalletBalance[]> {
  const { results } = await selectOwn(db, { uid }).all<Pick<WalletRow, 'cuy' | 'balance'>>()
  return results.map((row) => ({ cuy: row.cuy, amount: readAmount(row.balance) }))
}

/** Reads balances of wallets, in ledger units. A wallet without an entry is absent. */
export function selectBalancesOf(
  db: ReadDatabase,
  owners: readonly Pick<WalletRow, 'uid' | 'cuy'>[],
): D1PreparedStatement {
  return selectBalancesIn(db, { owners: JSON.stringify(owners) })
}

/** A row of `selectBalancesOf`. */
export type WalletRow = Pick<typeof wallets.$inferSelect, 'uid' | 'cuy' | 'balance'>

const selectOwn = fixedStatement<'uid'>(sql`
SELECT ${wallets.cuy}, ${wallets.balance} FROM ${wallets} WHERE ${wallets.uid} = ${sql.placeholder('uid')} ORDER BY ${wallets.cuy}`)

const selectBalancesIn = fixedStatement<'owners'>(sql`
SELECT DISTINCT ${wallets.uid}, ${wallets.cuy}, ${wallets.balance} FROM json_each(${sql.placeholder('owners')})
CROSS JOIN ${wallets} ON ${wallets.uid} = ${member(wallets.uid)} AND ${wallets.cuy} = ${member(wallets.cuy)}`)

/** Entries on a page without `limit`. */
export const pageRowsDefault = 20
/** No database of D1's size (10 GB) has this many pages. The limit keeps page × limit far below 2^53. */
const pageNumberMax = 1_000_000_000
/**
 * Reads one page of the user's entries and the number of all that match, in one round trip. Both queries read an index from its newest end. A page below an id
 * costs the same at any depth, and counting reads no entries, because each entry stores its number. D1 keeps no statistics for the planner, so each index is
 * named.
 */
export async function selectEntries(db: ReadDatabase, uid: Uid, selection: EntrySelection): Promise<EntryList> {
  const statements =
    selection.osn === undefined ? listing(db, uid, selection) : ofOrder(db, uid, selection, selection.osn)
  const [counted, page] = await db.batch<EntryRow & { readonly count: number }>([...statements])
  return { list: (page?.results ?? []).map(readEntry), count: counted?.results[0]?.count ?? 0 }
}

/** Reads the newest entries of all users below an id, and the number of all entries from stored sums. */
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
 * The sums of all entries before a day, for each currency and type that has entries: `cuy`, `type`, `entries`, `high`, `low` (the sum is high × 10^9 + low).
 * Reads one row of each.
 */
export function selectSumsUpTo({ list }: Currencies, end: SQL): SQL {
  const { cuy, type, day, entries, high, low } = days
  return sql`SELECT ${cuy}, ${type}, ${entries}, ${high}, ${low}
FROM json_each(${JSON.stringify(list.map((currency) => currency.cuy))}) AS currency
CROSS JOIN json_each(${sql.raw(`'${JSON.stringify(Object.values(entryTypes))}'`)}) AS kind
CROSS JOIN ${days} ON ${cuy} = currency.value AND ${type} = kind.value AND ${day} = (
  SELECT max(newest.day) FROM ${days} AS newest WHERE newest.cuy = currency.value AND newest.type = kind.value AND newest.day < ${end})`
}

/** Counting the entries of one order stops here, because a backend may give everybody the same `osn`. */
export const orderRowsMax = 1_000

/**
 * Reads the newest entries of an order below an id, whoever its user is, and how many there are: `orderRowsMax` means that many or more. Recharges are left
 * out: transfers find those. The index is in the order of wallets, so if more entries share the `osn`, these are from the first wallets only; a selection with
 * a user finds the others.
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

/** The txid in a filter, in the form that entries of deposits have, or null. */
function txidIn(osn: string): string | null {
  const txid = parseTxid(osn)
  return txid.ok ? txid.value : null
}

const { id, wallet_id: wid, type, osn, number, type_number } = flows
/** The columns of `EntryRow`: of entries, their wallets and, for deposits, their transfers. */
export const entryColumns = sql`${id}, ${wid}, ${wallets.uid}, ${wallets.cuy}, ${type}, coalesce(${osn}, ${transfers.osn}) AS osn,
  ${flows.amount}, ${flows.balance}, iif(${type} = 1, 'deposit', ${flows.mark}) AS mark, ${flows.created_at}, ${flows.posted_by}`
/** The join that `entryColumns` needs besides the wallets. */
export const withTransfer = sql`LEFT JOIN ${transfers} ON ${transfers.id} = ${flows.transfer_id}`
/** SQL for a page of entries with their wallets. */
function selectPage({ rows, where }: Pick<EntryScope, 'rows' | 'where'>, limit: unknown, offset: unknown = 0): SQL {
  return sql`SELECT ${entryColumns} FROM ${rows} ${withTransfer} WHERE ${where} ORDER BY ${id} DESC LIMIT ${limit} OFFSET ${offset}`
}

/** The number of entries before a page. */
const offsetOf = ({ page = 1, limit = pageRowsDefault }: EntrySelection) => (Math.min(page, pageNumberMax) - 1) * limit

const boundNames = ['cuy', 'wid', 'type', 'from', 'to', 'before'] as const
/** The values of a selection, or the placeholders for them in a prepared statement. */
type Bounds = { readonly [Name in (typeof boundNames)[number]]?: unknown }

/** The number of entries and a page of them, for a selection without `osn`. There is one prepared statement for each set of given filters. */
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

/** The matching entries with their wallets, as SQL that follows FROM and WHERE, and a query that counts them. */
interface EntryScope {
  readonly rows: SQL
  readonly where: SQL
  readonly count: SQL
}

/** All entries, each with its wallet. */
export const entriesWithWallet = sql`${flows} CROSS JOIN ${wallets} ON ${wallets.id} = ${wid}`

/** SQL: the wallet is one of the user's, and selected. */
function isSelected(uid: unknown, { cuy, wid }: Bounds): SQL {
  const ofCurrency = cuy === undefined ? sql`` : sql` AND ${wallets.cuy} = ${cuy}`
  return sql`${wallets.uid} = ${uid}${ofCurrency}${wid === undefined ? sql`` : sql` AND ${wallets.id} = ${wid}`}`
}

/** SQL: the id is in the time range and the page. There is one bound at each end, because an index uses only the first of two. */
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

/** The entries of an order or a transaction are few, so they are counted one by one. */
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
  // `txid` and `txid:k` for every k; `;` is the character after `:`. A backend may also have posted the txid in another form.
  const ofTransaction = posted(sql`${gte(osn, txid)} AND ${lt(osn, `${txid};`)} AND substr(${osn}, 65, 1) IN ('', ':')`)
  return counted(...(txid === wanted ? [] : [exact]), ofTransaction, credited(txid, sql`true`))
}

const newest = alias(flows, 'newest')

/**
 * Entries without an `osn` filter. Several wallets have no common order of ids in an index, so the newest entries of each wallet are read, and of these the
 * newest are kept.
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

/** For each wallet, the number of the newest entry in the range minus that of the newest entry before it. */
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
