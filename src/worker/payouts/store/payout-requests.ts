import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { CurrencyId, PayoutId, Uid } from '../../common/ids.ts'
import { dayMs, hourMs, type UnixMs } from '../../common/time.ts'
import {
  bareList,
  fixedStatement,
  isRefusedBy,
  member,
  memberList,
  ofHex,
  type ReadDatabase,
  resultRows,
  type WriteDatabase,
} from '../../d1/database.ts'
import { orders } from '../../d1/order-tables.ts'
import { payoutHours, payouts } from '../../d1/payout-tables.ts'
import { addresses, flows, wallets } from '../../d1/tables.ts'
import { selectBalancesOf, type WalletRow } from '../../ledger/store/entries.ts'
import type { PayoutRow, Used } from '../lifecycle.ts'
import { isPayoutOvertaken } from './rows.ts'

export type InsertedPayout = Pick<PayoutRow, (typeof insertedNames)[number]>
/**
 * The columns of a requested payout by which stored rows are found that are in its way: its key
 * (uid, cuy, osn), its recipient, and its fee (without a fee, an entry of type 4 is not in its
 * way).
 */
type PayoutLookup = Pick<InsertedPayout, 'uid' | 'cuy' | 'osn' | 'fee' | 'to_address'>

/** The stored facts by which a payout request is judged. */
export interface PayoutRequestFacts {
  /** The stored payouts that have a key (uid, cuy and osn) of the request. */
  readonly storedPayouts: readonly PayoutRow[]
  /**
   * In the order of the request: whether an entry or an order already has a key that the payout or
   * its refund would use, and whether `to` is the address of a user.
   */
  readonly obstacles: readonly { readonly hasEntry: boolean; readonly isUsers: boolean }[]
  readonly balances: readonly WalletRow[]
  /**
   * The sums that already count towards the limits of a day, under `usedKey`: of each currency, and
   * of each user in it.
   */
  readonly used: ReadonlyMap<string, Used>
}

/** The key in `PayoutRequestFacts.used`: of one user, or of all users (0). */
export const usedKey = (uid: Uid | 0, cuy: CurrencyId) => `${uid} ${cuy}`

/** Reads the facts for a payout request, in one round trip. The day of the limits ends at `at`. */
export async function selectPayoutRequestFacts(
  db: ReadDatabase,
  requested: readonly PayoutLookup[],
  at: UnixMs,
): Promise<PayoutRequestFacts> {
  const keys = JSON.stringify(requested)
  const owners = requested.flatMap(({ uid, cuy }) => [
    { uid: 0, cuy },
    { uid, cuy },
  ])
  const since = at - dayMs
  const hour = Math.floor(since / hourMs)
  const [storedPayouts, obstacles, balances, used] = await db.batch([
    selectStoredPayouts(db, { keys }),
    selectObstacles(db, { keys }),
    selectBalancesOf(db, requested),
    selectUsed(db, { owners: JSON.stringify(owners), since, hour, end: (hour + 1) * hourMs }),
  ])
  const usedRows = resultRows<UsedRow>(used)
  return {
    storedPayouts: resultRows<PayoutRow>(storedPayouts),
    obstacles: resultRows<ObstacleRow>(obstacles).map((row) => {
      return { hasEntry: row.hasEntry === 1, isUsers: row.isUsers === 1 }
    }),
    balances: resultRows<WalletRow>(balances),
    used: new Map(
      usedRows.map(({ uid, cuy, high, low, count }) => [
        usedKey(uid, cuy),
        { amount: BigInt(high) * 1_000_000_000n + BigInt(low), count: Number(count) },
      ]),
    ),
  }
}

interface ObstacleRow {
  readonly hasEntry: 0 | 1
  readonly isUsers: 0 | 1
}
interface UsedRow {
  readonly uid: Uid | 0
  readonly cuy: CurrencyId
  /** The amount is `high` × 10^9 + `low` ledger units: SQL adds no integers above 2^63. */
  readonly high: string
  readonly low: string
  readonly count: number
}

/**
 * Stores payouts, all or none, and returns their ids; triggers take the money. `overtaken`: what
 * the decision rests on has changed since, for example a balance.
 */
export async function insertPayouts(
  db: WriteDatabase,
  rows: readonly InsertedPayout[],
): Promise<readonly PayoutId[] | 'overtaken'> {
  try {
    const { results } = await addPayouts(db, { rows: JSON.stringify(rows) }).all<{ id: PayoutId }>()
    return results.map(({ id }) => id)
  } catch (cause) {
    if (isPayoutOvertaken(cause) || isRefusedBy('flow_balance', cause)) return 'overtaken'
    throw cause
  }
}

const insertedNames = [
  ...(['uid', 'cuy', 'osn', 'amount', 'fee', 'to_address', 'contract', 'raw', 'mark', 'proof', 'posted_by'] as const),
  ...(['limit_each', 'limit_least', 'limit_day', 'limit_count', 'limit_user', 'state', 'approved_by'] as const),
  ...(['approved_at', 'counted', 'attempts_max', 'created_at', 'changed_at'] as const),
] as const
const insertedColumns = insertedNames.map((name) => payouts[name])
const { uid, cuy, osn, fee, to_address } = payouts
const listed = sql`json_each(${sql.placeholder('keys')})`

/** CROSS JOIN makes the list the outer loop, whatever the query planner estimates. */
const selectStoredPayouts = fixedStatement<'keys'>(sql`
SELECT ${payouts}.* FROM ${listed} CROSS JOIN ${payouts} INDEXED BY payout_key
ON ${uid} = ${member(uid)} AND ${cuy} = ${member(cuy)} AND ${osn} = ${member(osn)}`)

const selectObstacles = fixedStatement<'keys'>(sql`
SELECT EXISTS (SELECT 1 FROM ${wallets} CROSS JOIN ${flows} INDEXED BY flow_key
    ON ${flows.wallet_id} = ${wallets.id} AND ${flows.osn} = ${member(osn)}
      AND (${flows.type} IN (2, 5) OR (${flows.type} = 4 AND ${member(fee)} > 0))
    WHERE ${wallets.uid} = ${member(uid)} AND ${wallets.cuy} = ${member(cuy)})
  OR (${member(fee)} > 0 AND EXISTS (SELECT 1 FROM ${orders} INDEXED BY order_key
    WHERE ${orders.reference} = ${member(osn)}
    AND ${orders.uid} = ${member(uid)} AND ${orders.cuy} = ${member(cuy)} AND ${orders.take} = 1)) AS "hasEntry",
  EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.address} = ${ofHex(member(to_address))}) AS "isUsers"
FROM ${listed} ORDER BY key`)

const h = payoutHours
const [since, hour, end] = [sql.placeholder('since'), sql.placeholder('hour'), sql.placeholder('end')]
const isOfHours = sql`${h.cuy} = ${member(cuy)} AND ${h.uid} = ${member(uid)} AND ${h.hour} > ${hour}`
const isOfOldest = sql`${cuy} = ${member(cuy)} AND ${payouts.counted} = 1
  AND ${payouts.approved_at} > ${since} AND ${payouts.approved_at} < ${end}`
const oldest = (value: SQLWrapper) => sql`iif(${member(uid)} = 0,
    (SELECT coalesce(sum(${value}), 0) FROM ${payouts} INDEXED BY payout_day WHERE ${isOfOldest}),
    (SELECT coalesce(sum(${value}), 0) FROM ${payouts} INDEXED BY payout_user_day
      WHERE ${payouts.uid} = ${member(uid)} AND ${isOfOldest}))`
/** The sum of a part of each amount, as text. */
const usedPart = (part: (amount: SQLWrapper) => SQL) =>
  sql`CAST((SELECT coalesce(sum(${part(h.amount)}), 0) FROM ${h} WHERE ${isOfHours})
    + ${oldest(part(payouts.amount))} AS TEXT)`
/**
 * Sums the approved payouts of the last 24 hours, by stored sums for the whole hours, and one by
 * one for the part of an hour at the beginning.
 */
const selectUsed = fixedStatement<'owners' | 'since' | 'hour' | 'end'>(sql`
SELECT DISTINCT ${member(uid)} AS uid, ${member(cuy)} AS cuy,
  ${usedPart((amount) => sql`${amount} / 1000000000`)} AS high, ${usedPart((amount) => sql`${amount} % 1000000000`)} AS low,
  (SELECT coalesce(sum(${h.count}), 0) FROM ${h} WHERE ${isOfHours}) + ${oldest(sql`1`)} AS count
FROM json_each(${sql.placeholder('owners')})`)

const addPayouts = fixedStatement<'rows'>(sql`
INSERT INTO ${payouts} (${bareList(insertedColumns)})
SELECT ${memberList(insertedColumns)} FROM json_each(${sql.placeholder('rows')}) ORDER BY key RETURNING id`)
