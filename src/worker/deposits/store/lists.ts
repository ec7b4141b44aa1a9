import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { countedMax } from '../../common/counted.ts'
import type { DeciderName, EntryId } from '../../common/ids.ts'
import { fixedStatement, member, ofHex, type ReadDatabase, shown } from '../../d1/database.ts'
import { type IdOrder, newestFirst, oldestFirst, selectInOrder } from '../../d1/merge.ts'
import { scans } from '../../d1/state-tables.ts'
import { addresses, decisions, flows, isOpenTransfer, transfers, wallets } from '../../d1/tables.ts'
import type { Currencies } from '../../ledger/currencies.ts'
import { depositStates } from '../../schemas/deposit.ts'
import type { Deposit, DepositFilter, DepositKey, DepositPage } from '../deposit.ts'
import type { CreditKey } from '../transfer.ts'
import { readCallers, type TransferRow, transferColumns } from './rows.ts'

type DepositRow = TransferRow & {
  readonly entry_id: EntryId | null
  readonly decided_why: string | null
  readonly decided_by: DeciderName | null
}
type ScanRow = Pick<typeof scans.$inferSelect, 'finalized' | 'finalized_at'>

/**
 * Reads a page of transfers, in one round trip. `count` is the number that match, `countedMax` at
 * most; `head` is the newest final block, null before the scan has started.
 */
export async function selectDepositPage(
  db: ReadDatabase,
  filter: DepositFilter | DepositKey,
  currencies: Currencies,
  { before, after, limit }: DepositPage,
) {
  const { summary: counting, page: paging } = statementsFor(filter, after === undefined ? newestFirst : oldestFirst)
  const values = { ...filter, ...namedBy(filter, currencies), from: after ?? before ?? endOfIds, limit }
  const [summary, page] = await db.batch<ScanRow & { readonly count: number } & DepositRow>([
    counting(db, values),
    paging(db, values),
  ])
  const { count = 0, finalized = null, finalized_at: finalizedAt = null } = summary?.results[0] ?? {}
  const head = finalized === null || finalizedAt === null ? null : { finalized, finalizedAt }
  return { deposits: (page?.results ?? []).map(readDeposit), count, head }
}

/**
 * Reads the transfers with these keys, in the order of `keys` and with null where no transfer to a
 * user has the key. One statement.
 */
export async function selectDeposits(
  db: ReadDatabase,
  keys: readonly CreditKey[],
): Promise<readonly (Deposit | null)[]> {
  const select = selectByKeys(db, { keys: JSON.stringify(keys) })
  const { results } = await select.all<DepositRow & { readonly ordinal: number }>()
  const byOrdinal = new Map(results.map((row) => [row.ordinal, readDeposit(row)]))
  return keys.map((_, ordinal) => byOrdinal.get(ordinal) ?? null)
}

function readDeposit(row: DepositRow): Deposit {
  const { review, decided_why: why, decided_by: by, entry_id: entry } = row
  const isDecided = (review === 'credit' || review === 'refuse') && why !== null && by !== null
  return { ...readCallers(row), entry, decided: isDecided ? { decision: review, why, by } : null, finalIn: null }
}

/**
 * SQL that follows FROM, for the two queries of a list. It names its indices, because D1 keeps no
 * statistics by which SQLite would choose them.
 */
interface DepositScope {
  /** All rows that match, for the count. */
  readonly all: SQL
  /**
   * The `limit` rows that match and come first after the id `from`; more rows do no harm, because
   * the query has a LIMIT.
   */
  readonly page: SQL
}

/** An id above every id. */
const endOfIds = Number.MAX_SAFE_INTEGER

const { id, uid, cuy, state, txid, position } = transfers
/** The places of values in the statements of a page. */
const [ofUid, ofTxid, ofAddress] = [sql.placeholder('uid'), sql.placeholder('txid'), sql.placeholder('address')]
const [from, limit] = [sql`${sql.placeholder('from')}`, sql`${sql.placeholder('limit')}`]
const [ofStates, ofCurrencies] = [sql`${sql.placeholder('state')}`, sql`${sql.placeholder('cuy')}`]

/** What a list is filtered by beside a user. */
type NamedBy = Exclude<keyof DepositFilter, 'uid'>
type Made = ReturnType<typeof fixedStatement<string>>
const made = new Map<string, { readonly summary: Made; readonly page: Made }>()

/**
 * The two statements of a page. They are made once for each kind of filter, because making their
 * text takes 0.2 ms: as long as a request without its queries.
 */
function statementsFor(filter: DepositFilter | DepositKey, order: IdOrder) {
  const kind = `${kindOf(filter)}${order === newestFirst ? '' : ' oldest first'}`
  const known = made.get(kind)
  if (known !== undefined) return known
  const { all, page: rows } = 'uid' in filter ? byFilter(filter, order) : byKey(filter, order)
  const page = sql`SELECT ${depositColumns} FROM ${rows} ORDER BY ${id} ${order.direction} LIMIT ${limit}`
  const both = { summary: fixedStatement<string>(selectSummary(all)), page: fixedStatement<string>(page) }
  made.set(kind, both)
  return both
}

function kindOf(filter: DepositFilter | DepositKey): string {
  if ('txid' in filter) return 'txid'
  if ('address' in filter) return 'address'
  if (filter.reason !== undefined) return 'held'
  return filter.uid === null ? 'all' : 'uid'
}

/**
 * What a filter names beside a user, as JSON. A member of `DepositFilter` that is missing here does
 * not compile, so none is silently ignored.
 */
function namedBy(filter: DepositFilter | DepositKey, { list }: Currencies): Record<NamedBy, string> {
  const { state, cuy, reason = '' } = 'uid' in filter ? filter : { state: null, cuy: null }
  return {
    reason,
    state: JSON.stringify(state === null ? depositStates : [state]),
    cuy: JSON.stringify(cuy === null ? list.map((currency) => currency.cuy) : [cuy]),
  }
}

function byKey(key: DepositKey, order: IdOrder): DepositScope {
  // A list by txid needs no limit: one transaction has no more transfers than fit into a block.
  if ('txid' in key) {
    const ofOne = sql`${transfers} INDEXED BY transfer_key WHERE ${txid} = ${ofHex(ofTxid)} AND ${state} <> 'moved'`
    return inOrder(ofOne, order)
  }
  // A transfer in state `moved` has no uid, so the comparison of `uid` excludes it.
  return inOrder(
    sql`${transfers} INDEXED BY transfer_to WHERE ${transfers.to_address} = ${ofHex(ofAddress)} AND ${uid} = (
      SELECT ${addresses.uid} FROM ${addresses} WHERE ${addresses.address} = ${ofHex(ofAddress)})`,
    order,
  )
}

/**
 * Credited transfers have an index of their own, and those of one user are found through the
 * entries of the user's wallets.
 */
function byFilter(filter: DepositFilter, order: IdOrder): DepositScope {
  const { comesAfter, direction } = order
  const ofUser = filter.uid === null ? openOfAll : openOfCaller
  const open = filter.reason === undefined ? ofUser : heldOfAll
  const credited = filter.uid === null ? creditedOfAll : creditedOfCaller
  const nextIn = ({ rows, key }: ListPart, pair: readonly [state: SQL, cuy: SQL], after: SQL) =>
    sql`(SELECT ${key} FROM ${rows(...pair)} AND ${key} ${comesAfter} ${after} ORDER BY ${key} ${direction} LIMIT 1)`
  const next = (inState: SQL, inCuy: SQL, after: SQL) => {
    const pair = [inState, inCuy] as const
    return sql`iif(${inState} = 'credited', ${nextIn(credited, pair, after)}, ${nextIn(open, pair, after)})`
  }
  const countedIn = ({ rows }: ListPart, isCredited: SQL) => sql`
    SELECT 1 FROM json_each(${ofStates}) AS wanted CROSS JOIN json_each(${ofCurrencies}) AS currency CROSS JOIN
      ${rows(sql`wanted.value`, sql`currency.value`)} AND ${isCredited}`
  return {
    all: sql`(${countedIn(open, sql`wanted.value <> 'credited'`)} UNION ALL ${countedIn(credited, sql`wanted.value = 'credited'`)})`,
    page: sql`(${selectInOrder(ofStates, ofCurrencies, next, from, limit, order)}) CROSS JOIN ${transfers}
      ON ${id} = found_id`,
  }
}

/**
 * A part of a list that has an index of its own. For one state and currency, the index has the rows
 * in the order of `key`, the id of a transfer.
 */
interface ListPart {
  /** SQL that follows FROM, up to a WHERE that more can be added to. */
  readonly rows: (state: SQL, cuy: SQL) => SQL
  readonly key: SQLiteColumn
}

const openOfAll: ListPart = {
  rows: (inState, inCuy) => sql`${transfers} INDEXED BY transfer_uncredited
    WHERE ${state} = ${inState} AND ${cuy} = ${inCuy} AND ${sql.raw(isOpenTransfer)}`,
  key: id,
}
const openOfCaller: ListPart = {
  rows: (inState, inCuy) => sql`${transfers} INDEXED BY transfer_uid_state
    WHERE ${uid} = ${ofUid} AND ${state} = ${inState} AND ${cuy} = ${inCuy} AND ${sql.raw(isOpenTransfer)}`,
  key: id,
}
const heldOfAll: ListPart = {
  rows: (inState, inCuy) => sql`${transfers} INDEXED BY transfer_held WHERE ${state} = 'held' AND ${state} = ${inState}
    AND ${transfers.reason} = ${sql.placeholder('reason')} AND ${cuy} = ${inCuy}`,
  key: id,
}
const creditedOfAll: ListPart = {
  rows: (_, inCuy) => sql`${transfers} INDEXED BY transfer_credited WHERE ${state} = 'credited' AND ${cuy} = ${inCuy}`,
  key: id,
}
const creditedOfCaller: ListPart = {
  rows: (_, inCuy) => sql`${wallets} CROSS JOIN ${flows} INDEXED BY flow_deposit ON ${flows.wallet_id} = ${wallets.id}
    WHERE ${wallets.uid} = ${ofUid} AND ${wallets.cuy} = ${inCuy} AND ${flows.transfer_id} IS NOT NULL`,
  key: flows.transfer_id,
}

/** The scope of rows that are few, or that one index already gives in the order of ids. */
function inOrder(all: SQL, { comesAfter }: IdOrder): DepositScope {
  return { all, page: sql`${all} AND ${id} ${comesAfter} ${from}` }
}

const selectSummary = (all: SQL) => sql`
SELECT (SELECT count(*) FROM (SELECT 1 FROM ${all} LIMIT ${countedMax})) AS count,
  (SELECT ${scans.finalized} FROM ${scans}) AS finalized, (SELECT ${scans.finalized_at} FROM ${scans}) AS finalized_at`

const decided = (column: SQLiteColumn) => sql`(SELECT ${column} FROM ${decisions}
  WHERE ${decisions.txid} = ${shown(txid)} AND ${decisions.position} = ${position}
    AND ${decisions.decision} = ${transfers.review})`
const depositColumns = sql`${transferColumns}, ${decided(decisions.why)} AS decided_why,
  ${decided(decisions.decided_by)} AS decided_by, (
  SELECT ${flows.id} FROM ${wallets} CROSS JOIN ${flows} INDEXED BY flow_deposit
  ON ${flows.wallet_id} = ${wallets.id} AND ${flows.transfer_id} = ${id}
  WHERE ${state} = 'credited' AND ${wallets.uid} = ${uid} AND ${wallets.cuy} = ${cuy}
) AS entry_id`

const selectByKeys = fixedStatement<'keys'>(sql`
SELECT key AS ordinal, ${depositColumns} FROM json_each(${sql.placeholder('keys')})
  CROSS JOIN ${transfers} INDEXED BY transfer_key
  ON ${txid} = ${member(txid)} AND ${position} = ${member(position)} AND ${state} <> 'moved'`)
