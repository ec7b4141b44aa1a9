import { sql } from 'drizzle-orm'
import type { CurrencyId, DeciderName, Uid } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import {
  bareList,
  fixedStatement,
  isRefusedBy,
  member,
  memberList,
  type ReadDatabase,
  resultRows,
  type WriteDatabase,
} from '../../d1/database.ts'
import { scans } from '../../d1/state-tables.ts'
import { decisions } from '../../d1/tables.ts'
import { type KeptRow, type KeptSettings, keptStatement, readKept } from '../../ledger/kept-settings.ts'
import { selectBalancesOf, type WalletRow } from '../../ledger/store/entries.ts'
import { type TransferChange, walletKey } from '../transitions.ts'
import { isOvertaken, writeTransfers } from './transfers.ts'

/**
 * What a transfer becomes by a decision in its review (`change.review`), and the reason for the
 * decision.
 */
export interface ReviewStep {
  readonly change: TransferChange
  readonly why: string
}

/** The stored facts by which decisions are judged. */
export interface DecisionFacts extends Pick<KeptSettings, 'operators' | 'otherPayers' | 'decimals'> {
  /** Whether the scan is halted because the chain is forked. */
  readonly isHalted: boolean
  /** Balances in ledger units, by `walletKey`. A wallet without an entry is absent. */
  readonly balances: ReadonlyMap<string, bigint>
}

/** Reads the facts for decisions about these deposits, in one round trip. */
export async function selectDecisionFacts(
  db: ReadDatabase,
  deposits: readonly { readonly uid: Uid; readonly cuy: CurrencyId }[],
): Promise<DecisionFacts> {
  const [halted, kept, held] = await db.batch([
    selectHalted(db, {}),
    keptStatement(db, {}),
    selectBalancesOf(
      db,
      deposits.map(({ uid, cuy }) => ({ uid, cuy })),
    ),
  ])
  const balances = resultRows<WalletRow>(held)
  const { operators, otherPayers, decimals } = readKept(resultRows<KeptRow>(kept))
  return {
    isHalted: (halted?.results ?? []).length > 0,
    balances: new Map(balances.map(({ uid, cuy, balance }) => [walletKey(uid, cuy), BigInt(balance)])),
    ...{ operators, otherPayers, decimals },
  }
}

/**
 * Stores decisions and what their transfers become, all or none. `changed`: a transfer has changed
 * since it was read, or the scan was halted since.
 */
export async function storeDecisions(
  db: WriteDatabase,
  steps: readonly ReviewStep[],
  by: DeciderName,
  at: UnixMs,
): Promise<'stored' | 'changed'> {
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
    if (overtakenRules.some((rule) => isRefusedBy(rule, cause)) || isOvertaken(cause)) return 'changed'
    throw cause
  }
}

const overtakenRules = ['decision: ', 'transfer: the scan is halted']

const selectHalted = fixedStatement(sql`SELECT 1 FROM ${scans} WHERE ${scans.halted} IS NOT NULL`)

const { txid, position, decision, why, decided_by, created_at } = decisions
const listed = [txid, position, decision, why]

/** A decision that was made before stays as it was: a correction may have made the row anew. */
const insertDecisions = fixedStatement<'rows' | 'by' | 'at'>(sql`
INSERT INTO ${decisions} (${bareList([...listed, decided_by, created_at])})
SELECT ${memberList(listed)}, ${sql.placeholder('by')}, ${sql.placeholder('at')}
  FROM json_each(${sql.placeholder('rows')}) WHERE NOT EXISTS (SELECT 1 FROM ${decisions}
    WHERE ${txid} = ${member(txid)} AND ${position} = ${member(position)} AND ${decision} = ${member(decision)})
ORDER BY key`)
