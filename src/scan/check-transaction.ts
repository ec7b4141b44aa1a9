import type { Txid } from '../chain/block.ts'
import type { ScannerCalls } from '../chain/scanner-calls.ts'
import type { Uid } from '../common/ids.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { ok, type Result } from '../common/result.ts'
import type { ReadDatabase } from '../d1/database.ts'
import type { StoredTransfer } from '../deposits/transfer.ts'
import { selectTransfersOf } from '../deposits/transfers.ts'

/** The caller's credited transfers of one transaction, and whether they were credited before this call. */
export interface TransactionReport {
  readonly credited: readonly StoredTransfer[]
  readonly already: boolean
}

/** What a question about one transaction needs. The first query of `db` must see what the scanner has stored. */
export interface AskTransactionParts {
  readonly db: ReadDatabase
  readonly scanner: Pick<ScannerCalls, 'checkTransaction'>
}

/**
 * Answers for one transaction. The scanner knows what is stored, so nodes are asked only where it is not decided yet. It is asked
 * first, so that the caller's session is at least as new as the credit.
 */
export async function askTransaction(
  { db, scanner }: AskTransactionParts,
  uid: Uid,
  txid: Txid,
): Promise<Result<TransactionReport, QueryFailure>> {
  const answer = await scanner.checkTransaction(uid, txid)
  if (!answer.ok) return answer
  const stored = await selectTransfersOf(db, uid, txid)
  return ok({ credited: stored.filter(({ state }) => state === 'credited'), already: answer.value === 'already' })
}
