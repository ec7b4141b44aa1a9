import { sql } from 'drizzle-orm'
import type { DeciderName } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { bareList, fixedStatement, isRefusedBy, memberList, type WriteDatabase } from '../../d1/database.ts'
import { decisions } from '../../d1/tables.ts'
import type { TransferChange } from '../transitions.ts'
import { isOvertaken, writeTransfers } from './transfers.ts'

/** What a transfer becomes by a decision in its review (`change.review`), and the reason for the decision. */
export interface ReviewStep {
  readonly change: TransferChange
  readonly why: string
}

/**
 * Stores decisions and what their transfers become, all or none. `changed`: another request or a scan has changed one of the transfers since it was read.
 * `halted`: the scan is halted, so nothing may be credited.
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
