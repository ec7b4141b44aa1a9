import { sql } from 'drizzle-orm'
import type { UnixMs } from '../../common/time.ts'
import { isRefusedBy, openTables, toStatement, type WriteDatabase } from '../../d1/database.ts'
import { rescans, scans } from '../../d1/state-tables.ts'
import { scanSuperseded } from '../../d1/tables.ts'
import {
  areTransfersUnchanged,
  dropAbsent,
  dropPassed,
  isOvertaken,
  noTransferWrites,
  scanHalted,
  selectTransferStore,
  sentStatements,
  writeTransfers,
} from '../../deposits/store/transfers.ts'
import type { JudgedTransfer, SentFact } from '../../deposits/transfer.ts'
import { type Contradiction, decideTransfers } from '../../deposits/transitions.ts'
import { actStatements, type IssuerFact } from '../../issuer/acts.ts'
import { decideConclusions, type ReadOfPayouts } from '../../payouts/conclusions.ts'
import { isWatched } from '../../payouts/store/facts.ts'
import { isPayoutOvertaken } from '../../payouts/store/rows.ts'
import type { Gap, Rescan, RescanPart } from '../rescan.ts'
import { caughtUp, type ReadAfter, type ScanState, selectScan } from './position.ts'
import { gapStatements, insertPart, isOpen, updateRescan } from './rescans.ts'

/** The findings in final blocks, as a scan or a rescan stores them. */
export interface BlockFindings {
  readonly judged: readonly JudgedTransfer[]
  readonly sent: readonly SentFact[]
  readonly acts: readonly IssuerFact[]
  readonly payouts: ReadOfPayouts
}

/** Blocks that a scan has read, to be stored whole or not at all. */
export interface ScanStep extends BlockFindings {
  readonly expected: ReadAfter
  /** The last block of the step. Its hash is null if the block could not be read. */
  readonly to: Pick<ScanState, 'height' | 'hash'>
  readonly gaps: readonly Gap[]
  /**
   * When the scan started, if the blocks of this step are its last final ones; null if more final
   * blocks are left to read.
   */
  readonly caughtUpAt: UnixMs | null
  readonly at: UnixMs
}

/**
 * The result of storing a step. `dropped`: for each seen transfer that is in no final block, the
 * node that had shown it. `contradicted`: the credited transfers that the blocks show otherwise.
 */
export type StepResult =
  | {
      readonly kind: 'appended'
      readonly dropped: readonly (number | null)[]
      readonly contradicted: readonly Contradiction[]
    }
  /**
   * The position is not the expected one, or an operator has lowered the finalized height
   * meanwhile. Nothing was stored.
   */
  | { readonly kind: 'superseded' }

/**
 * How often a step is decided and stored, at most, if other writers change its transfers meanwhile.
 */
const triesMax = 3

/**
 * Stores position, transfers, sent transactions, gaps and decisions about payouts together. Drops
 * seen transfers that the blocks, now read, do not contain.
 */
export async function appendStep(db: WriteDatabase, step: ScanStep): Promise<StepResult> {
  for (let tries = 1; ; tries += 1) {
    const writes = await decideFindings(db, step, step.at)
    try {
      const results = await db.batch<{ readonly seenBy: number | null }>([
        moveScan(db, step, writes.versions),
        ...gapStatements(db, step.gaps, step.at),
        ...writes.transfers,
        ...writes.payouts,
        dropPassed(db, step.to.height, step.at),
      ])
      const dropped = (results.at(-1)?.results ?? []).map(({ seenBy }) => seenBy)
      return { kind: 'appended', dropped, contradicted: writes.contradicted }
    } catch (cause) {
      if (!isDecidedAgain(cause, tries)) throw cause
      if (tries >= triesMax || !(await isExpected(db, step.expected))) return { kind: 'superseded' }
    }
  }
}

/**
 * Whether a batch failed because a row changed after the decision. If a trigger refuses after all
 * attempts, the cause is a bug, so it is thrown.
 */
function isDecidedAgain(cause: unknown, tries: number): boolean {
  if (isRefusedBy(scanSuperseded, cause)) return true
  return tries < triesMax && (isOvertaken(cause) || isPayoutOvertaken(cause))
}

/** The findings of one read of a rescan, and the parts of the rescan that are still unread. */
export interface RescanStep extends BlockFindings {
  /** The rescan as it was when its blocks were read. */
  readonly rescan: Rescan
  /**
   * The newest correction (an operator's lowering of the finalized height) when the blocks were
   * read.
   */
  readonly correctedBy: number
  /**
   * The unread parts, from the lowest block on. The first one stays in the row of the rescan, the
   * others get rows of their own. Empty: everything is read.
   */
  readonly left: readonly RescanPart[]
  /**
   * Whether the rescan is of one block, and all receipts of that block were tried. Then a seen
   * transfer that is in none of them is dropped.
   */
  readonly isWholeBlock: boolean
  readonly at: UnixMs
}

/**
 * Stores the findings of a rescan and its unread parts in one batch. Returns the credited transfers
 * that the blocks show otherwise. `superseded`: another read of the same rescan came first, an
 * operator has lowered the finalized height, or the scan is halted; nothing is stored.
 */
export async function storeRescanStep(
  db: WriteDatabase,
  step: RescanStep,
): Promise<Pick<Extract<StepResult, { kind: 'appended' }>, 'contradicted'> | 'superseded'> {
  const { rescan, left, isWholeBlock, at } = step
  const [first, ...others] = left
  for (let tries = 1; ; tries += 1) {
    const { versions, transfers, payouts, contradicted } = await decideFindings(db, step, at)
    try {
      await db.batch([
        requireUnchanged(db, step, versions),
        // Transfers come before the rescan moves on: a refused transfer can be decided again only
        // while a rescan covers its block.
        ...transfers,
        ...(isWholeBlock && first !== undefined ? [dropAbsent(db, first.from, first.unread, at)] : []),
        ...others.map((part) => insertPart(db, rescan.id, part, at)),
        updateRescan(db, rescan, first ?? null, at),
        ...payouts, // after the unread parts, which decide whether a transaction can still be found
      ])
      return { contradicted }
    } catch (cause) {
      if (isRefusedBy(scanHalted, cause)) return 'superseded'
      if (!isDecidedAgain(cause, tries)) throw cause
      if (tries >= triesMax) return 'superseded'
    }
  }
}

/**
 * Decides about the findings, given what is stored about the same transfers and payouts, and makes
 * the statements that store the decisions.
 */
async function decideFindings(
  db: WriteDatabase,
  { judged, sent, acts, payouts }: BlockFindings,
  at: UnixMs,
): Promise<FindingWrites> {
  const decisions = judged.length === 0 ? null : decideTransfers(judged, await selectTransferStore(db, judged))
  const written = decisions === null ? noTransferWrites : writeTransfers(db, decisions, at)
  return {
    versions: written.versions,
    contradicted: decisions?.contradicted ?? [],
    transfers: [...written.statements, ...sentStatements(db, sent), ...actStatements(db, acts, at)],
    payouts: await decideConclusions(db, payouts, at),
  }
}

interface FindingWrites {
  /**
   * The versions of the transfers on which the decisions rest. If one has changed, the batch must
   * fail.
   */
  readonly versions: string
  readonly contradicted: readonly Contradiction[]
  readonly transfers: readonly D1PreparedStatement[]
  readonly payouts: readonly D1PreparedStatement[]
}

async function isExpected(db: WriteDatabase, { height, hash, correctedBy }: ReadAfter): Promise<boolean> {
  const state = await selectScan(db)
  return state !== null && state.height === height && state.hash === hash && state.correctedBy === correctedBy
}

/**
 * Moves the position. The batch fails, because `height` becomes NULL, in four cases. The state is
 * not the expected one; an operator has lowered the finalized height below the step; a transfer has
 * changed since the decision; or the read did not look for the address of every open transaction.
 */
function moveScan(
  db: WriteDatabase,
  { expected, to, payouts, caughtUpAt, at }: ScanStep,
  versions: string,
): D1PreparedStatement {
  const isExpected = sql`${scans.height} = ${expected.height} AND ${scans.hash} IS ${expected.hash}
    AND ${scans.corrected_by} = ${expected.correctedBy} AND ${to.height} <= ${scans.finalized}
    AND ${areTransfersUnchanged(versions)} AND ${isWatched(payouts.watched)}`
  const changes = {
    height: sql`iif(${isExpected}, ${to.height}, NULL)`,
    hash: to.hash,
    advanced_at: at,
    halted: null,
    ...(caughtUpAt === null ? {} : caughtUp(caughtUpAt)),
  }
  return toStatement(db, openTables(db).update(scans).set(changes))
}

/**
 * Fails the batch, because `height` becomes NULL, in three cases. An operator has lowered the
 * finalized height since the read; the rescan or a transfer has changed since the read; or the read
 * did not look for the address of every open transaction.
 */
function requireUnchanged(
  db: WriteDatabase,
  { rescan, correctedBy, payouts }: RescanStep,
  versions: string,
): D1PreparedStatement {
  const { id, next_height, to_height, attempts, receipts } = rescans
  const isSame = sql`${scans.corrected_by} = ${correctedBy} AND ${areTransfersUnchanged(versions)}
    AND ${isWatched(payouts.watched)} AND EXISTS (SELECT 1 FROM ${rescans} WHERE ${id} = ${rescan.id}
      AND ${isOpen} AND ${next_height} = ${rescan.from} AND ${to_height} = ${rescan.to}
      AND ${attempts} = ${rescan.attempts} AND ${receipts} = ${rescan.receipts})`
  return toStatement(
    db,
    openTables(db)
      .update(scans)
      .set({ height: sql`iif(${isSame}, ${scans.height}, NULL)` }),
  )
}
