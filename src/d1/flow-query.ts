import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { parseTxid } from '../chain/block.ts'
import type { Uid } from '../common/ids.ts'
import type { EntryFilter, EntryPage } from '../ledger/ledger-reader.ts'
import type { Database } from './database.ts'
import { columnsOf, param, type Statement, statement } from './statement.ts'
import { flows, wallets } from './tables.ts'

/** The statements by shape of filter and page: 256 at most. */
const statements = new Map<string, Statement>()

/**
 * One statement for a page of ledger entries and the number of all that match. Its first row has the count, the others
 * have an entry each. Every shape reads an index from its newest end, so a page below an id costs the same at any depth.
 * Each index is named, because the planner has no statistics. (A join of page and count would read every row twice.)
 */
export function flowQuery(db: Database, uid: Uid, filter: EntryFilter, page: EntryPage): D1PreparedStatement {
  const { cuy, wid, type, osn, from, to } = filter
  const given = [cuy, wid, type, osn, from, to].map((value) => value !== null)
  const txid = osn === null ? null : txidIn(osn)
  const shape = `${given.join()} ${txid !== null} ${txid === osn} ${page.kind}`
  const select = statements.get(shape) ?? statement(selectPage(filter, page))
  statements.set(shape, select)
  const paging = page.kind === 'before' ? { before: page.before, offset: 0 } : { offset: (page.page - 1) * page.limit }
  return select(db, { uid, ...filter, txid, limit: page.limit, ...paging })
}

/** The txid that a filter has in any form, as entries of deposits have it, or null. */
function txidIn(osn: string): string | null {
  const txid = parseTxid(osn)
  return txid.ok ? txid.value : null
}

const { id, uid, wallet_id, osn, type, created_at } = flows
const columns = columnsOf(flows)
const none = sql``

/** The text depends on the shape alone: values are parameters. */
function selectPage(filter: EntryFilter, page: EntryPage): SQL {
  const { list, count } = scope(filter)
  const below = page.kind === 'before' ? sql` AND ${id} < ${param('before')}` : none
  const noEntry = columns.map(({ name }) => sql`NULL AS ${sql.identifier(name)}`)
  return sql`SELECT ${count} AS n, ${sql.join(noEntry, sql`, `)} UNION ALL SELECT NULL, * FROM (
    SELECT ${sql.join([...columns], sql`, `)} FROM ${list(below)} ORDER BY ${id} DESC LIMIT ${param('limit')} OFFSET ${param('offset')})`
}

/** The entries that match, as what follows FROM, and an expression for their number. */
interface EntryScope {
  readonly list: (below: SQL) => SQL
  readonly count: SQL
}

function scope(filter: EntryFilter): EntryScope {
  const range = rangeOfIds(filter)
  const ofType = filter.type !== null ? sql` AND ${type} = ${param('type')}` : none
  const ownWallets = walletsOf(filter)
  const walletIds = sql`SELECT ${wallets.id} ${ownWallets}`
  if (filter.osn !== null) {
    const withOsn = (matching: SQL) =>
      sql`${flows} INDEXED BY flow_osn WHERE ${wallet_id} IN (${walletIds}) AND ${matching}${ofType}${range}`
    const txid = txidIn(filter.osn)
    if (txid === null) return counted(withOsn(exactly))
    if (txid === filter.osn) return counted(withOsn(bareTxid))
    // A backend can have posted it in this form. One condition with OR would not use the index.
    return counted(sql`${flows} WHERE ${id} IN (
      SELECT ${id} FROM ${withOsn(exactly)} UNION ALL SELECT ${id} FROM ${withOsn(bareTxid)})`)
  }
  const oneWallet = filter.cuy !== null || filter.wid !== null
  if (filter.type !== null) {
    return oneWallet
      ? counted(sql`${flows} INDEXED BY flow_type WHERE ${wallet_id} = (${walletIds})${ofType}${range}`)
      : ofTypeInEachWallet(ownWallets, sql`${ofType}${range}`)
  }
  const rows = oneWallet
    ? sql`${flows} INDEXED BY flow_wallet WHERE ${wallet_id} = (${walletIds})${range}`
    : sql`${flows} INDEXED BY flow_uid WHERE ${uid} = ${param('uid')}${range}`
  if (filter.from !== null || filter.to !== null) return counted(rows)
  return { ...counted(rows), count: sql`(SELECT coalesce(sum(${wallets.entry_count}), 0) ${ownWallets})` }
}

function walletsOf({ cuy, wid }: EntryFilter): SQL {
  const inCurrency = cuy !== null ? sql` AND ${wallets.cuy} = ${param('cuy')}` : none
  const withId = wid !== null ? sql` AND ${wallets.id} = ${param('wid')}` : none
  return sql`FROM ${wallets} WHERE ${wallets.uid} = ${param('uid')}${inCurrency}${withId}`
}

function counted(rows: SQL): EntryScope {
  return { list: (below) => sql`${rows}${below}`, count: sql`(SELECT count(*) FROM ${rows})` }
}

/** An index of each wallet cannot be read as one: so the newest entries of each wallet, then the newest of those. */
function ofTypeInEachWallet(ownWallets: SQL, conditions: SQL): EntryScope {
  const newest = alias(flows, 'newest')
  const inWallet = (wallet: SQL) => sql`${flows} INDEXED BY flow_type WHERE ${wallet_id} ${wallet}${conditions}`
  return {
    list: (below) => sql`${flows} WHERE ${id} IN (
      SELECT ${newest.id} FROM (SELECT ${wallets.id} AS owned ${ownWallets}) CROSS JOIN ${flows} AS ${newest}
      ON ${newest.id} IN (
        SELECT ${id} FROM ${inWallet(sql`= owned`)}${below} ORDER BY ${id} DESC LIMIT ${param('limit')} + ${param('offset')}))`,
    count: sql`(SELECT count(*) FROM ${inWallet(sql`IN (SELECT ${wallets.id} ${ownWallets})`)})`,
  }
}

/** `created_at` never decreases as ids grow (a trigger's rule), so a time range is a range of ids: two look-ups. */
function rangeOfIds({ from, to }: EntryFilter): SQL {
  const firstAt = (time: SQL) =>
    sql`(SELECT ${id} FROM ${flows} INDEXED BY flow_time WHERE ${created_at} >= ${time} ORDER BY ${created_at}, ${id} LIMIT 1)`
  const lower = from !== null ? sql` AND ${id} >= ${firstAt(param('from'))}` : none // no entry so late: NULL, no match
  const upper = to !== null ? sql` AND ${id} < coalesce(${firstAt(param('to'))}, 9223372036854775807)` : none
  return sql`${lower}${upper}`
}

const exactly = sql`${osn} = ${param('osn')}`
/** A bare txid matches its own entry and `txid:k` for every k. `;` is the character after `:`. */
const bareTxid = sql`${osn} >= ${param('txid')} AND ${osn} < ${param('txid')} || ';' AND substr(${osn}, 65, 1) IN ('', ':')`
