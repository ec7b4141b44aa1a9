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
  selectTransferStore,
  sentStatements,
  writeTransfers,
} from '../../deposits/store/transfers.ts'
import type { JudgedTransfer, SentFact } from '../../deposits/transfer.ts'
import { decideTransfers } from '../../deposits/transitions.ts'
import { actStatements, type IssuerFact } from '../../issuer/acts.ts'
import { decideConclusions, type ReadOfPayouts } from '../../payouts/conclusions.ts'
import { isPayoutOvertaken, isWatched } from '../../payouts/store/conclusions.ts'
import type { Gap, Rescan, RescanPart } from '../rescan.ts'
import { caughtUp, type ReadAfter, type ScanState, selectScan } from './position.ts'
import { gapStatements, insertPart, isOpen, updateRescan } from './rescans.ts'

/** What final blocks have shown, as it is stored with the position or with a rescan. */
export interface BlockFindings {
  readonly judged: readonly JudgedTransfer[]
  readonly sent: readonly SentFact[]
  readonly acts: readonly IssuerFact[]
  readonly payouts: ReadOfPayouts
}

/** One step of the scan. It is stored whole or not at all. */
export interface ScanStep extends BlockFindings {
  readonly expected: ReadAfter
  /** The last block that was read, or that could not be read: then without a hash. */
  readonly to: Pick<ScanState, 'height' | 'hash'>
  readonly gaps: readonly Gap[]
  /** When the scan began that is caught up with this step; null if more blocks are final. */
  readonly caughtUpAt: UnixMs | null
  readonly at: UnixMs
}

/** What a step did. `dropped`: by which node each transfer was seen that is in no final block. */
export type StepResult =
  | { readonly kind: 'appended'; readonly dropped: readonly (number | null)[] }
  /** The position is not the expected one, or a correction came in between. Nothing was stored. */
  | { readonly kind: 'superseded' }

/** Tries, where others write the same transfers at the same time. */
const triesMax = 3

/**
 * Stores position, transfers, sent transactions, gaps and what is decided about payouts together, and drops what was seen in blocks that
 * were read and is not in them.
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
      return { kind: 'appended', dropped: (results.at(-1)?.results ?? []).map(({ seenBy }) => seenBy) }
    } catch (cause) {
      if (!isDecidedAgain(cause, tries)) throw cause
      if (tries >= triesMax || !(await isExpected(db, step.expected))) return { kind: 'superseded' }
    }
  }
}

/**
 * Whether a batch failed because something that was decided about has changed meanwhile. What a trigger refuses again and again is a bug, and
 * no reason to wait.
 */
function isDecidedAgain(cause: unknown, tries: number): boolean {
  if (isRefusedBy(scanSuperseded, cause)) return true
  return tries < triesMax && (isOvertaken(cause) || isPayoutOvertaken(cause))
}

/** What one read of a rescan found. */
export interface RescanStep extends BlockFindings {
  /** The rescan as it was when it was read. */
  readonly rescan: Rescan
  /** The newest correction then. */
  readonly correctedBy: number
  /** What is left, from the lowest block on: the first part stays this row, the others become rows. Empty: all of it is read. */
  readonly left: readonly RescanPart[]
  /** Whether all receipts of its only block were tried: then what was seen in it and is not in them is gone. */
  readonly isWholeBlock: boolean
  readonly at: UnixMs
}

/**
 * Stores what a read of a rescan found and what is left of it, in one batch. `superseded`: a correction came in between, or another read
 * of the same rescan. Nothing is stored then.
 */
export async function storeRescanStep(db: WriteDatabase, step: RescanStep): Promise<'stored' | 'superseded'> {
  const { rescan, left, isWholeBlock, at } = step
  const [first, ...others] = left
  for (let tries = 1; ; tries += 1) {
    const { versions, transfers, payouts } = await decideFindings(db, step, at)
    try {
      await db.batch([
        requireUnchanged(db, step, versions),
        // Before the rescan goes forward: what was refused can be decided again while the rescan covers its block.
        ...transfers,
        ...(isWholeBlock && first !== undefined ? [dropAbsent(db, first.from, first.unread, at)] : []),
        ...others.map((part) => insertPart(db, rescan.id, part, at)),
        updateRescan(db, rescan, first ?? null, at),
        ...payouts, // after what is left to be read is known
      ])
      return 'stored'
    } catch (cause) {
      if (!isDecidedAgain(cause, tries)) throw cause
      if (tries >= triesMax) return 'superseded'
    }
  }
}

/** Decides what becomes of the findings. */
async function decideFindings(
  db: WriteDatabase,
  { judged, sent, acts, payouts }: BlockFindings,
  at: UnixMs,
): Promise<FindingWrites> {
  const written =
    judged.length === 0
      ? noTransferWrites
      : writeTransfers(db, decideTransfers(judged, await selectTransferStore(db, judged)), at)
  return {
    versions: written.versions,
    transfers: [...written.statements, ...sentStatements(db, sent), ...actStatements(db, acts, at)],
    payouts: await decideConclusions(db, payouts, at),
  }
}

/** How findings are stored. */
interface FindingWrites {
  /** The versions of transfers that were decided about, for the guard of the batch. */
  readonly versions: string
  readonly transfers: readonly D1PreparedStatement[]
  readonly payouts: readonly D1PreparedStatement[]
}

async function isExpected(db: WriteDatabase, { height, hash, correctedBy }: ReadAfter): Promise<boolean> {
  const state = await selectScan(db)
  return state !== null && state.height === height && state.hash === hash && state.correctedBy === correctedBy
}

/**
 * Moves the position, or fails the batch: if the state is not the expected one, a correction has lowered the finalized height below
 * the step, a transfer is not as it was decided about, or the blocks were not read for every open payout, `height` becomes NULL.
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
 * Fails the batch if a correction came since, if the rescan is not as it was read, if a transfer is not as it was decided about, or if the
 * blocks were not read for every open payout: `height` becomes NULL.
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
