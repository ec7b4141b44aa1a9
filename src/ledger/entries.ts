import { eq } from 'drizzle-orm'
import { parseTxid } from '../chain/block.ts'
import { type Amount, noAmount } from '../common/amount.ts'
import type { Uid } from '../common/ids.ts'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import { openTables, type ReadDatabase, type Statement, statement } from '../d1/database.ts'
import { type flows, wallets } from '../d1/tables.ts'
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

/** One page of the caller's entries, and the number of all that match. One statement. */
export async function selectEntries(db: ReadDatabase, uid: Uid, selection: EntrySelection): Promise<EntryList> {
  const { results } = await entriesQuery(db, uid, selection).all<EntryRow & { readonly n: number | null }>()
  const [first, ...list] = results
  return { list: list.map(readEntry), count: first?.n ?? 0 }
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

/** The statements by shape of filter and page: 256 at most. */
const statements = new Map<string, Statement>()

/**
 * One statement for a page of ledger entries and the number of all that match. Its first row has the number, the others
 * have an entry each. Every shape reads an index from its newest end, so a page below an id costs the same at any depth,
 * and counts without reading what it counts, since each entry has its number. Each index is named: the planner has no
 * statistics.
 */
function entriesQuery(db: ReadDatabase, uid: Uid, selection: EntrySelection): D1PreparedStatement {
  const { cuy, wid, type, osn, from, to, page = 1, before, limit = pageRowsDefault } = selection
  const txid = osn === undefined ? null : txidIn(osn)
  const given = [cuy, wid, type, osn, from, to, before].map((value) => value !== undefined)
  const shape = `${given.join()} ${txid !== null} ${txid === osn}`
  const select = statements.get(shape) ?? statement(selectPage(selection))
  statements.set(shape, select)
  const offset = (Math.min(page, pageNumberMax) - 1) * limit
  return select(db, { uid, ...selection, txid, limit, offset })
}

/** The txid that a filter has in any form, as entries of deposits have it, or null. */
function txidIn(osn: string): string | null {
  const txid = parseTxid(osn)
  return txid.ok ? txid.value : null
}

const columns = ['id', 'wallet_id', 'uid', 'cuy', 'type', 'osn', 'amount', 'balance', 'mark', 'created_at', 'posted_by']

/** The text depends on the shape alone: values are parameters. */
function selectPage(selection: EntrySelection): string {
  const { osn } = selection
  const { rows, count } = osn === undefined ? allEntries(selection) : withOsn(selection, osn)
  return `
SELECT (${count}) AS n, ${columns.map((name) => `NULL AS ${name}`).join(', ')}
UNION ALL
SELECT NULL, * FROM (
  SELECT ${columns.join(', ')} FROM ${rows(inRange(selection))} ORDER BY id DESC LIMIT :limit OFFSET :offset)`
}

/** The entries that match, as what follows FROM with a condition on ids, and a query for their number. */
interface EntryScope {
  readonly rows: (range: string) => string
  readonly count: string
}

/** The ids of the caller's wallets that are selected. */
function walletsOf({ cuy, wid }: EntrySelection): string {
  const conditions = [
    'uid = :uid',
    ...(cuy === undefined ? [] : ['cuy = :cuy']),
    ...(wid === undefined ? [] : ['id = :wid']),
  ]
  return `SELECT id FROM wallet WHERE ${conditions.join(' AND ')}`
}

/**
 * The ids of a time range and page, with one bound at each end: of two, an index uses the first one only. `created_at`
 * never decreases as ids grow (a trigger's rule), so a time range is a range of ids.
 */
function inRange({ from, to, before }: EntrySelection): string {
  const ends = [...(to === undefined ? [] : [firstAt(':to')]), ...(before === undefined ? [] : [':before'])]
  const [end = null, other = null] = ends
  const lower = from === undefined ? '' : ` AND id >= ${firstAt(':from')}`
  return `${lower}${end === null ? '' : ` AND id < ${other === null ? end : `min(${end}, ${other})`}`}`
}

/** The first id at or after a time; where there is none, an id above all. */
function firstAt(time: string): string {
  return `coalesce(
    (SELECT id FROM flow INDEXED BY flow_time WHERE created_at >= ${time} ORDER BY created_at, id LIMIT 1), ${endOfIds})`
}

const endOfIds = '9223372036854775807'

// An order, or the entries of a transaction, are few: these are counted one by one.
function withOsn(selection: EntrySelection, osn: string): EntryScope {
  const type = selection.type === undefined ? '' : ' AND type = :type'
  const find = (match: string) =>
    `flow INDEXED BY flow_osn WHERE wallet_id IN (${walletsOf(selection)}) AND ${match}${type}`
  const counted = (matching: string): EntryScope => ({
    rows: (range) => `${matching}${range}`,
    count: `SELECT count(*) FROM ${matching}${inRange({ ...selection, before: undefined })}`,
  })
  const txid = txidIn(osn)
  const exact = find('osn = :osn')
  // `txid` and `txid:k` for every k. `;` is the character after `:`.
  const ofTransaction = find(`osn >= :txid AND osn < :txid || ';' AND substr(osn, 65, 1) IN ('', ':')`)
  if (txid === null) return counted(exact)
  if (txid === osn) return counted(ofTransaction)
  // A backend can have posted it in this form. One condition with OR would not use the index.
  return counted(`flow WHERE id IN (SELECT id FROM ${exact} UNION ALL SELECT id FROM ${ofTransaction})`)
}

/**
 * Entries without an `osn`. The indexes of several wallets cannot be read as one in the order of ids: so of a type, the
 * newest entries of each wallet are read, and then the newest of those.
 */
function allEntries(selection: EntrySelection): EntryScope {
  const isOneWallet = selection.cuy !== undefined || selection.wid !== undefined
  const count = numberOfAll(selection)
  if (selection.type === undefined) {
    const all = isOneWallet
      ? `flow INDEXED BY flow_wallet WHERE wallet_id = (${walletsOf(selection)})`
      : 'flow INDEXED BY flow_uid WHERE uid = :uid'
    return { rows: (range) => `${all}${range}`, count }
  }
  const ofType = 'flow INDEXED BY flow_type WHERE type = :type AND wallet_id ='
  if (isOneWallet) return { rows: (range) => `${ofType} (${walletsOf(selection)})${range}`, count }
  return {
    rows: (range) => `flow WHERE id IN (
      SELECT newest.id FROM (${walletsOf(selection)}) AS own CROSS JOIN flow AS newest ON newest.id IN (
        SELECT id FROM ${ofType} own.id${range} ORDER BY id DESC LIMIT :limit + :offset))`,
    count,
  }
}

/** In each wallet: the number of the newest entry in the range, minus that of the newest one before the range. */
function numberOfAll(selection: EntrySelection): string {
  const { type, from, to } = selection
  const [column, entries] =
    type === undefined
      ? ['number', 'flow INDEXED BY flow_wallet WHERE wallet_id = own.id']
      : ['type_number', 'flow INDEXED BY flow_type WHERE wallet_id = own.id AND type = :type']
  const numberBelow = (end: string) =>
    `coalesce((SELECT ${column} FROM ${entries} AND id < ${end} ORDER BY id DESC LIMIT 1), 0)`
  const before = from === undefined ? '0' : numberBelow(firstAt(':from'))
  const upTo = numberBelow(to === undefined ? endOfIds : firstAt(':to'))
  return `SELECT coalesce(sum(max(0, ${upTo} - ${before})), 0) FROM (${walletsOf(selection)}) AS own`
}
