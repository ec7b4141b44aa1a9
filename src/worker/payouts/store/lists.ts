import { and, eq, lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Address } from '../../chain/address.ts'
import type { Txid } from '../../chain/block.ts'
import type { CurrencyId, PayoutId, Uid } from '../../common/ids.ts'
import { ofHex, type ReadDatabase, toStatement } from '../../d1/database.ts'
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
  const scope = scopeOf(selection, cuys)
  const newest = sql`SELECT ${id} FROM ${scope(lt(id, before))} ORDER BY ${id} DESC LIMIT ${limit}`
  const [counted, page] = await db.batch<PageRow & { readonly count: number }>([
    toStatement(db, sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${scope(sql`true`)} LIMIT ${countedMax})`),
    toStatement(db, sql`SELECT ${columns} FROM ${payouts} WHERE ${id} IN (${newest}) ORDER BY ${id} DESC`),
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

/** SQL that follows FROM, for the rows of a list that satisfy `also`. D1 keeps no statistics for the query planner, so it names its index. */
type Scope = (also: SQL) => SQL

/**
 * The rows of a list. An index is in the order of ids only within one state and currency: SQLite reads the newest ids of each, and stops at one that is older
 * than the page.
 */
function scopeOf(selection: PayoutSelection, cuys: readonly CurrencyId[]): Scope {
  const { uid: owner, state: inState, osn: order, to, txid } = selection
  const isOneOf = (column: SQLiteColumn, values: readonly unknown[]) =>
    sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`
  const is = and(
    ...(owner === undefined ? [] : [eq(uid, owner)]),
    ...(order === undefined ? [] : [eq(osn, order)]),
    isOneOf(state, inState === undefined ? payoutStates : [inState]),
    isOneOf(cuy, cuys),
  )
  const isTo = to === undefined ? sql`true` : eq(to_address, to)
  if (txid !== undefined) {
    const ofTransaction = sql`${id} IN (SELECT ${t.payout_id} FROM ${t} WHERE ${t.txid} = ${txid})`
    return (also) => sql`${payouts} WHERE ${and(ofTransaction, is, isTo, also)}`
  }
  if (owner === undefined && order !== undefined && to !== undefined) {
    return (
      also,
    ) => sql`(SELECT * FROM ${payouts} INDEXED BY payout_osn WHERE ${and(is, also)} ORDER BY ${id} DESC LIMIT ${orderRowsMax})
      AS ${payouts} WHERE ${isTo}`
  }
  // One user's payouts with an `osn` are at most one in each currency.
  const byOrder = owner === undefined ? 'payout_osn' : 'payout_key'
  const byUser = owner === undefined ? 'payout_state' : 'payout_uid_state'
  const byRecipient = owner === undefined ? 'payout_to' : 'payout_uid_to'
  const index = sql.raw(order !== undefined ? byOrder : to !== undefined ? byRecipient : byUser)
  return (also) => sql`${payouts} INDEXED BY ${index} WHERE ${and(is, isTo, also)}`
}
