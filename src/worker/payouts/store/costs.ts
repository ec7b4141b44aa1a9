import { sql } from 'drizzle-orm'
import type { BlockHeight, Txid } from '../../chain/block.ts'
import type { TransactionCost } from '../../chain/chain.ts'
import type { PayoutTransactionId } from '../../common/ids.ts'
import { columnName, fixedStatement, type ReadDatabase, type WriteDatabase } from '../../d1/database.ts'
import { payouts, payoutTransactions } from '../../d1/payout-tables.ts'
import type { TransferFailure } from '../transfer-failure.ts'

// What failed transactions of payouts have cost. Nothing is decided by it.

const t = payoutTransactions
const { state, reason, id } = payouts

/** SQL: why the transaction of a stuck payout failed, as JSON; NULL if it has not failed. */
export const failureJson = sql`(SELECT json_object('result', ${t.result}, 'burnt', ${t.burnt}, 'energy', ${t.energy}) FROM ${t}
  WHERE ${t.txid} = ${payouts.txid} AND ${reason} = 'failed')`

/** Reads what `failureJson` has made. */
export const readFailure = (text: string | null) => (text === null ? null : (JSON.parse(text) as TransferFailure)) // safe: it has this form

/** A failed transaction whose cost is not stored yet. */
export interface Uncosted {
  readonly id: PayoutTransactionId
  readonly txid: Txid
  readonly height: BlockHeight
}

/** Reads the failed transactions without a cost of the newest `among` stuck payouts that have ended after `since`, at most `max`. */
export async function selectUncosted(
  db: ReadDatabase,
  since: number,
  among: number,
  max: number,
): Promise<readonly Uncosted[]> {
  const { results } = await uncosted(db, { since, among, max }).all<Uncosted>()
  return results
}

/** Stores what a failed transaction has cost. It does nothing if the transaction is not failed any more. */
export async function storeCost(
  db: WriteDatabase,
  { id: transaction }: Uncosted,
  cost: TransactionCost,
): Promise<void> {
  await updateCost(db, { transaction, burnt: cost.burnt, energy: cost.energy }).run()
}

const uncosted = fixedStatement<'since' | 'among' | 'max'>(sql`
SELECT ${t.id}, ${t.txid}, ${t.height} FROM (
  SELECT ${payouts.txid} AS txid FROM ${payouts} INDEXED BY payout_state WHERE ${state} = 'stuck' AND ${reason} = 'failed'
  ORDER BY ${id} DESC LIMIT ${sql.placeholder('among')}) AS stuck
CROSS JOIN ${t} ON ${t.txid} = stuck.txid WHERE ${t.burnt} IS NULL AND ${t.height} IS NOT NULL
  AND ${t.changed_at} > ${sql.placeholder('since')} LIMIT ${sql.placeholder('max')}`)

const updateCost = fixedStatement<'transaction' | 'burnt' | 'energy'>(sql`
UPDATE ${t} SET ${columnName(t.burnt)} = ${sql.placeholder('burnt')}, ${columnName(t.energy)} = ${sql.placeholder('energy')}
WHERE ${t.id} = ${sql.placeholder('transaction')} AND ${t.succeeded} = 0`)
