import { sql } from 'drizzle-orm'
import type { PayoutId } from '../../common/ids.ts'
import { fixedStatement, isRefusedBy, type ReadDatabase, type WriteDatabase } from '../../d1/database.ts'
import { payouts, payoutTransactions, unnamedOutflows } from '../../d1/payout-tables.ts'
import type { OtherOutflow, Outflows, PayoutRow } from '../lifecycle.ts'
import { readMoved } from '../moved.ts'
import { overtakenRules, updatePayouts } from './rows.ts'

/** A payout, with the money that has left for it, or may have left for it. */
export interface PayoutWithOutflows {
  readonly payout: PayoutRow
  readonly outflows: Outflows
}

/** Reads the payouts with these ids. Ids that do not exist are left out. */
export async function selectWithOutflows(
  db: ReadDatabase,
  ids: readonly number[],
): Promise<ReadonlyMap<PayoutId, PayoutWithOutflows>> {
  const { results } = await selectByIds(db, { ids: JSON.stringify(ids) }).all<
    PayoutRow & { readonly other: string | null }
  >()
  return new Map(
    results.map(({ other, ...payout }) => {
      const newest = payout.moved === null ? [] : readMoved(payout.moved)
      return [payout.id, { payout, outflows: { newest, other: readOther(other) } }]
    }),
  )
}

/** Reads what `otherOutflow` has made. */
export const readOther = (text: string | null) => (text === null ? null : (JSON.parse(text) as OtherOutflow)) // safe: it has this form

/** Stores persons' decisions, all or none. `overtaken`: a payout has changed since; `wallet-full`: the wallet has no room for the refund. */
export async function storeDecided(
  db: WriteDatabase,
  rows: readonly PayoutRow[],
): Promise<'stored' | 'overtaken' | 'wallet-full'> {
  if (rows.length === 0) return 'stored'
  try {
    await db.batch([...updatePayouts(db, rows)])
    return 'stored'
  } catch (cause) {
    if (isRefusedBy('flow_balance', cause)) return 'wallet-full'
    if (overtakenRules.some((rule) => isRefusedBy(rule, cause))) return 'overtaken'
    throw cause
  }
}

const t = payoutTransactions
const out = unnamedOutflows
/**
 * SQL: another transaction that has moved money for this payout or may have paid it, as JSON; NULL if there is none. It is a transaction of the payout that moved
 * something else, or that succeeded after the payout had gone on without it, or one that no payout names and that moved exactly this amount, whether an operator
 * has excused it or not. A stuck payout says itself what its newest transaction has moved (the column `moved`).
 */
export const otherOutflow = sql`coalesce(
  (SELECT json_object('txid', ${t.txid}, 'moved', json(${t.moved})) FROM ${t} INDEXED BY payout_transaction_payout
    WHERE ${t.payout_id} = ${payouts.id} AND ${t.ended} IN ('other', 'late') AND ${t.moved} <> '[]'
      AND NOT (${t.txid} = ${payouts.txid} AND ${payouts.moved} IS NOT NULL) LIMIT 1),
  (SELECT json_object('txid', ${t.txid}, 'moved', json(${t.moved})) FROM ${out} CROSS JOIN ${t} ON ${t.id} = ${out.transaction_id}
    WHERE ${out.contract} = ${payouts.contract} AND ${out.to_address} = ${payouts.to_address} AND ${out.raw} = ${payouts.raw} LIMIT 1))`

const selectByIds = fixedStatement<'ids'>(sql`
SELECT ${payouts}.*, ${otherOutflow} AS other FROM ${payouts}
WHERE ${payouts.id} IN (SELECT value FROM json_each(${sql.placeholder('ids')}))`)
