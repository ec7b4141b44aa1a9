import { eq, lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Address } from '../chain/address.ts'
import type { Txid } from '../chain/block.ts'
import { secondsLeft } from '../chain/finality.ts'
import type { CurrencyId, DeciderName, EntryId, TransferId, Uid } from '../common/ids.ts'
import { madeOnce, member, type ReadDatabase, toStatement } from '../d1/database.ts'
import { scans } from '../d1/state-tables.ts'
import { addresses, decisions, flows, type TransferState, transfers, wallets } from '../d1/tables.ts'
import type { ReadContext } from '../ledger/context.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { CreditKey, StoredTransfer } from './transfer.ts'
import { readTransfer, type TransferRow } from './transfers.ts'

/** Most transfers that are counted, so that a count reads a bounded number of rows. */
export const countedMax = 1_000

const endOfIds = Number.MAX_SAFE_INTEGER as TransferId // safe: an id above all
/** The states of a transfer to a caller. */
export const depositStates = ['seen', 'held', 'credited', 'refused', 'dropped'] as const satisfies TransferState[]
/** One of `depositStates`. */
export type DepositState = (typeof depositStates)[number]

/** A transfer to a caller, with what has become of it. */
export interface Deposit extends StoredTransfer {
  /** The ledger entry, where it is credited. */
  readonly entry: EntryId | null
  /** What is decided about it, if it was held for review. */
  readonly decided: (Pick<typeof decisions.$inferSelect, 'decision' | 'why'> & { readonly by: DeciderName }) | null
  /** About how many seconds until it is final, if it is seen and that is known. */
  readonly finalIn: number | null
}

/** Which transfers; absent filters are null. Without `uid` those to all callers. */
export interface DepositFilter {
  readonly uid: Uid | null
  readonly state: DepositState | null
  readonly cuy: CurrencyId | null
}

/** The transfers of one transaction, or to one address of the service. */
export type DepositKey = { readonly txid: Txid } | { readonly address: Address }

/** The newest transfers, or the newest ones below an id. */
export interface DepositPage {
  readonly before: TransferId | null
  readonly limit: number
}

/** Transfers newest first, and how many match the filter on all pages: `countedMax` means that many or more. */
export interface DepositList {
  readonly list: readonly Deposit[]
  readonly count: number
}

/** One page of the transfers to callers. Whatever the history, it reads a bounded number of rows, in one round trip. */
export async function listDeposits(
  { db, clock, currencies }: Pick<ReadContext, 'db' | 'clock' | 'currencies'>,
  filter: DepositFilter | DepositKey,
  { before, limit }: DepositPage,
): Promise<DepositList> {
  const { all, newest } = 'uid' in filter ? byFilter(filter, currencies) : byKey(filter)
  const [summary, page] = await db.batch<SummaryRow & DepositRow>([
    toStatement(db, selectSummary(all)),
    toStatement(db, selectPage(newest(before ?? endOfIds, limit), limit)),
  ])
  const { count = 0, finalized = null, finalized_at: finalizedAt = null } = summary?.results[0] ?? {}
  const known = finalized === null || finalizedAt === null ? null : { finalized, finalizedAt }
  const now = clock.now()
  const list = (page?.results ?? []).map((row) => {
    const deposit = readDeposit(row)
    const isSeen = deposit.state === 'seen' && known !== null
    return isSeen ? { ...deposit, finalIn: secondsLeft(deposit.block.height, known, now) } : deposit
  })
  return { list, count }
}

/** The transfers with these keys, in the order of the list: null for what is none to a caller. One statement. */
export async function selectDeposits(
  db: ReadDatabase,
  keys: readonly CreditKey[],
): Promise<readonly (Deposit | null)[]> {
  const { results } = await toStatement(db, selectByKeys(JSON.stringify(keys))).all<DepositRow & { place: number }>()
  const byPlace = new Map(results.map((row) => [row.place, readDeposit(row)]))
  return keys.map((_, place) => byPlace.get(place) ?? null)
}

function readDeposit(row: DepositRow): Deposit {
  const { review, decided_why: why, decided_by: by, entry_id: entry } = row
  const isDecided = (review === 'credit' || review === 'refuse') && why !== null && by !== null
  return { ...readTransfer(row), entry, decided: isDecided ? { decision: review, why, by } : null, finalIn: null }
}

/** Each part is what follows FROM. The planner has no statistics, so each index is named. */
interface DepositQuestion {
  /** What is counted. */
  readonly all: SQL
  /** At least the newest `limit` of them below an id. */
  readonly newest: (before: TransferId, limit: number) => SQL
}

const { id, uid, cuy, state, txid, position } = transfers

function byKey(key: DepositKey): DepositQuestion {
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

function byFilter(filter: DepositFilter, { list }: Currencies): DepositQuestion {
  const isCallers = filter.uid === null ? null : eq(uid, filter.uid)
  if (isCallers !== null && filter.state === null && filter.cuy === null) {
    return inOrder(sql`${transfers} INDEXED BY transfer_uid WHERE ${isCallers}`)
  }
  const states = filter.state === null ? depositStates : [filter.state]
  const currencies = filter.cuy === null ? list.map((one) => one.cuy) : [filter.cuy]
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
function inOrder(all: SQL): DepositQuestion {
  return { all, newest: (before) => sql`${all} AND ${lt(id, before)}` }
}

type SummaryRow = Pick<typeof scans.$inferSelect, 'finalized' | 'finalized_at'> & { readonly count: number }
type DepositRow = TransferRow & {
  readonly entry_id: EntryId | null
  readonly decided_why: string | null
  readonly decided_by: DeciderName | null
}

const selectSummary = (all: SQL) => sql`
SELECT (SELECT count(*) FROM (SELECT 1 FROM ${all} LIMIT ${countedMax})) AS count,
  (SELECT ${scans.finalized} FROM ${scans}) AS finalized, (SELECT ${scans.finalized_at} FROM ${scans}) AS finalized_at`

const decided = (column: SQLiteColumn) => sql`(SELECT ${column} FROM ${decisions}
  WHERE ${decisions.txid} = ${txid} AND ${decisions.position} = ${position} AND ${decisions.decision} = ${transfers.review})`
const depositColumns = madeOnce(sql`${transfers}.*, ${decided(decisions.why)} AS decided_why,
  ${decided(decisions.decided_by)} AS decided_by, (
  SELECT ${flows.id} FROM ${wallets} CROSS JOIN ${flows} INDEXED BY flow_osn
  ON ${flows.wallet_id} = ${wallets.id} AND ${flows.type} = 1
    AND ${flows.osn} = iif(${transfers.native}, ${txid} || iif(${position} < 0, ':i' || (-1 - ${position}), ''),
      ${txid} || ':' || ${position})
  WHERE ${state} = 'credited' AND ${wallets.uid} = ${uid} AND ${wallets.cuy} = ${cuy}
) AS entry_id`)

const selectPage = (newest: SQL, limit: number) => sql`
SELECT ${depositColumns} FROM ${newest} ORDER BY ${id} DESC LIMIT ${limit}`

const selectByKeys = (list: string) => sql`
SELECT key AS place, ${depositColumns} FROM json_each(${list}) CROSS JOIN ${transfers} INDEXED BY transfer_key
  ON ${txid} = ${member(txid)} AND ${position} = ${member(position)} AND ${state} <> 'moved'`
