import { sql } from 'drizzle-orm'
import type { DeciderName } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { bareList, fixedStatement, isRefusedBy, memberList, type WriteDatabase } from '../../d1/database.ts'
import { decisions } from '../../d1/tables.ts'
import type { TransferChange } from '../transitions.ts'
import { isOvertaken, writeTransfers } from './transfers.ts'

/** A decision of a person about a transfer, with what the transfer becomes by it. */
export interface ReviewStep {
  readonly change: TransferChange
  readonly why: string
}

/**
 * Stores decisions with what they make of their transfers, all or none. `changed`: another decision was faster, or a scan. `halted`:
 * nothing is credited now.
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
