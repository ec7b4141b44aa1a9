import { type SQL, sql } from 'drizzle-orm'
import type { Address } from '../chain/address.ts'
import { madeOnce, toStatement, type WriteDatabase } from '../d1/database.ts'
import { payouts, payoutTransactions } from '../d1/payout-tables.ts'
import { addresses } from '../d1/tables.ts'
import type { PayoutFailure } from './failure.ts'

// While payouts are stopped none is offered for signing, and none is cancelled: a transaction that is not known could pay it.

/** Why payouts are stopped. */
export const stoppedForUnknown = 'a transaction of the payout address is final that no payout names: payouts stop'
export const stoppedAfterRestore =
  'an older copy of the database was restored: payouts stop until a final block that is an hour later, and each one before it, is read'

/** The failure of what is not done while payouts are stopped. */
export function stop(why: string) {
  return { kind: 'conflict', reason: 'payouts-stopped', why } as const satisfies PayoutFailure
}

/** Whether the recipient of a payout was issued here since it was asked for: what it would be paid is nobody's deposit. */
export const isToUser = madeOnce(
  sql`EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.address} = ${payouts.to_address})`,
)

const { ended, excused, address } = payoutTransactions
/**
 * Whether nothing may be paid from an address: another one has a signed payout, or it was issued to a user. The settings are compared
 * with the same once in an instance; this is for what has come since.
 */
export function isPayerReplaced(payer: Address): SQL {
  return sql`(EXISTS (SELECT 1 FROM ${addresses} WHERE ${addresses.address} = ${payer})
    OR EXISTS (SELECT 1 FROM ${payoutTransactions} INDEXED BY payout_transaction_open WHERE ${ended} IS NULL AND ${address} <> ${payer}))`
}

/** Whether a transaction of the payout address stops payouts, as a condition. */
export const isStoppedForUnknown = madeOnce(sql`EXISTS (
  SELECT 1 FROM ${payoutTransactions} INDEXED BY payout_transaction_unresolved
  WHERE ${ended} IN ('unknown', 'late') AND ${excused} IS NULL)`)

/** Whether a transaction of this payout, an expression, has succeeded although the payout went on without it. */
export function hasPaidLate(payout: SQL | typeof payoutTransactions.payout_id): SQL {
  return sql`EXISTS (SELECT 1 FROM ${payoutTransactions} AS late INDEXED BY payout_transaction_unresolved
  WHERE late.ended IN ('unknown', 'late') AND late.excused IS NULL AND late.payout_id = ${payout})`
}

/** Why payouts are stopped where they are: for an unknown transaction, or else after a restore. */
export async function findStop(db: WriteDatabase): Promise<PayoutFailure> {
  const unknown = await toStatement(db, sql`SELECT 1 WHERE ${isStoppedForUnknown}`).first()
  return stop(unknown === null ? stoppedAfterRestore : stoppedForUnknown)
}
