import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Address } from '../../chain/address.ts'
import type { Txid } from '../../chain/block.ts'
import type { CurrencyId, PayoutId, Uid } from '../../common/ids.ts'
import { openStates, type PayoutState, payoutStates } from '../../common/payout-states.ts'
import type { UnixMs } from '../../common/time.ts'
import { fixedStatement, ofHex, type ReadDatabase, resultRows, toStatement } from '../../d1/database.ts'
import { type IdOrder, newestFirst, oldestFirst, selectInOrder } from '../../d1/merge.ts'
import { payoutSums, payouts, payoutTransactions, type StuckReason } from '../../d1/payout-tables.ts'
import { addresses } from '../../d1/tables.ts'
import { orderRowsMax } from '../../ledger/store/entries.ts'
import type { OtherOutflow, PayoutRow } from '../lifecycle.ts'
import type { TransferFailure } from '../transfer-failure.ts'
import { isUnresolved } from './facts.ts'
import { otherOutflow, readOther } from './rows.ts'

// Pages of payouts, and the sums and faults of open ones: rows are read for what is returned, and
// for each currency, however many payouts there are.

/** Selects payouts and a page of them. An absent member filters nothing. */
export interface PayoutSelection {
  readonly uid?: Uid | undefined
  readonly cuy?: CurrencyId | undefined
  readonly state?: PayoutState | undefined
  readonly osn?: string | undefined
  readonly to?: Address | undefined
  /** Any transaction of the payout, even one that has ended. */
  readonly txid?: Txid | undefined
  /** Only payouts below this id. Not with `after`. */
  readonly before?: PayoutId | undefined
  /** Only payouts above this id, the oldest first. */
  readonly after?: PayoutId | 0 | undefined
  readonly limit?: number | undefined
}

export interface ListedPayout {
  readonly payout: PayoutRow
  /** Whether the recipient's address of the payout has since been issued to a user here. */
  readonly isToUser: boolean
  /**
   * What nodes answered to the broadcast of the payout's transaction, as JSON. Null if the payout
   * is not in the state `signed`, or if no answer is stored.
   */
  readonly answers: string | null
  /**
   * Another transaction that may already have paid the payout, if a person or the signer can still
   * decide about it; else null.
   */
  readonly other: OtherOutflow | null
  /** Why the transaction of a stuck payout failed; null if it has not failed. */
  readonly failure: TransferFailure | null
}

/**
 * Reads one page of payouts: newest first, or oldest first with `after`. With the number of payouts
 * on all pages, counted up to `countedMax`. It reads rows for what it returns, whoever else has the
 * same `osn` or recipient. An `osn` and a recipient without a user are looked for among the first
 * `orderRowsMax` payouts with the `osn` in that order.
 */
export async function selectPayoutPage(
  db: ReadDatabase,
  selection: PayoutSelection,
  cuys: readonly CurrencyId[],
  limit: number,
  countedMax: number,
): Promise<{ readonly list: readonly ListedPayout[]; readonly count: number }> {
  const { before = endOfIds, after } = selection
  const order = after === undefined ? newestFirst : oldestFirst
  const { counted: counting, ids } = scopeOf(selection, cuys, order)
  const [counted, page] = await db.batch<PageRow & { readonly count: number }>([
    toStatement(db, sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${counting} LIMIT ${countedMax})`),
    toStatement(
      db,
      sql`SELECT ${columns} FROM ${payouts} WHERE ${id} IN (${ids(after ?? before, limit)})
        ORDER BY ${id} ${order.direction}`,
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

/** Reads what `failureJson` has made. */
// safe: it has this form
const readFailure = (text: string | null) => (text === null ? null : (JSON.parse(text) as TransferFailure))

type PageRow = PayoutRow & {
  readonly isToUser: 0 | 1
  readonly answers: string | null
  readonly other: string | null
  readonly failure: string | null
}

/** The payouts in one open state and one currency. */
export interface OpenSum {
  readonly state: (typeof openStates)[number]
  readonly cuy: CurrencyId
  readonly count: number
  /** Ledger units. */
  readonly sum: bigint
  /** Since when the longest-waiting payout of this state and currency has been in the state. */
  readonly oldestAt: UnixMs
}

/**
 * Counts and sums the payouts that are waiting, approved, signed or stuck, by state and currency.
 */
export async function selectOpenSums(db: ReadDatabase): Promise<readonly OpenSum[]> {
  const { results } = await selectSums(db, {}).all<Omit<OpenSum, 'sum'> & { readonly sum: string }>()
  return results.map((row) => ({ ...row, sum: BigInt(row.sum) }))
}

/** The faults of payouts about which an operator must be told. */
export interface PayoutTroubles {
  readonly stuck: readonly {
    readonly payout: PayoutId
    readonly reason: StuckReason
    readonly failure: TransferFailure | null
  }[]
  /**
   * The approved payout that has waited longest for a signer; null if none has waited long enough.
   */
  readonly unsigned: { readonly payout: PayoutId; readonly since: UnixMs } | null
  /** Transactions of the payout address that stop payouts: see `isUnresolved`. */
  readonly unknown: readonly Txid[]
}

/**
 * Reads at most `max` faults of each kind. A payout that was approved at `before` or earlier has
 * waited long enough for an alarm. `currencies` are those in which payouts may be signed now: a
 * missing signer is not why payouts in other currencies wait.
 */
export async function selectTroubles(
  db: ReadDatabase,
  currencies: readonly CurrencyId[],
  before: UnixMs,
  max: number,
): Promise<PayoutTroubles> {
  const [stuck, unsigned, unknown] = await db.batch([
    selectStuck(db, { max }),
    selectUnsigned(db, { currencies: JSON.stringify(currencies), before }),
    selectUnknown(db, { max }),
  ])
  const [oldest = null] = resultRows<NonNullable<PayoutTroubles['unsigned']>>(unsigned)
  return {
    stuck: resultRows<StuckRow>(stuck).map((row) => ({ ...row, failure: readFailure(row.failure) })),
    unsigned: oldest,
    unknown: resultRows<{ readonly txid: Txid }>(unknown).map(({ txid }) => txid),
  }
}

/**
 * Reads at most `max` transactions of the payout address that stop payouts: see `isUnresolved`. The
 * oldest first.
 */
export async function selectUnresolved(db: ReadDatabase, max: number): Promise<readonly Txid[]> {
  const { results } = await selectUnknown(db, { max }).all<{ readonly txid: Txid }>()
  return results.map(({ txid }) => txid)
}

interface StuckRow {
  readonly payout: PayoutId
  readonly reason: StuckReason
  readonly failure: string | null
}

const { id, uid, cuy, state, osn, to_address } = payouts
const t = payoutTransactions
/** SQL: why the transaction of a stuck payout failed, as JSON; NULL if it has not failed. */
const failureJson = sql`(SELECT json_object('result', ${t.result}, 'burnt', ${t.burnt}, 'energy', ${t.energy}) FROM ${t}
  WHERE ${t.txid} = ${payouts.txid} AND ${payouts.reason} = 'failed')`

const columns = sql`${payouts}.*,
  EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.address} = ${ofHex(to_address)}) AS "isToUser",
  (SELECT ${t.answers} FROM ${t} WHERE ${t.txid} = ${payouts.txid} AND ${state} = 'signed') AS answers,
  iif(${state} IN ('waiting', 'approved', 'stuck'), ${otherOutflow}, NULL) AS other, ${failureJson} AS failure`

/** SQL of a list. D1 keeps no statistics for the query planner, so it names its index. */
interface Scope {
  /** What follows FROM, for all rows of the list. */
  readonly counted: SQL
  /** A query of the ids that come first after an id, `limit` at most. */
  readonly ids: (from: number, limit: number) => SQL
}

const endOfIds = Number.MAX_SAFE_INTEGER

function scopeOf(selection: PayoutSelection, cuys: readonly CurrencyId[], order: IdOrder): Scope {
  const { uid: owner, state: inState, osn: reference, to, txid } = selection
  const [states, currencies] = [inState === undefined ? payoutStates : [inState], cuys].map(
    (list) => sql`${JSON.stringify(list)}`,
  ) as [SQL, SQL] // safe: `map` keeps the length
  const isOneOf = (column: SQLiteColumn, list: SQL) => sql`${column} IN (SELECT value FROM json_each(${list}))`
  const isWanted = and(isOneOf(state, states), isOneOf(cuy, currencies))
  const isTo = to === undefined ? undefined : eq(to_address, to)
  const is = and(
    owner === undefined ? undefined : eq(uid, owner),
    reference === undefined ? undefined : eq(osn, reference),
  )
  if (txid !== undefined) {
    const ofTransaction = sql`${id} IN (SELECT ${t.payout_id} FROM ${t} WHERE ${t.txid} = ${txid})`
    return among(sql`${payouts} WHERE ${and(ofTransaction, is, isTo, isWanted)}`, order)
  }
  // One user's payouts with an `osn` are at most one in each currency.
  const byOrder = owner === undefined ? 'payout_osn' : 'payout_key'
  const byUser = owner === undefined ? 'payout_state' : 'payout_uid_state'
  const byRecipient = owner === undefined ? 'payout_to' : 'payout_uid_to'
  const index = sql.raw(reference !== undefined ? byOrder : to !== undefined ? byRecipient : byUser)
  const isOfOrderAlone = owner === undefined && reference !== undefined
  const rows = sql`${payouts} INDEXED BY ${index}`
  const also = isOfOrderAlone ? undefined : isTo
  const next = (ofState: SQL, ofCuy: SQL, from: SQL) => sql`(SELECT ${id} FROM ${rows}
    WHERE ${and(is, also, eq(state, ofState), eq(cuy, ofCuy), sql`${id} ${order.comesAfter} ${from}`)}
    ORDER BY ${id} ${order.direction} LIMIT 1)`
  const ids = (from: number, limit: number) =>
    selectInOrder(states, currencies, next, sql`${from}`, sql`${limit}`, order)
  if (isOfOrderAlone && isTo !== undefined) {
    const found = ids(order === newestFirst ? endOfIds : 0, orderRowsMax)
    return among(sql`(${found}) CROSS JOIN ${payouts} ON ${id} = found_id WHERE ${isTo}`, order)
  }
  return { counted: sql`${rows} WHERE ${and(is, also, isWanted)}`, ids }
}

/** The scope of rows that are few. */
function among(counted: SQL, { comesAfter, direction }: IdOrder): Scope {
  const ids = (from: number, limit: number) =>
    sql`SELECT ${id} FROM ${counted} AND ${id} ${comesAfter} ${from} ORDER BY ${id} ${direction} LIMIT ${limit}`
  return { counted, ids }
}

const { changed_at } = payouts
/**
 * The condition of the partial index `payout_age`. A query must repeat the condition to use the
 * index.
 */
const isOpenState = sql.raw(`IN (${openStates.map((name) => `'${name}'`)})`)

const selectSums = fixedStatement(sql`
SELECT ${payoutSums.state}, ${payoutSums.cuy}, ${payoutSums.count}, CAST(${payoutSums.amount} AS TEXT) AS sum,
  (SELECT ${changed_at} FROM ${payouts} INDEXED BY payout_age WHERE ${state} ${isOpenState}
    AND ${state} = ${payoutSums.state} AND ${cuy} = ${payoutSums.cuy} ORDER BY ${changed_at} LIMIT 1) AS "oldestAt"
FROM ${payoutSums} WHERE ${payoutSums.state} ${isOpenState} AND ${payoutSums.count} > 0
ORDER BY ${payoutSums.state}, ${payoutSums.cuy}`)

const selectStuck = fixedStatement<'max'>(sql`
SELECT ${id} AS payout, ${payouts.reason}, ${failureJson} AS failure FROM ${payouts} INDEXED BY payout_state
  WHERE ${state} = 'stuck'
LIMIT ${sql.placeholder('max')}`)

const selectUnsigned = fixedStatement<'currencies' | 'before'>(sql`
SELECT payout, since FROM (
  SELECT oldest ->> '$[0]' AS payout, oldest ->> '$[1]' AS since FROM (
    SELECT (SELECT json_array(${id}, ${changed_at}) FROM ${payouts} INDEXED BY payout_age
      WHERE ${state} ${isOpenState} AND ${state} = 'approved' AND ${cuy} = currency.value
      ORDER BY ${changed_at} LIMIT 1) AS oldest
    FROM json_each(${sql.placeholder('currencies')}) AS currency))
WHERE since <= ${sql.placeholder('before')} ORDER BY since LIMIT 1`)

const selectUnknown = fixedStatement<'max'>(sql`
SELECT ${t.txid} FROM ${t} INDEXED BY payout_transaction_unresolved WHERE ${isUnresolved}
  ORDER BY ${t.changed_at}, ${t.id} LIMIT ${sql.placeholder('max')}`)
