import { and, eq, lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Address } from '../../chain/address.ts'
import type { Txid } from '../../chain/block.ts'
import type { CurrencyId, PayoutId, Uid } from '../../common/ids.ts'
import { ofHex, type ReadDatabase, toStatement } from '../../d1/database.ts'
import { selectHighest } from '../../d1/merge.ts'
import { type PayoutState, payoutStates, payouts, payoutTransactions } from '../../d1/payout-tables.ts'
import { addresses } from '../../d1/tables.ts'
import { orderRowsMax } from '../../ledger/store/entries.ts'
import type { OtherOutflow, PayoutRow } from '../lifecycle.ts'
import type { TransferFailure } from '../transfer-failure.ts'
import { failureJson, readFailure } from './costs.ts'
import { otherOutflow, readOther } from './decided.ts'

/** Selects payouts and a page of them. An absent member filters nothing. */
export interface PayoutSelection {
  readonly uid?: Uid | undefined
  readonly cuy?: CurrencyId | undefined
  readonly state?: PayoutState | undefined
  readonly osn?: string | undefined
  readonly to?: Address | undefined
  /** Any transaction of the payout, even one that has ended. */
  readonly txid?: Txid | undefined
  /** Only payouts below this id. */
  readonly before?: PayoutId | undefined
  readonly limit?: number | undefined
}

export interface ListedPayout {
  readonly payout: PayoutRow
  /** Whether the recipient's address of the payout has since been issued to a user here. */
  readonly isToUser: boolean
  /** What nodes answered to the broadcast of the payout's transaction, as JSON. Null if the payout is not in the state `signed`, or if no answer is stored. */
  readonly answers: string | null
  /** Another transaction that may already have paid the payout, if a person or the signer can still decide about it; else null. */
  readonly other: OtherOutflow | null
  /** Why the transaction of a stuck payout failed; null if it has not failed. */
  readonly failure: TransferFailure | null
}

/**
 * Reads one page of payouts below an id, newest first, with the number of payouts on all pages, counted up to `countedMax`. It reads rows for what it returns,
 * whoever else has the same `osn` or recipient. An `osn` and a recipient without a user are looked for among the newest `orderRowsMax` payouts with the `osn`.
 */
export async function selectPayoutPage(
  db: ReadDatabase,
  selection: PayoutSelection,
  cuys: readonly CurrencyId[],
  before: PayoutId,
  limit: number,
  countedMax: number,
): Promise<{ readonly list: readonly ListedPayout[]; readonly count: number }> {
  const { counted: counting, newest } = scopeOf(selection, cuys)
  const [counted, page] = await db.batch<PageRow & { readonly count: number }>([
    toStatement(db, sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${counting} LIMIT ${countedMax})`),
    toStatement(
      db,
      sql`SELECT ${columns} FROM ${payouts} WHERE ${id} IN (${newest(before, limit)}) ORDER BY ${id} DESC`,
    ),
  ])
  return {
    list: (page?.results ?? []).map(({ isToUser, answers, other, failure, ...payout }) => ({
      payout,
      isToUser: isToUser === 1,
      answers,
      other: readOther(other),
      failure: readFailure(failure),
    })),
    count: counted?.results[0]?.count ?? 0,
  }
}

type PageRow = PayoutRow & {
  readonly isToUser: 0 | 1
  readonly answers: string | null
  readonly other: string | null
  readonly failure: string | null
}

const { id, uid, cuy, state, osn, to_address } = payouts
const t = payoutTransactions
const columns = sql`${payouts}.*,
  EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.address} = ${ofHex(to_address)}) AS "isToUser",
  (SELECT ${t.answers} FROM ${t} WHERE ${t.txid} = ${payouts.txid} AND ${state} = 'signed') AS answers,
  iif(${state} IN ('waiting', 'approved', 'stuck'), ${otherOutflow}, NULL) AS other, ${failureJson} AS failure`

/** SQL of a list. D1 keeps no statistics for the query planner, so it names its index. */
interface Scope {
  /** What follows FROM, for all rows of the list. */
  readonly counted: SQL
  /** A query of the newest ids below an id, `limit` at most. */
  readonly newest: (before: PayoutId, limit: number) => SQL
}

function scopeOf(selection: PayoutSelection, cuys: readonly CurrencyId[]): Scope {
  const { uid: owner, state: inState, osn: order, to, txid } = selection
  const [states, currencies] = [inState === undefined ? payoutStates : [inState], cuys].map(
    (list) => sql`${JSON.stringify(list)}`,
  ) as [SQL, SQL] // safe: `map` keeps the length
  const isOneOf = (column: SQLiteColumn, list: SQL) => sql`${column} IN (SELECT value FROM json_each(${list}))`
  const isWanted = and(isOneOf(state, states), isOneOf(cuy, currencies))
  const isTo = to === undefined ? undefined : eq(to_address, to)
  const is = and(owner === undefined ? undefined : eq(uid, owner), order === undefined ? undefined : eq(osn, order))
  if (txid !== undefined) {
    const ofTransaction = sql`${id} IN (SELECT ${t.payout_id} FROM ${t} WHERE ${t.txid} = ${txid})`
    return among(sql`${payouts} WHERE ${and(ofTransaction, is, isTo, isWanted)}`)
  }
  // One user's payouts with an `osn` are at most one in each currency.
  const byOrder = owner === undefined ? 'payout_osn' : 'payout_key'
  const byUser = owner === undefined ? 'payout_state' : 'payout_uid_state'
  const byRecipient = owner === undefined ? 'payout_to' : 'payout_uid_to'
  const index = sql.raw(order !== undefined ? byOrder : to !== undefined ? byRecipient : byUser)
  const isOfOrderAlone = owner === undefined && order !== undefined
  const rows = sql`${payouts} INDEXED BY ${index}`
  const also = isOfOrderAlone ? undefined : isTo
  const highest = (ofState: SQL, ofCuy: SQL, below: SQL) => sql`(SELECT ${id} FROM ${rows}
    WHERE ${and(is, also, eq(state, ofState), eq(cuy, ofCuy), lt(id, below))} ORDER BY ${id} DESC LIMIT 1)`
  const newest = (before: number, limit: number) =>
    selectHighest(states, currencies, highest, sql`${before}`, sql`${limit}`)
  if (isOfOrderAlone && isTo !== undefined) {
    const found = newest(Number.MAX_SAFE_INTEGER, orderRowsMax)
    return among(sql`(${found}) CROSS JOIN ${payouts} ON ${id} = newest_id WHERE ${isTo}`)
  }
  return { counted: sql`${rows} WHERE ${and(is, also, isWanted)}`, newest }
}

/** The scope of rows that are few. */
function among(counted: SQL): Scope {
  const newest = (before: PayoutId, limit: number) =>
    sql`SELECT ${id} FROM ${counted} AND ${lt(id, before)} ORDER BY ${id} DESC LIMIT ${limit}`
  return { counted, newest }
}
