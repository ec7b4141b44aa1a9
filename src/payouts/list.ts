import { eq, lt, type SQL, sql } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import type { Txid } from '../chain/block.ts'
import type { CurrencyId, PayoutId, Uid } from '../common/ids.ts'
import { toStatement } from '../d1/database.ts'
import { type PayoutState, payoutStates, payouts, payoutTransactions } from '../d1/payout-tables.ts'
import { countedMax } from '../deposits/store/lists.ts'
import { selectIssuerState, stoppedIn } from '../issuer/state.ts'
import type { ReadContext } from '../ledger/context.ts'
import { pageRowsDefault } from '../ledger/entries.ts'
import { type Payout, payoutColumns } from './payout.ts'
import { isToUser } from './stopped.ts'

/** Which payouts, and which page of them. What is absent filters nothing. */
export interface PayoutSelection {
  readonly uid?: Uid | undefined
  readonly cuy?: CurrencyId | undefined
  readonly state?: PayoutState | undefined
  readonly osn?: string | undefined
  readonly to?: Address | undefined
  /** Any of its transactions, also one that has ended. */
  readonly txid?: Txid | undefined
  /** Only payouts below this id. */
  readonly before?: PayoutId | undefined
  readonly limit?: number | undefined
}

/** Payouts newest first, and how many match the filter on all pages: `countedMax` means that many or more. */
export interface PayoutList {
  readonly list: readonly Payout[]
  readonly count: number
}

const endOfIds = Number.MAX_SAFE_INTEGER as PayoutId // safe: an id above all
const { id, uid, cuy, state, osn, to_address } = payouts

/** One page of payouts. */
export async function listPayouts(
  { db, currencies, payouts: rules }: Pick<ReadContext, 'db' | 'currencies' | 'payouts'>,
  selection: PayoutSelection,
): Promise<PayoutList> {
  const { before = endOfIds, limit = pageRowsDefault } = selection
  const cuys = selection.cuy === undefined ? currencies.list.map((one) => one.cuy) : [selection.cuy]
  const all = keyOf(selection) ?? kindsOf(selection, cuys)
  const [counted, page] = await db.batch<Payout & { readonly count: number; readonly isToUser: 0 | 1 }>([
    toStatement(db, sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${all.rows} LIMIT ${countedMax})`),
    toStatement(
      db,
      sql`SELECT ${sql.join(payoutColumns, sql`, `)}, ${isToUser} AS "isToUser" FROM ${all.newest(before, limit)} ORDER BY ${id} DESC LIMIT ${limit}`,
    ),
  ])
  const list = page?.results ?? []
  const isSigning = rules !== null && list.some((payout) => payout.state === 'approved')
  const stopped = isSigning ? stoppedIn(await selectIssuerState(db), rules.address) : null
  return {
    list: list.map((payout) => {
      const stop = payout.isToUser === 1 ? 'to-user' : stopped?.get(payout.cuy)
      return payout.state === 'approved' ? { ...payout, stop } : payout
    }),
    count: counted?.results[0]?.count ?? 0,
  }
}

/** Each part is what follows FROM. The planner has no statistics, so each index is named. */
interface Scope {
  readonly rows: SQL
  /** At least the newest `limit` of them below an id. */
  readonly newest: (before: PayoutId, limit: number) => SQL
}

/** What a key selects, by the index of that; null without one. */
function keyOf(selection: PayoutSelection): Scope | null {
  const { txid, osn: order, to, uid: owner } = selection
  const conditions = [
    ...(txid === undefined
      ? []
      : [
          sql`${id} IN (SELECT ${payoutTransactions.payout_id} FROM ${payoutTransactions}
      WHERE ${payoutTransactions.txid} = ${txid})`,
        ]),
    ...(order === undefined ? [] : [eq(osn, order)]),
    ...(to === undefined ? [] : [eq(to_address, to)]),
    ...(owner === undefined ? [] : [eq(uid, owner)]),
  ]
  if (conditions.length === 0) return null
  const more = [
    ...(selection.cuy === undefined ? [] : [eq(cuy, selection.cuy)]),
    ...(selection.state === undefined ? [] : [eq(state, selection.state)]),
  ]
  const index = order !== undefined ? 'payout_osn' : to !== undefined ? 'payout_to' : 'payout_uid'
  const table = txid !== undefined ? sql`${payouts}` : sql`${payouts} INDEXED BY ${sql.raw(index)}`
  const rows = sql`${table} WHERE ${sql.join([...conditions, ...more], sql` AND `)}`
  return { rows, newest: (before) => sql`${rows} AND ${lt(id, before)}` }
}

/** Of each state and currency the newest ones: an index has the order of ids only within one of both. */
function kindsOf(selection: PayoutSelection, cuys: readonly CurrencyId[]): Scope {
  const states = selection.state === undefined ? payoutStates : [selection.state]
  const kinds = sql`json_each(${JSON.stringify(states)}) AS wanted CROSS JOIN json_each(${JSON.stringify(cuys)}) AS currency`
  const isKind = sql`${state} = wanted.value AND ${cuy} = currency.value`
  return {
    rows: sql`${kinds} CROSS JOIN ${payouts} INDEXED BY payout_state ON ${isKind}`,
    newest: (before, limit) => sql`(
  SELECT ${id} FROM ${kinds} CROSS JOIN ${payouts} ON ${id} IN (
    SELECT ${id} FROM ${payouts} INDEXED BY payout_state WHERE ${isKind} AND ${lt(id, before)} ORDER BY ${id} DESC LIMIT ${limit})
  ORDER BY ${id} DESC LIMIT ${limit}
) AS newest CROSS JOIN ${payouts} ON ${id} = newest.id`,
  }
}
