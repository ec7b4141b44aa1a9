import { eq, lt, type SQL, sql } from 'drizzle-orm'
import type { Address } from '../../chain/address.ts'
import type { Txid } from '../../chain/block.ts'
import type { CurrencyId, PayoutId, Uid } from '../../common/ids.ts'
import { ofHex, type ReadDatabase, toStatement } from '../../d1/database.ts'
import { type PayoutState, payoutStates, payouts, payoutTransactions } from '../../d1/payout-tables.ts'
import { addresses } from '../../d1/tables.ts'
import type { PayoutRow } from '../lifecycle.ts'

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
}

/** Reads one page of payouts below an id, newest first, with the number of payouts on all pages, counted up to `countedMax`. */
export async function selectPayoutPage(
  db: ReadDatabase,
  selection: PayoutSelection,
  cuys: readonly CurrencyId[],
  before: PayoutId,
  limit: number,
  countedMax: number,
): Promise<{ readonly list: readonly ListedPayout[]; readonly count: number }> {
  const scope = byKey(selection) ?? byKind(selection, cuys)
  const [counted, page] = await db.batch<PageRow & { readonly count: number }>([
    toStatement(db, sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${scope.rows} LIMIT ${countedMax})`),
    toStatement(db, sql`SELECT ${columns} FROM ${scope.newest(before, limit)} ORDER BY ${id} DESC LIMIT ${limit}`),
  ])
  return {
    list: (page?.results ?? []).map(({ isToUser, answers, ...payout }) => ({
      payout,
      isToUser: isToUser === 1,
      answers,
    })),
    count: counted?.results[0]?.count ?? 0,
  }
}

type PageRow = PayoutRow & { readonly isToUser: 0 | 1; readonly answers: string | null }

const { id, uid, cuy, state, osn, to_address } = payouts
const t = payoutTransactions
const columns = sql`${payouts}.*,
  EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.address} = ${ofHex(to_address)}) AS "isToUser",
  (SELECT ${t.answers} FROM ${t} WHERE ${t.txid} = ${payouts.txid} AND ${state} = 'signed') AS answers`

/** The rows of a list. Each part is SQL that follows FROM. D1 keeps no statistics for the query planner, so each part names its index. */
interface Scope {
  readonly rows: SQL
  /** Selects at least the newest `limit` rows below an id. */
  readonly newest: (before: PayoutId, limit: number) => SQL
}

/** The rows that a txid, an `osn`, a recipient or a user selects, through the index of that column; null if the selection has none of these. */
function byKey(selection: PayoutSelection): Scope | null {
  const { txid, osn: order, to, uid: owner } = selection
  const isPlainUser = owner !== undefined && selection.cuy === undefined && selection.state === undefined
  if (txid === undefined && order === undefined && to === undefined && !isPlainUser) return null
  const ofTransaction = (wanted: NonNullable<typeof txid>) =>
    sql`${id} IN (SELECT ${t.payout_id} FROM ${t} WHERE ${t.txid} = ${wanted})`
  const conditions = [
    ...(txid === undefined ? [] : [ofTransaction(txid)]),
    ...(order === undefined ? [] : [eq(osn, order)]),
    ...(to === undefined ? [] : [eq(to_address, to)]),
    ...(owner === undefined ? [] : [eq(uid, owner)]),
    ...(selection.cuy === undefined ? [] : [eq(cuy, selection.cuy)]),
    ...(selection.state === undefined ? [] : [eq(state, selection.state)]),
  ]
  const index = order !== undefined ? 'payout_osn' : to !== undefined ? 'payout_to' : 'payout_uid'
  const table = txid !== undefined ? sql`${payouts}` : sql`${payouts} INDEXED BY ${sql.raw(index)}`
  const rows = sql`${table} WHERE ${sql.join(conditions, sql` AND `)}`
  return { rows, newest: (before) => sql`${rows} AND ${lt(id, before)}` }
}

/** The rows of these states and currencies. An index is in the order of ids only within one state and currency, so the newest rows of each are read. */
function byKind(selection: PayoutSelection, cuys: readonly CurrencyId[]): Scope {
  const states = selection.state === undefined ? payoutStates : [selection.state]
  const kinds = sql`json_each(${JSON.stringify(states)}) AS wanted CROSS JOIN json_each(${JSON.stringify(cuys)}) AS currency`
  const isOfKind = sql`${state} = wanted.value AND ${cuy} = currency.value`
  const isKind = selection.uid === undefined ? isOfKind : sql`${eq(uid, selection.uid)} AND ${isOfKind}`
  const index = sql.raw(selection.uid === undefined ? 'payout_state' : 'payout_uid_state')
  return {
    rows: sql`${kinds} CROSS JOIN ${payouts} INDEXED BY ${index} ON ${isKind}`,
    newest: (before, limit) => sql`(
  SELECT ${id} FROM ${kinds} CROSS JOIN ${payouts} ON ${id} IN (
    SELECT ${id} FROM ${payouts} INDEXED BY ${index} WHERE ${isKind} AND ${lt(id, before)} ORDER BY ${id} DESC LIMIT ${limit})
  ORDER BY ${id} DESC LIMIT ${limit}
) AS newest CROSS JOIN ${payouts} ON ${id} = newest.id`,
  }
}
