import { eq, lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { DeciderName, EntryId, TransferId } from '../../common/ids.ts'
import { fixedStatement, member, type ReadDatabase, toStatement } from '../../d1/database.ts'
import { scans } from '../../d1/state-tables.ts'
import { addresses, decisions, flows, transfers, wallets } from '../../d1/tables.ts'
import type { Currencies } from '../../ledger/currencies.ts'
import { type Deposit, type DepositFilter, type DepositKey, depositStates } from '../deposit.ts'
import type { CreditKey } from '../transfer.ts'
import { readCallers, type TransferRow } from './rows.ts'

/** Most transfers that are counted, so that a count reads a bounded number of rows. */
export const countedMax = 1_000

type DepositRow = TransferRow & {
  readonly entry_id: EntryId | null
  readonly decided_why: string | null
  readonly decided_by: DeciderName | null
}
type ScanRow = Pick<typeof scans.$inferSelect, 'finalized' | 'finalized_at'>

/** One page of transfers below an id, newest first, how many there are in all, and the newest final block; null before the scan began. */
export async function selectDepositPage(
  db: ReadDatabase,
  filter: DepositFilter | DepositKey,
  currencies: Currencies,
  before: TransferId,
  limit: number,
) {
  const { all, newest } = 'uid' in filter ? byFilter(filter, currencies) : byKey(filter)
  const [summary, page] = await db.batch<ScanRow & { readonly count: number } & DepositRow>([
    toStatement(db, selectSummary(all)),
    toStatement(db, sql`SELECT ${depositColumns} FROM ${newest(before, limit)} ORDER BY ${id} DESC LIMIT ${limit}`),
  ])
  const { count = 0, finalized = null, finalized_at: finalizedAt = null } = summary?.results[0] ?? {}
  const head = finalized === null || finalizedAt === null ? null : { finalized, finalizedAt }
  return { deposits: (page?.results ?? []).map(readDeposit), count, head }
}

/** The transfers with these keys, in the order of the list: null for what is none to a caller. One statement. */
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

/** Which rows a list has. Each part is what follows FROM. The planner has no statistics, so each index is named. */
interface DepositScope {
  /** What is counted. */
  readonly all: SQL
  /** At least the newest `limit` of them below an id. */
  readonly newest: (before: TransferId, limit: number) => SQL
}

const { id, uid, cuy, state, txid, position } = transfers

function byKey(key: DepositKey): DepositScope {
  // One block is the limit of one transaction.
  if ('txid' in key) {
    return inOrder(sql`${transfers} INDEXED BY transfer_key WHERE ${eq(txid, key.txid)} AND ${state} <> 'moved'`)
  }
  const owner = sql`(SELECT ${addresses.uid} FROM ${addresses} WHERE ${eq(addresses.address, key.address)})`
  // What moved has no uid: it is in another part of the index.
  return inOrder(
    sql`${transfers} INDEXED BY transfer_to WHERE ${eq(transfers.to_address, key.address)} AND ${eq(uid, owner)}`,
  )
}

function byFilter(filter: DepositFilter, { list }: Currencies): DepositScope {
  const isCallers = filter.uid === null ? null : eq(uid, filter.uid)
  if (isCallers !== null && filter.state === null && filter.cuy === null) {
    return inOrder(sql`${transfers} INDEXED BY transfer_uid WHERE ${isCallers}`)
  }
  const states = filter.state === null ? depositStates : [filter.state]
  const currencies = filter.cuy === null ? list.map((currency) => currency.cuy) : [filter.cuy]
  const kinds = sql`json_each(${JSON.stringify(states)}) AS wanted
    CROSS JOIN json_each(${JSON.stringify(currencies)}) AS currency`
  const index = sql.raw(isCallers === null ? 'transfer_cuy' : 'transfer_uid_state')
  const isKind = sql`${state} = wanted.value AND ${cuy} = currency.value`
  const ofKind = isCallers === null ? isKind : sql`${isCallers} AND ${isKind}`
  // An index has the order of ids only within one state and currency: of each, the newest ones are read.
  return {
    all: sql`${kinds} CROSS JOIN ${transfers} INDEXED BY ${index} ON ${ofKind}`,
    newest: (before, limit) => sql`(
  SELECT ${id} FROM ${kinds} CROSS JOIN ${transfers} ON ${id} IN (
    SELECT ${id} FROM ${transfers} INDEXED BY ${index}
    WHERE ${ofKind} AND ${lt(id, before)} ORDER BY ${id} DESC LIMIT ${limit})
  ORDER BY ${id} DESC LIMIT ${limit}
) AS newest CROSS JOIN ${transfers} ON ${id} = newest.id`,
  }
}

/** What an index has in the order of ids. */
function inOrder(all: SQL): DepositScope {
  return { all, newest: (before) => sql`${all} AND ${lt(id, before)}` }
}

const selectSummary = (all: SQL) => sql`
SELECT (SELECT count(*) FROM (SELECT 1 FROM ${all} LIMIT ${countedMax})) AS count,
  (SELECT ${scans.finalized} FROM ${scans}) AS finalized, (SELECT ${scans.finalized_at} FROM ${scans}) AS finalized_at`

const decided = (column: SQLiteColumn) => sql`(SELECT ${column} FROM ${decisions}
  WHERE ${decisions.txid} = ${txid} AND ${decisions.position} = ${position} AND ${decisions.decision} = ${transfers.review})`
const depositColumns = sql`${transfers}.*, ${decided(decisions.why)} AS decided_why,
  ${decided(decisions.decided_by)} AS decided_by, (
  SELECT ${flows.id} FROM ${wallets} CROSS JOIN ${flows} INDEXED BY flow_osn
  ON ${flows.wallet_id} = ${wallets.id} AND ${flows.osn} = ${transfers.osn} AND ${flows.type} = 1
  WHERE ${state} = 'credited' AND ${wallets.uid} = ${uid} AND ${wallets.cuy} = ${cuy}
) AS entry_id`

const selectByKeys = fixedStatement<'keys'>(sql`
SELECT key AS ordinal, ${depositColumns} FROM json_each(${sql.placeholder('keys')}) CROSS JOIN ${transfers} INDEXED BY transfer_key
  ON ${txid} = ${member(txid)} AND ${position} = ${member(position)} AND ${state} <> 'moved'`)
