import { allShown } from '../../d1/database.ts'
import { transfers } from '../../d1/tables.ts'
import { readAmount } from '../../ledger/store/entries.ts'
import type { StoredTransfer } from '../transfer.ts'
import type { KnownTransfer } from '../transitions.ts'

/** A row of `transfer`. */
export type TransferRow = typeof transfers.$inferSelect

/** All columns of a transfer, named as in `TransferRow`. */
export const transferColumns = allShown(transfers)

/** Reads a row of a transfer in any state. */
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

/** Reads a row of a transfer to a user, that is in any state but `moved`. */
export function readCallers(row: TransferRow): StoredTransfer {
  const { uid, state, ...transfer } = readTransfer(row)
  if (uid === null || state === 'moved') throw new Error('a transfer that moved has no caller')
  return { ...transfer, uid, state }
}

/** Reads all rows of a result, in its order. */
export function readAll({ results }: D1Result<TransferRow>): readonly StoredTransfer[] {
  return results.map(readCallers)
}
