import type { BlockHeight, Txid } from '../chain/block.ts'
import type { RescanId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { isRefusedBy, type ReadDatabase, statement, toJsonTexts, type WriteDatabase } from '../d1/database.ts'
import { type RescanKind, scanSuperseded } from '../d1/tables.ts'
import type { CreditKey, DecidedTransfer, SentFact } from '../deposits/transfer.ts'
import { requireCorrection, sentStatements, transferStatements } from '../deposits/transfers.ts'
import type { ScanContext } from './rules.ts'

/** A range of stored blocks that is read again. Both ends are included. */
export interface Rescan {
  readonly id: RescanId
  /** `gap`: blocks that the scan could not read. `request`: blocks that an operator wants to be read again. */
  readonly kind: RescanKind
  /** The next block to read. */
  readonly next: BlockHeight
  /** The last block to read now: at most the position. */
  readonly to: BlockHeight
  /** Tries since it last went forward. */
  readonly attempts: number
}

/** What one read of a rescan found. */
export interface RescanStep {
  readonly id: RescanId
  /** The newest correction when it was read. */
  readonly correctedBy: number
  /** The first block that was read: the next one of the rescan then. */
  readonly from: BlockHeight
  /** The next block to read: above the last one where the rescan is finished. */
  readonly next: BlockHeight
  readonly attempts: number
  readonly nextTry: UnixMs
  /** Why its next block cannot be read, as for its alarm; null where that is as before. */
  readonly why: string | null
  readonly decided: readonly DecidedTransfer[]
  readonly sent: readonly SentFact[]
  /** Blocks below `next` that could not be read: each becomes a gap of its own. */
  readonly gaps: readonly BlockHeight[]
  /** Why the first of them cannot be read, or null. */
  readonly gapsWhy: string | null
  /** Blocks that are read but for these transactions. */
  readonly unread: readonly { readonly height: BlockHeight; readonly txids: readonly Txid[] }[]
  readonly at: UnixMs
}

/** Consecutive blocks that are not read yet. */
export interface OpenGap {
  readonly id: RescanId
  readonly from: BlockHeight
  readonly to: BlockHeight
  readonly attempts: number
  readonly why: string
}

/** Gaps in one list. */
const gapsMax = 100
/** Blocks in one JSON text. */
const blocksMax = 2_000
/** Credited transfers that are looked for after one correction. */
const lookedForMax = 500
const memoryKey = 'recheck'

/** The unfinished rescan that has been due longest, or null. */
export async function selectDueRescan(db: ReadDatabase, at: UnixMs): Promise<Rescan | null> {
  return selectDue(db, { at }).first<Rescan>()
}

/** The open gaps from the lowest on, at most 100. */
export async function selectOpenGaps(db: ReadDatabase): Promise<readonly OpenGap[]> {
  return (await selectGaps(db, { max: gapsMax }).all<OpenGap>()).results
}

/** Stores what a read found, and how far the rescan is. `superseded`: a correction came in between, and nothing is stored. */
export async function storeRescanStep(db: WriteDatabase, step: RescanStep): Promise<'stored' | 'superseded'> {
  const { id, correctedBy, from, next, nextTry, attempts, why, at } = step
  try {
    await db.batch([
      requireCorrection(db, { correctedBy }),
      // Before the rescan goes forward: what it refused can be decided again while it covers the block.
      ...transferStatements(db, step.decided, at),
      ...sentStatements(db, step.sent),
      ...toJsonTexts(step.unread, blocksMax).map((list) => dropAbsent(db, { list, at })),
      ...toJsonTexts(step.gaps, blocksMax).map((list) => insertGaps(db, { list, except: id, why: step.gapsWhy, at })),
      moveRescan(db, { id, from, next, nextTry, attempts, why, at }),
    ])
    return 'stored'
  } catch (cause) {
    if (isRefusedBy(scanSuperseded, cause)) return 'superseded'
    throw cause
  }
}

/** Statements that store blocks as gaps: consecutive ones as one, or as a part of the gap right below them. */
export function gapStatements(db: WriteDatabase, gaps: readonly BlockHeight[], at: UnixMs): D1PreparedStatement[] {
  return toJsonTexts(gaps, blocksMax).flatMap((list) => [
    extendGaps(db, { list, except: 0, at }),
    insertGaps(db, { list, except: 0, why: null, at }),
  ])
}

/** Credited transfers above the height of a correction that the scan has not found again. */
interface Recheck {
  readonly correction: number
  /** Once the scan is here, what is missing is reported. */
  readonly until: BlockHeight
  /** `txid:position`. */
  readonly missing: readonly string[]
}

/** The position of the scan, and the newest correction. */
interface Corrected {
  readonly height: BlockHeight
  readonly correctedBy: number
}

const keyOf = ({ txid, position }: CreditKey) => `${txid}:${position}`

/** After a correction: what is credited above the position, and must be found again, as must what an earlier one left. */
export async function openRecheck({ db, host }: ScanContext, { height, correctedBy }: Corrected): Promise<Recheck> {
  const stored = await host.load<Recheck>(memoryKey)
  if (stored?.correction === correctedBy) return stored
  type Credited = CreditKey & { readonly height: BlockHeight }
  const above = selectAbove(db, { height, max: correctedBy === 0 ? 0 : lookedForMax }) // without a correction nothing is missing
  const credited = (await above.all<Credited>()).results
  const until = Math.max(height, ...credited.map((one) => one.height)) as BlockHeight // safe: one of them
  const missing = [...new Set([...(stored?.missing ?? []), ...credited.map(keyOf)])]
  const recheck = { correction: correctedBy, until, missing }
  host.save(memoryKey, recheck)
  return recheck
}

/**
 * Takes away what was found, before it is stored: where this ends in between, it is found once more. What was read before the
 * newest correction changes nothing.
 */
export async function noteFound(
  { host }: Pick<ScanContext, 'host'>,
  correctedBy: number,
  found: readonly CreditKey[],
): Promise<void> {
  const recheck = await host.load<Recheck>(memoryKey)
  if (recheck?.correction !== correctedBy || recheck.missing.length === 0) return
  const keys = new Set(found.map(keyOf))
  host.save(memoryKey, { ...recheck, missing: recheck.missing.filter((key) => !keys.has(key)) })
}

/**
 * Raises an alarm for each credited transfer that was not found again, once the scan has passed all of their blocks. One in a
 * block of an open gap waits until that is read.
 */
export async function reportMissing(
  { db, alarms, host }: ScanContext,
  { correctedBy, height }: Corrected,
): Promise<void> {
  const recheck = await host.load<Recheck>(memoryKey)
  if (recheck?.correction !== correctedBy || recheck.missing.length === 0 || height < recheck.until) return
  const { results: read } = await selectRead(db, { list: JSON.stringify(recheck.missing) }).all<CreditKey>()
  for (const { txid, position } of read) {
    await alarms.raise('corrected-credit', { txid, position }, { txid, position })
  }
  await noteFound({ host }, correctedBy, read)
}

const selectAbove = statement(`
SELECT txid, position, height FROM transfer INDEXED BY transfer_height
WHERE height > :height AND state = 'credited' LIMIT :max`)

const selectRead = statement(`
SELECT txid, position FROM json_each(:list) JOIN transfer INDEXED BY transfer_key
  ON txid = substr(value, 1, 64) AND position = CAST(substr(value, 66) AS INTEGER)
WHERE height <= (SELECT height FROM scan) AND NOT EXISTS (
  SELECT 1 FROM rescan INDEXED BY rescan_open
  WHERE kind = 'gap' AND finished_at IS NULL AND to_height >= transfer.height AND next_height <= transfer.height)`)

const selectDue = statement(`
SELECT id, kind, next_height AS next, min(to_height, (SELECT height FROM scan)) AS "to", attempts
FROM rescan INDEXED BY rescan_due
WHERE finished_at IS NULL AND next_try <= :at AND next_height <= (SELECT height FROM scan)
ORDER BY next_try, id LIMIT 1`)

const selectGaps = statement(`
SELECT id, next_height AS "from", to_height AS "to", attempts, reason AS why FROM rescan INDEXED BY rescan_open
WHERE kind = 'gap' AND finished_at IS NULL ORDER BY to_height LIMIT :max`)

/**
 * Never backwards: what two objects read at the same time is stored by both. Nor over a block that was not read: an older copy
 * of the database, restored meanwhile, can be below the first one.
 */
const moveRescan = statement(`
UPDATE rescan SET next_height = :next, next_try = :nextTry, attempts = :attempts, reason = coalesce(:why, reason),
  finished_at = iif(:next > to_height, :at, NULL)
WHERE id = :id AND finished_at IS NULL AND next_height BETWEEN :from AND :next`)

/** Runs of consecutive heights of the list that no open gap has: in such a run, height and row number grow alike. */
const runs = `(SELECT min(value) AS first, max(value) AS last FROM (
    SELECT value, value - row_number() OVER (ORDER BY value) AS run FROM json_each(:list) WHERE NOT EXISTS (
      SELECT 1 FROM rescan INDEXED BY rescan_open
      WHERE kind = 'gap' AND finished_at IS NULL AND to_height >= value AND next_height <= value AND id <> :except))
  GROUP BY run) AS run`

/** MATERIALIZED makes the runs the outer loop: otherwise every row of the table is read. */
const extendGaps = statement(`
WITH grown AS MATERIALIZED (
  SELECT below.id, last FROM ${runs} CROSS JOIN rescan AS below INDEXED BY rescan_open
  ON kind = 'gap' AND finished_at IS NULL AND to_height = first - 1 AND below.id <> :except)
UPDATE rescan SET to_height = last, attempts = 0, next_try = min(next_try, :at) FROM grown WHERE rescan.id = grown.id`)

/** What was seen in a block that is read but for some transactions, and is not in it. Whatever is in it is decided by now. */
const dropAbsent = statement(`
UPDATE transfer SET state = 'dropped', changed_at = :at FROM json_each(:list) AS block
WHERE state = 'seen' AND height = block.value ->> 'height'
  AND txid NOT IN (SELECT unread.value FROM json_each(block.value -> 'txids') AS unread)`)

const insertGaps = statement(`
INSERT INTO rescan (kind, from_height, to_height, next_height, reason, created_at, next_try)
SELECT 'gap', first, last, first, coalesce(:why, 'it could not be read or agreed on'), :at, :at FROM ${runs}`)
