import { allShown } from '../../d1/database.ts'
import { transfers } from '../../d1/tables.ts'
import { readAmount } from '../../ledger/store/entries.ts'
import type { StoredTransfer } from '../transfer.ts'
import type { KnownTransfer } from '../transitions.ts'

/** A row of `stored_transfer`, selected by `transferColumns`. */
export type TransferRow = typeof transfers.$inferSelect

/** SQL that selects all columns of `stored_transfer`, bytes as hex digits, for `readTransfer`. */
export const transferColumns = allShown(transfers)

/**
 * Turns a row, in any state, into the domain's types: amounts become bigints, and SQLite's 0 or 1 a
 * boolean.
 */
export function readTransfer(row: TransferRow) {
  return {
    id: row.id,
    version: row.version,
    txid: row.txid,
    position: row.position,
    cuy: row.cuy,
    uid: row.uid,
    state: row.state,
    reason: row.reason,
    review: row.review,
    seconds: row.seconds,
    block: { height: row.height },
    native: Boolean(row.native),
    from: row.from_address,
    to: row.to_address,
    raw: BigInt(row.raw),
    amount: readAmount(row.amount),
    createdAt: row.created_at,
    changedAt: row.changed_at,
  } satisfies Omit<KnownTransfer, 'isSought' | 'isAskedAgain'> & Record<string, unknown>
}

/**
 * Like `readTransfer`, for a row of a transfer to a user. Throws if the row is in the state
 * `moved`, which belongs to no user.
 */
export function readCallers(row: TransferRow): StoredTransfer {
  const { uid, state, ...transfer } = readTransfer(row)
  if (uid === null || state === 'moved') throw new Error('a transfer that moved has no caller')
  return { ...transfer, uid, state }
}

/**
 * Like `readCallers`, for all rows of a result, in their order. Throws if one of them is in the
 * state `moved`.
 */
export function readAll({ results }: D1Result<TransferRow>): readonly StoredTransfer[] {
  return results.map(readCallers)
}
