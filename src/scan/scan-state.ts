import { type BlockHash, type BlockHeight, blockSeconds, type Header } from '../chain/block.ts'
import type { ChainFailure } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import { isRefusedBy, type ReadDatabase, statement, type WriteDatabase } from '../d1/database.ts'
import { scanSuperseded } from '../d1/tables.ts'
import type { DecidedTransfer, SentFact } from '../deposits/transfer.ts'
import { sentStatements, transferStatements } from '../deposits/transfers.ts'
import { gapStatements } from './rescans.ts'

/** The stored state of the scan. */
export interface ScanState {
  /** The position: every block at or below it is stored, or a gap. */
  readonly height: BlockHeight
  /** Of the block at the position. Null where that block was not read: before the first one, after a correction, in a gap. */
  readonly hash: BlockHash | null
  /** The newest finalized height that was ever agreed on. Only a correction lowers it. */
  readonly finalized: BlockHeight
  /** The time of that block. 0 where it is not known. */
  readonly finalizedTime: UnixMs
  /** When `finalized` last increased. */
  readonly finalizedAt: UnixMs
  /** When the position last moved. */
  readonly advancedAt: UnixMs
  /** Start of the newest scan that ended caught up: everything that was final then is stored. 0 before the first one. */
  readonly caughtUpAt: UnixMs
  /** Start of the newest scan that ended, caught up or not. 0 before the first one. */
  readonly triedAt: UnixMs
  /** Why that scan was not caught up, or null. */
  readonly problem: ChainFailure['kind'] | null
  /** Why nothing is credited until an operator acts, or null. */
  readonly halted: string | null
  /** The newest correction that was applied; 0 before any. */
  readonly correctedBy: number
}

/** A finalized head that nodes agreed on. */
export type FinalizedHead = Pick<Header, 'height' | 'timestamp'>

/** What identifies a state. Whatever was read after another one is superseded. */
export type ReadAfter = Pick<ScanState, 'height' | 'hash' | 'correctedBy'>

/** One step of the scan. It is stored whole or not at all. */
export interface ScanStep {
  readonly expected: ReadAfter
  /** The last block that was read, or that could not be read: then without a hash. */
  readonly to: Pick<ScanState, 'height' | 'hash'>
  readonly decided: readonly DecidedTransfer[]
  readonly sent: readonly SentFact[]
  /** Blocks that could not be read: they become gaps. */
  readonly gaps: readonly BlockHeight[]
  readonly at: UnixMs
}

/** The state of the scan. Null before it was started. */
export async function selectScan(db: ReadDatabase): Promise<ScanState | null> {
  return await selectState(db).first<ScanState>()
}

/** Stores the position below the first block to scan, and the agreed finalized head. A no-op where the scan was started. */
export async function startScan(
  db: WriteDatabase,
  position: Pick<ScanState, 'height' | 'hash'>,
  head: FinalizedHead,
  at: UnixMs,
): Promise<void> {
  const { height, hash } = position
  await insertScan(db, { height, hash, finalized: head.height, time: head.timestamp, at }).run()
}

/** Stores an agreed finalized head. A no-op where the stored one is as high, or where a correction came since `state`. */
export async function storeFinalized(
  db: WriteDatabase,
  { correctedBy }: Pick<ScanState, 'correctedBy'>,
  head: FinalizedHead,
  at: UnixMs,
): Promise<void> {
  await raiseFinalized(db, { height: head.height, time: head.timestamp, correctedBy, at }).run()
}

/** Stores why the scan is halted. The next stored step ends it. A no-op where the position is another one by now. */
export async function haltScan(
  db: WriteDatabase,
  { height, hash, correctedBy }: ReadAfter,
  why: string,
): Promise<void> {
  await setHalted(db, { height, hash, correctedBy, why }).run()
}

/**
 * Stores that a scan that started at `startedAt` has ended, and why it is not caught up, or null. A no-op where the state is
 * older than `triedBefore`, the `triedAt` of its start: an older copy of the database was restored, which the next scan must notice.
 */
export async function storeScanEnd(
  db: WriteDatabase,
  end: { readonly startedAt: UnixMs; readonly triedBefore: UnixMs; readonly problem: ChainFailure['kind'] | null },
): Promise<void> {
  await endScan(db, end).run()
}

/**
 * Stores position, transfers, sent transactions and gaps together, and drops what was seen in blocks that were read and is
 * not in them. `superseded`: the position is not the expected one, or a correction came in between. Nothing is stored then.
 */
export async function appendStep(
  db: WriteDatabase,
  {
    expected: { height: after, hash: afterHash, correctedBy },
    to: { height, hash },
    decided,
    sent,
    gaps,
    at,
  }: ScanStep,
): Promise<'appended' | 'superseded'> {
  try {
    await db.batch([
      moveScan(db, { after, afterHash, correctedBy, height, hash, at }),
      ...gapStatements(db, gaps, at),
      ...transferStatements(db, decided, at),
      ...sentStatements(db, sent),
      dropPassed(db, { after, to: height, at }),
    ])
    return 'appended'
  } catch (cause) {
    if (isRefusedBy(scanSuperseded, cause)) return 'superseded'
    throw cause
  }
}

/** In a normal rotation the newest final block is 18 blocks behind the newest one (PROTOCOL.md, Finality). */
const finalityBlocks = 18
/** From broadcast to finality in a normal rotation: one block that includes it, 19 that are built on it. */
export const unminedSeconds = 20 * blockSeconds

/**
 * About how many seconds until the block at `height` is final: 0 where it is final, otherwise at least one block time. An
 * estimate for people and `Retry-After`; it is too short while finality is stalled.
 */
export function secondsToFinal(height: BlockHeight, finalized: BlockHeight, latest: BlockHeight): number {
  if (height <= finalized) return 0
  const byRotation = height + finalityBlocks + 1 - latest
  const byFinalized = height - finalized + 1 // exact where the head is close to final, as on a private chain
  return Math.max(1, Math.min(byRotation, byFinalized)) * blockSeconds
}

const selectState = statement(`
SELECT height, hash, finalized, finalized_time AS finalizedTime, finalized_at AS finalizedAt, advanced_at AS advancedAt,
  caught_up_at AS caughtUpAt, tried_at AS triedAt, problem, halted, corrected_by AS correctedBy FROM scan`)

const insertScan = statement(`
INSERT INTO scan (id, height, hash, finalized, finalized_time, finalized_at, advanced_at, caught_up_at, tried_at)
SELECT 1, :height, :hash, :finalized, :time, :at, :at, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM scan)`)

const raiseFinalized = statement(`
UPDATE scan SET finalized = :height, finalized_time = :time, finalized_at = :at
WHERE finalized < :height AND corrected_by = :correctedBy`)

const setHalted = statement(`
UPDATE scan SET halted = :why WHERE height = :height AND hash IS :hash AND corrected_by = :correctedBy`)

/** Never backwards: what ended late can have started before what ended already. */
const endScan = statement(`
UPDATE scan SET problem = :problem, tried_at = max(tried_at, :startedAt),
  caught_up_at = iif(:problem IS NULL, max(caught_up_at, :startedAt), caught_up_at)
WHERE tried_at >= :triedBefore`)

/**
 * Moves the position, or fails the batch: where the state is not the expected one, or a correction has lowered the finalized
 * height below the step, `height` becomes NULL.
 */
const moveScan = statement(`
UPDATE scan SET hash = :hash, advanced_at = :at, halted = NULL,
  height = iif(height = :after AND hash IS :afterHash AND corrected_by = :correctedBy AND :height <= finalized, :height, NULL)`)

/** What was seen in a gap stays: its block was not read. */
const dropPassed = statement(`
UPDATE transfer SET state = 'dropped', changed_at = :at
WHERE state = 'seen' AND height > :after AND height <= :to AND NOT EXISTS (
  SELECT 1 FROM rescan INDEXED BY rescan_open
  WHERE kind = 'gap' AND finished_at IS NULL AND to_height >= transfer.height AND next_height <= transfer.height)`)
