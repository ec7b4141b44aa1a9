import { eq, gte, lt, type SQL, sql } from 'drizzle-orm'
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
/**
 * A row that `entryColumns` select: of an entry, with columns of its wallet and, for a recharge, of
 * its transfer.
 */
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

/**
 * Reads the user's balances, ordered by `cuy`. A currency in which the user has no wallet is
 * missing.
 */
export async function selectBalances(db: ReadDatabase, uid: Uid): Promise<readonly WalletBalance[]> {
  const { results } = await selectOwn(db, { uid }).all<Pick<WalletRow, 'cuy' | 'balance'>>()
  return results.map((row) => ({ cuy: row.cuy, amount: readAmount(row.balance) }))
}

/**
 * Makes the statement that reads the balances of wallets in ledger units, as `WalletRow`. A wallet
 * that does not exist is missing in the result.
 */
export function selectBalancesOf(
  db: ReadDatabase,
  owners: readonly Pick<WalletRow, 'uid' | 'cuy'>[],
): D1PreparedStatement {
  return selectBalancesIn(db, { owners: JSON.stringify(owners) })
}

export type WalletRow = Pick<typeof wallets.$inferSelect, 'uid' | 'cuy' | 'balance'>

const selectOwn = fixedStatement<'uid'>(sql`
SELECT ${wallets.cuy}, ${wallets.balance} FROM ${wallets} WHERE ${wallets.uid} = ${sql.placeholder('uid')}
  ORDER BY ${wallets.cuy}`)

const selectBalancesIn = fixedStatement<'owners'>(sql`
SELECT DISTINCT ${wallets.uid}, ${wallets.cuy}, ${wallets.balance} FROM json_each(${sql.placeholder('owners')})
CROSS JOIN ${wallets} ON ${wallets.uid} = ${member(wallets.uid)} AND ${wallets.cuy} = ${member(wallets.cuy)}`)

/** Most entries on a page if `limit` is absent. */
export const pageRowsDefault = 20
/**
 * A higher page number is read as this one: such a page is empty anyway, and the number of skipped
 * entries stays far below 2^53.
 */
const pageNumberMax = 1_000_000_000
/**
 * Reads one page of the user's entries, newest first, and the number of all that match, in one
 * round trip. A page costs the same at any depth. Counting reads a few entries, because each stores
 * its number. The queries name their indices, because D1 keeps no statistics by which SQLite would
 * choose them.
 */
export async function selectEntries(db: ReadDatabase, uid: Uid, selection: EntrySelection): Promise<EntryList> {
  const statements =
    selection.osn === undefined ? listing(db, uid, selection) : ofOrder(db, uid, selection, selection.osn)
  const [counted, page] = await db.batch<EntryRow & { readonly count: number }>([...statements])
  return { list: (page?.results ?? []).map(readEntry), count: counted?.results[0]?.count ?? 0 }
}

/**
 * Reads the newest `limit` entries of all users, below `before` if it is given. `count` is the
 * number of all entries, read from stored sums.
 */
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
 * SQL that selects the sums of all entries before the day `end` (UTC, in days since 1970), one row
 * for each currency and type with entries: `cuy`, `type`, `entries`, `high`, `low` (the sum is high
 * × 10^9 + low). It reads one stored row for each row of the result.
 */
export function selectSumsUpTo({ list }: Currencies, end: SQL): SQL {
  const { cuy, type, day, entries, high, low } = days
  return sql`SELECT ${cuy}, ${type}, ${entries}, ${high}, ${low}
FROM json_each(${JSON.stringify(list.map((currency) => currency.cuy))}) AS currency
CROSS JOIN json_each(${sql.raw(`'${JSON.stringify(Object.values(entryTypes))}'`)}) AS kind
CROSS JOIN ${days} ON ${cuy} = currency.value AND ${type} = kind.value AND ${day} = (
  SELECT max(newest.day) FROM ${days} AS newest WHERE newest.cuy = currency.value AND newest.type = kind.value
    AND newest.day < ${end})`
}

/**
 * `selectOrder` finds no more entries than this, because a backend may give every user the same
 * `osn`.
 */
export const orderRowsMax = 1_000

/**
 * Reads entries with this `osn` of all users, newest first: up to `limit`, below `before` if it is
 * given. Recharges are not among them. `count` is the number of entries with this `osn`. If `count`
 * is `orderRowsMax`, more may exist, because only the wallets with the lowest numbers were
 * searched. `selectEntries` finds the entries of one user.
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

/**
 * Parses an `osn` filter that is a txid into the form that the `osn` of a recharge has; null for
 * any other text.
 */
function txidIn(osn: string): string | null {
  const txid = parseTxid(osn)
  return txid.ok ? txid.value : null
}

const { id, wallet_id: wid, type, osn, number, type_number } = flows
/**
 * SQL that selects an `EntryRow`. FROM must have `entriesWithWallet` or the same tables, and then
 * `withTransfer`.
 */
export const entryColumns = sql`${id}, ${wid}, ${wallets.uid}, ${wallets.cuy}, ${type},
  coalesce(${osn}, ${transfers.osn}) AS osn, ${flows.amount}, ${flows.balance},
  iif(${type} = 1, 'deposit', ${flows.mark}) AS mark, ${flows.created_at}, ${flows.posted_by}`
/** SQL that joins the transfer of a recharge, for its `osn`. */
export const withTransfer = sql`LEFT JOIN ${transfers} ON ${transfers.id} = ${flows.transfer_id}`
function selectPage({ rows, where }: Pick<EntryScope, 'rows' | 'where'>, limit: unknown, offset: unknown = 0): SQL {
  return sql`SELECT ${entryColumns} FROM ${rows} ${withTransfer} WHERE ${where} ORDER BY ${id} DESC LIMIT ${limit}
    OFFSET ${offset}`
}

/** How many entries come before the page. */
const skippedBy = ({ page = 1, limit = pageRowsDefault }: EntrySelection) => (Math.min(page, pageNumberMax) - 1) * limit

const endOfIds = sql.raw('9223372036854775807')
/** What a selection without `osn` is made of: `skipped` stands for its page and its limit. */
type BoundName = Exclude<keyof EntrySelection, 'osn' | 'page' | 'limit'> | 'skipped'
/**
 * A member of `EntrySelection` that is missing here does not compile, so none is silently ignored.
 */
const bound = { cuy: 1, wid: 1, type: 1, from: 1, to: 1, before: 1, skipped: 1 } satisfies Record<BoundName, 1>
const boundNames = Object.keys(bound) as readonly BoundName[] // safe: the keys of the object above
/** The values of a selection, or placeholders for them. */
type Bounds = { readonly [Name in BoundName]?: unknown }

/**
 * The statements that count and read a page, for a selection without `osn`. Their texts are built
 * once for each set of filters that are given, and kept in `listings`.
 */
function listing(db: ReadDatabase, uid: Uid, selection: EntrySelection): readonly D1PreparedStatement[] {
  const skipped = skippedBy(selection)
  const values = { limit: pageRowsDefault, ...selection, uid, skipped: skipped === 0 ? undefined : skipped }
  const given = boundNames.filter((name) => values[name] !== undefined)
  const key = given.join(' ')
  const made = listings.get(key) ?? makeListing(given)
  listings.set(key, made)
  return [made.count(db, values), made.page(db, values)]
}

type Made = ReturnType<typeof fixedStatement<string>>
const listings = new Map<string, { readonly count: Made; readonly page: Made }>()

function makeListing(given: readonly BoundName[]) {
  const bounds: Bounds = Object.fromEntries(given.map((name) => [name, sql.placeholder(name)]))
  const scope = allEntries(bounds)
  const page = selectPage(scope, sql.placeholder('limit'))
  return { count: fixedStatement<string>(scope.count), page: fixedStatement<string>(page) }
}

/**
 * The matching entries as SQL: `rows` follows FROM and has entries with their wallets, `where`
 * follows WHERE, and `count` is a whole query.
 */
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

/**
 * SQL that is true for ids within the selection's times, below `before` and after the skipped
 * entries. All upper bounds are one expression: SQLite searches an index by only one.
 */
function inRange(bounds: Bounds): SQL {
  const { from, to, before, skipped } = bounds
  const ends = [
    ...(to === undefined || skipped !== undefined ? [] : [firstEntryAt(sql`${to}`)]),
    ...(before === undefined ? [] : [sql`${before}`]),
    ...(skipped === undefined ? [] : [idAfterSkipped(bounds)]), // not above `to`
  ]
  const lower = from === undefined ? sql`` : sql` AND ${gte(id, firstEntryAt(sql`${from}`))}`
  if (ends.length === 0) return lower
  // `min` with one argument would be an aggregate.
  return sql`${lower} AND ${lt(id, sql`min(${sql.join([...ends, sql`${endOfIds}`], sql`, `)})`)}`
}

function ofOrder(
  db: ReadDatabase,
  uid: Uid,
  selection: EntrySelection,
  wanted: string,
): readonly D1PreparedStatement[] {
  const scope = withOsn(uid, selection, wanted)
  const page = selectPage(scope, selection.limit ?? pageRowsDefault, skippedBy(selection))
  return [toStatement(db, scope.count), toStatement(db, page)]
}

/**
 * A selection with `osn`: the entries of one order or one transaction are few, so they are counted
 * one by one.
 */
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
  // Matches an `osn` that is the txid, or begins with the txid and `:` (`;` is the next character).
  // The first is a part of its own: the index then finds it in each wallet, however many users have
  // the same `osn`. `exact` is for a backend that has posted the txid as it stands in the filter,
  // for example in upper case.
  const ofTransaction = [posted(eq(osn, txid)), posted(sql`${gte(osn, `${txid}:`)} AND ${lt(osn, `${txid};`)}`)]
  return counted(...(txid === wanted ? [] : [exact]), ...ofTransaction, credited(txid, sql`true`))
}

/**
 * A selection without `osn`. In the index, entries are in the order of ids only within one wallet,
 * so SQLite reads the newest ids of each wallet, and stops at one that is older than `limit`
 * others. Only then are the entries read.
 */
function allEntries(bounds: Bounds): EntryScope {
  const { entries } = numbered(
    bounds,
    sql`IN (SELECT ${wallets.id} FROM ${wallets} WHERE ${isSelected(sql.placeholder('uid'), bounds)})`,
  )
  const newest = sql`SELECT ${id} FROM ${entries}${inRange(bounds)} ORDER BY ${id} DESC LIMIT ${sql.placeholder('limit')}`
  return { rows: entriesWithWallet, where: sql`${id} IN (${newest})`, count: numberOfAll(bounds) }
}

/**
 * SQL for the entries that a selection without `osn` matches in a wallet, whatever its times are,
 * and the column that numbers them.
 */
function numbered({ type: wanted }: Bounds, isOfWallet = sql`= ${wallets.id}`) {
  return wanted === undefined
    ? { column: number, entries: sql`${flows} INDEXED BY flow_wallet WHERE ${wid} ${isOfWallet}` }
    : {
        column: type_number,
        entries: sql`${flows} INDEXED BY flow_type WHERE ${wid} ${isOfWallet} AND ${type} = ${wanted}`,
      }
}

/**
 * SQL for the number of a wallet's matching entries with ids below `end`, whatever the selection's
 * times are. It reads one entry.
 */
function numberBelow(bounds: Bounds, end: SQL): SQL {
  const { column, entries } = numbered(bounds)
  return sql`coalesce((SELECT ${column} FROM ${entries} AND ${lt(id, end)} ORDER BY ${id} DESC LIMIT 1), 0)`
}

/**
 * Counts the entries in a range of ids: in each wallet, the number of the newest entry in the range
 * minus the number of the newest entry before the range.
 */
function numberOfAll(bounds: Bounds): SQL {
  const { from, to } = bounds
  const before = from === undefined ? sql`0` : numberBelow(bounds, firstEntryAt(sql`${from}`))
  const upTo = numberBelow(bounds, to === undefined ? sql`${endOfIds}` : firstEntryAt(sql`${to}`))
  return sql`
SELECT coalesce(sum(max(0, ${upTo} - ${before})), 0) AS count FROM ${wallets}
  WHERE ${isSelected(sql.placeholder('uid'), bounds)}`
}

/**
 * SQL for an id: `skipped` of the matching entries have this id or a higher one, if as many exist;
 * otherwise no entry has a lower one. It is a binary search over ids, in each step of which every
 * wallet tells how many of its entries are below an id. So a page costs the same at any depth.
 */
function idAfterSkipped(bounds: Bounds): SQL {
  const { to, skipped } = bounds
  const below = (end: SQL) =>
    sql`(SELECT sum(${numberBelow(bounds, end)}) FROM ${wallets} WHERE ${isSelected(sql.placeholder('uid'), bounds)})`
  const end = to === undefined ? sql`(SELECT coalesce(max(${id}), 0) + 1 FROM ${flows})` : firstEntryAt(sql`${to}`)
  return sql`(
  WITH RECURSIVE step (low, width, older) AS (
    SELECT 0, ${end}, ${below(end)} - ${skipped}
    UNION ALL SELECT iif(${below(sql`low + width / 2`)} < older, low + width / 2, low), width - width / 2, older
      FROM step WHERE width > 1)
  SELECT low + 1 FROM step WHERE width = 1)`
}
