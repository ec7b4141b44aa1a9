import { sql } from 'drizzle-orm'
import type { DeciderName } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { bareList, fixedStatement, isRefusedBy, memberList, type WriteDatabase } from '../../d1/database.ts'
import { decisions } from '../../d1/tables.ts'
import type { TransferChange } from '../transitions.ts'
import { isOvertaken, writeTransfers } from './transfers.ts'

/** A person's decision about a transfer, with the change that follows from it. */
export interface ReviewStep {
  readonly change: TransferChange
  readonly why: string
}

/**
 * Stores decisions and the changes that follow from them, all or none. `changed`: a concurrent decision or scan changed one of the transfers first. `halted`:
 * the scan is halted, so nothing is credited.
 */
export async function storeDecisions(
  db: WriteDatabase,
  steps: readonly ReviewStep[],
  by: DeciderName,
  at: UnixMs,
): Promise<'stored' | 'changed' | 'halted'> {
  const rows = steps.map(({ change, why }) => {
    return { txid: change.txid, position: change.position, decision: change.review, why }
  })
  const changed = steps.map(({ change }) => change)
  try {
    await db.batch([
      insertDecisions(db, { rows: JSON.stringify(rows), by, at }),
      ...writeTransfers(db, { changed, fresh: [], found: [] }, at).statements,
    ])
    return 'stored'
  } catch (cause) {
    if (isRefusedBy('transfer: the scan is halted', cause)) return 'halted'
    if (isRefusedBy('decision: ', cause) || isOvertaken(cause)) return 'changed'
    throw cause
  }
}

const { txid, position, decision, why, decided_by, created_at } = decisions
const listed = [txid, position, decision, why]

const insertDecisions = fixedStatement<'rows' | 'by' | 'at'>(sql`
INSERT INTO ${decisions} (${bareList([...listed, decided_by, created_at])})
SELECT ${memberList(listed)}, ${sql.placeholder('by')}, ${sql.placeholder('at')} FROM json_each(${sql.placeholder('rows')})
ORDER BY key`)
