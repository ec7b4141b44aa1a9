import { lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { DeciderName, EntryId, TransferId } from '../../common/ids.ts'
import { fixedStatement, member, ofHex, type ReadDatabase, shown } from '../../d1/database.ts'
import { scans } from '../../d1/state-tables.ts'
import { addresses, decisions, flows, isOpenTransfer, transfers, wallets } from '../../d1/tables.ts'
import type { Currencies } from '../../ledger/currencies.ts'
import { type Deposit, type DepositFilter, type DepositKey, type DepositState, depositStates } from '../deposit.ts'
import type { CreditKey } from '../transfer.ts'
import { readCallers, type TransferRow, transferColumns } from './rows.ts'

/** The counts of lists end at this number, so that a count reads a bounded number of rows. */
export const countedMax = 1_000

type DepositRow = TransferRow & {
  readonly entry_id: EntryId | null
  readonly decided_why: string | null
  readonly decided_by: DeciderName | null
}
type ScanRow = Pick<typeof scans.$inferSelect, 'finalized' | 'finalized_at'>

/**
 * Reads the newest `limit` transfers with ids below `before`, in one round trip. `count` is the number that match, `countedMax` at most; `head` is the newest
 * final block, null before the scan has started.
 */
export async function selectDepositPage(
  db: ReadDatabase,
  filter: DepositFilter | DepositKey,
  currencies: Currencies,
  before: TransferId,
  limit: number,
) {
  const { summary: counting, page: paging } = statementsFor(filter)
  const values = { ...filter, currencies: currenciesOf(filter, currencies), before, limit }
  const [summary, page] = await db.batch<ScanRow & { readonly count: number } & DepositRow>([
    counting(db, values),
    paging(db, values),
  ])
  const { count = 0, finalized = null, finalized_at: finalizedAt = null } = summary?.results[0] ?? {}
  const head = finalized === null || finalizedAt === null ? null : { finalized, finalizedAt }
  return { deposits: (page?.results ?? []).map(readDeposit), count, head }
}

/** Reads the transfers with these keys, in the order of `keys` and with null where no transfer to a user has the key. One statement. */
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

/** SQL that follows FROM, for the two queries of a list. It names its indices, because D1 keeps no statistics by which SQLite would choose them. */
interface DepositScope {
  /** All rows that match, for the count. */
  readonly all: SQL
  /** The newest `limit` rows that match and have ids below `before`; more rows do no harm, because the query has a LIMIT. */
  readonly newest: SQL
}

const { id, uid, cuy, state, txid, position } = transfers
/** The places of values in the statements of a page. */
const [ofUid, ofTxid, ofAddress] = [sql.placeholder('uid'), sql.placeholder('txid'), sql.placeholder('address')]
const [before, limit, ofCurrencies] = [
  sql.placeholder('before'),
  sql.placeholder('limit'),
  sql.placeholder('currencies'),
]

type Made = ReturnType<typeof fixedStatement<string>>
const made = new Map<string, { readonly summary: Made; readonly page: Made }>()

/** The two statements of a page. They are made once for each kind of filter, because making their text takes 0.2 ms: as long as a request without its queries. */
function statementsFor(filter: DepositFilter | DepositKey) {
  const kind = kindOf(filter)
  const known = made.get(kind)
  if (known !== undefined) return known
  const { all, newest } = 'uid' in filter ? byFilter(filter) : byKey(filter)
  const page = sql`SELECT ${depositColumns} FROM ${newest} ORDER BY ${id} DESC LIMIT ${limit}`
  const both = { summary: fixedStatement<string>(selectSummary(all)), page: fixedStatement<string>(page) }
  made.set(kind, both)
  return both
}

function kindOf(filter: DepositFilter | DepositKey): string {
  if ('txid' in filter) return 'txid'
  if ('address' in filter) return 'address'
  return `${filter.uid === null ? 'all' : 'uid'} ${filter.state}`
}

/** The currencies that a filter names, as JSON. */
function currenciesOf(filter: DepositFilter | DepositKey, { list }: Currencies): string {
  const named = 'uid' in filter && filter.cuy !== null ? [filter.cuy] : list.map((currency) => currency.cuy)
  return JSON.stringify(named)
}

function byKey(key: DepositKey): DepositScope {
  // A list by txid needs no limit: one transaction has no more transfers than fit into a block.
  if ('txid' in key) {
    return inOrder(sql`${transfers} INDEXED BY transfer_key WHERE ${txid} = ${ofHex(ofTxid)} AND ${state} <> 'moved'`)
  }
  // A transfer in state `moved` has no uid, so the comparison of `uid` excludes it.
  return inOrder(
    sql`${transfers} INDEXED BY transfer_to WHERE ${transfers.to_address} = ${ofHex(ofAddress)} AND ${uid} = (
      SELECT ${addresses.uid} FROM ${addresses} WHERE ${addresses.address} = ${ofHex(ofAddress)})`,
  )
}

/** Within an index, rows are in the order of ids only for one state and currency. So the newest rows of each pair are read, and the newest of these kept. */
function byFilter(filter: DepositFilter): DepositScope {
  const states = filter.state === null ? depositStates : [filter.state]
  const parts = filter.uid === null ? ofAll(states) : ofCaller(states)
  const newestOf = ({ each, rows, is, key }: ListPart) => sql`
  SELECT ${transfers.id} AS newest_id FROM ${each} CROSS JOIN ${transfers} ON ${transfers.id} IN (
    SELECT ${key} FROM ${rows} WHERE ${is} AND ${key} < ${before} ORDER BY ${key} DESC LIMIT ${limit})`
  return {
    all: sql`(${sql.join(
      parts.map(({ each, rows, is }) => sql`SELECT 1 FROM ${each} CROSS JOIN ${rows} ON ${is}`),
      sql` UNION ALL `,
    )})`,
    newest: sql`(
  SELECT newest_id FROM (${sql.join(parts.map(newestOf), sql` UNION ALL `)})
  ORDER BY newest_id DESC LIMIT ${limit}
) CROSS JOIN ${transfers} ON ${id} = newest_id`,
  }
}

/**
 * SQL of a part of a list that one index gives in the right order. `each` has a row for each currency, or for each pair of a state and a currency. For each of
 * these rows, the rows of `rows` that satisfy `is` come in the order of `key`, the id of a transfer.
 */
interface ListPart {
  readonly each: SQL
  readonly rows: SQL
  readonly is: SQL
  readonly key: SQLiteColumn
}

const ofStates = (states: readonly DepositState[]) => sql`json_each(${JSON.stringify(states)}) AS wanted`
const eachCurrency = sql`json_each(${ofCurrencies}) AS currency`

/** The transfers of one user. Credited ones are found through the entries of the user's wallets, because the index by user lacks them. */
function ofCaller(states: readonly DepositState[]): readonly ListPart[] {
  const open = states.filter((one) => one !== 'credited')
  const inOpen = {
    each: sql`${ofStates(open)} CROSS JOIN ${eachCurrency}`,
    rows: sql`${transfers} INDEXED BY transfer_uid_state`,
    is: sql`${uid} = ${ofUid} AND ${state} = wanted.value AND ${cuy} = currency.value AND ${sql.raw(isOpenTransfer)}`,
    key: id,
  }
  const credited = {
    each: sql`${eachCurrency} CROSS JOIN ${wallets} ON ${wallets.uid} = ${ofUid} AND ${wallets.cuy} = currency.value`,
    rows: sql`${flows} INDEXED BY flow_deposit`,
    is: sql`${flows.wallet_id} = ${wallets.id} AND ${flows.transfer_id} IS NOT NULL`,
    key: flows.transfer_id,
  }
  return [...(open.length === 0 ? [] : [inOpen]), ...(open.length === states.length ? [] : [credited])]
}

/** The transfers of all users. Credited ones have an index of their own. */
function ofAll(states: readonly DepositState[]): readonly ListPart[] {
  return states.map((one) => ({
    each: eachCurrency,
    rows: sql`${transfers} INDEXED BY ${sql.raw(one === 'credited' ? 'transfer_credited' : 'transfer_uncredited')}`,
    is: sql`${state} = ${sql.raw(`'${one}'`)} AND ${cuy} = currency.value AND ${sql.raw(one === 'credited' ? 'true' : isOpenTransfer)}`,
    key: id,
  }))
}

/** The scope of rows that are few, or that one index already gives in the order of ids. */
function inOrder(all: SQL): DepositScope {
  return { all, newest: sql`${all} AND ${lt(id, before)}` }
}

const selectSummary = (all: SQL) => sql`
SELECT (SELECT count(*) FROM (SELECT 1 FROM ${all} LIMIT ${countedMax})) AS count,
  (SELECT ${scans.finalized} FROM ${scans}) AS finalized, (SELECT ${scans.finalized_at} FROM ${scans}) AS finalized_at`

const decided = (column: SQLiteColumn) => sql`(SELECT ${column} FROM ${decisions}
  WHERE ${decisions.txid} = ${shown(txid)} AND ${decisions.position} = ${position} AND ${decisions.decision} = ${transfers.review})`
const depositColumns = sql`${transferColumns}, ${decided(decisions.why)} AS decided_why,
  ${decided(decisions.decided_by)} AS decided_by, (
  SELECT ${flows.id} FROM ${wallets} CROSS JOIN ${flows} INDEXED BY flow_deposit
  ON ${flows.wallet_id} = ${wallets.id} AND ${flows.transfer_id} = ${id}
  WHERE ${state} = 'credited' AND ${wallets.uid} = ${uid} AND ${wallets.cuy} = ${cuy}
) AS entry_id`

const selectByKeys = fixedStatement<'keys'>(sql`
SELECT key AS ordinal, ${depositColumns} FROM json_each(${sql.placeholder('keys')}) CROSS JOIN ${transfers} INDEXED BY transfer_key
  ON ${txid} = ${member(txid)} AND ${position} = ${member(position)} AND ${state} <> 'moved'`)
