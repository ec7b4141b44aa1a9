import { and, eq, lt, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Address } from '../../chain/address.ts'
import type { BlockHash, BlockHeight, Header } from '../../chain/block.ts'
import type { ChainFailure } from '../../chain/chain.ts'
import type { UnixMs } from '../../common/time.ts'
import { insertSelect, openTables, type ReadDatabase, toStatement, type WriteDatabase } from '../../d1/database.ts'
import { scans } from '../../d1/state-tables.ts'
import { openAddresses } from '../../payouts/store/facts.ts'

/** The stored state of the scan: the only row of the table `scan`. */
export interface ScanState {
  /**
   * The position of the scan: each block up to this height was read, or is a gap (a block that
   * could not be read and is tried again).
   */
  readonly height: BlockHeight
  /**
   * The hash of the block at the position. Null if that block was not read: before the first block,
   * after a correction (`correctedBy`), or in a gap.
   */
  readonly hash: BlockHash | null
  /**
   * The highest finalized height on which nodes ever agreed. Only an operator lowers it, if it is
   * wrong (a correction).
   */
  readonly finalized: BlockHeight
  /** The timestamp of block `finalized`; 0 if it is not known. */
  readonly finalizedTime: UnixMs
  /** When `finalized` last grew. */
  readonly finalizedAt: UnixMs
  /** When the position last moved. */
  readonly advancedAt: UnixMs
  /**
   * Start of the newest scan that ended caught up. Each block that was final at that time was read
   * or is a gap. 0 before the first such scan.
   */
  readonly caughtUpAt: UnixMs
  /** Start of the newest scan that ended, caught up or not. 0 before the first such scan. */
  readonly triedAt: UnixMs
  /**
   * Since when every scan has got a finalized head from the nodes: the start of the first such
   * scan. Null if the last scan got none.
   */
  readonly answeringSince: UnixMs | null
  /** Why the last scan was not caught up, or null. */
  readonly problem: ChainFailure['kind'] | null
  /** Why the scan is halted, or null. Nothing is credited until an operator acts. */
  readonly halted: string | null
  /**
   * The id of the newest correction (an operator lowered a wrong finalized height); 0 if there was
   * none.
   */
  readonly correctedBy: number
  /**
   * The set of nodes, as one text, with which gaps were last tried. If the set changes, gaps are
   * tried again at once.
   */
  readonly nodes: string
  /** The payout addresses with a signed transaction whose outcome is not final yet. */
  readonly openPayers: readonly Address[]
}

/** A finalized head that nodes agreed on. */
export type FinalizedHead = Pick<Header, 'height' | 'hash' | 'timestamp'>

/**
 * The members that identify a state of the scan. What was read while the scan had one state is not
 * stored if it has another by then.
 */
export type ReadAfter = Pick<ScanState, 'height' | 'hash' | 'correctedBy'>

/**
 * How a scan ended. If the scan's last batch of blocks made it caught up, the batch itself has
 * stored this result.
 */
export interface ScanResult {
  readonly startedAt: UnixMs
  /** Whether nodes agreed on a finalized head. */
  readonly hasHead: boolean
  /** Why the scan is not caught up, or null. */
  readonly problem: ChainFailure['kind'] | null
}

/** The columns of a scan's state. */
const stateColumns = {
  height: scans.height,
  hash: scans.hash,
  finalized: scans.finalized,
  finalizedTime: scans.finalized_time,
  finalizedAt: scans.finalized_at,
  advancedAt: scans.advanced_at,
  caughtUpAt: scans.caught_up_at,
  triedAt: scans.tried_at,
  answeringSince: scans.answering_since,
  problem: scans.problem,
  halted: scans.halted,
  correctedBy: scans.corrected_by,
  nodes: scans.nodes,
  openPayers: sql<string>`${openAddresses}`.as('openPayers'),
}

/** Reads the state of the scan; null before it was started. */
export async function selectScan(db: ReadDatabase): Promise<ScanState | null> {
  const [row] = await openTables(db).select(stateColumns).from(scans)
  return row === undefined ? null : toState(row)
}

/**
 * What health checks read: the stored state of the scan, null before it was started, and the number
 * of the newest migration that is applied whole.
 */
export interface StoredHealth {
  readonly scan: ScanState | null
  readonly migration: number
}

/** Reads the stored health by one statement. */
export async function selectHealth(db: ReadDatabase): Promise<StoredHealth> {
  const [row] = await openTables(db)
    .select({ migration: sql<number>`newest_migration.number`.as('migration'), ...stateColumns })
    .from(sql`newest_migration`)
    .leftJoin(scans, sql`true`)
  if (row === undefined) throw new Error('no migration is applied whole')
  const { migration, ...state } = row
  // safe: a row of `scan` has a height
  return { migration, scan: state.height === null ? null : toState(state as StateRow) }
}

type StateRow = Omit<ScanState, 'height' | 'openPayers'> & {
  readonly height: BlockHeight | null
  readonly openPayers: string
}

function toState(row: StateRow): ScanState {
  const openPayers = JSON.parse(row.openPayers) as readonly Address[] // safe: a JSON list of addresses
  return { ...row, height: row.height as BlockHeight, openPayers } // safe: a CHECK refuses NULL
}

/**
 * Stores the position just below the first block to scan, and the agreed finalized head. Does
 * nothing if the scan was started before.
 */
export async function startScan(
  db: WriteDatabase,
  position: Pick<ScanState, 'height' | 'hash'>,
  head: FinalizedHead,
  at: UnixMs,
): Promise<void> {
  const row = {
    id: 1,
    height: position.height,
    hash: position.hash,
    finalized: head.height,
    finalized_time: head.timestamp,
    finalized_hash: head.hash,
    finalized_at: at,
    advanced_at: at,
    caught_up_at: 0 as UnixMs,
    tried_at: 0 as UnixMs,
  }
  await toStatement(db, insertSelect(scans, row, sql`WHERE NOT EXISTS (SELECT 1 FROM ${scans})`)).run()
}

/**
 * Stores an agreed finalized head. Does nothing if the stored one is as high or higher, or if there
 * was a correction after `correctedBy`.
 */
export async function storeFinalized(
  db: WriteDatabase,
  { correctedBy }: Pick<ScanState, 'correctedBy'>,
  { height, hash, timestamp }: FinalizedHead,
  at: UnixMs,
): Promise<void> {
  const isLower = and(lt(scans.finalized, height), eq(scans.corrected_by, correctedBy))
  const changes = { finalized: height, finalized_time: timestamp, finalized_hash: hash, finalized_at: at }
  await toStatement(db, openTables(db).update(scans).set(changes).where(isLower)).run()
}

/**
 * Stores why the scan is halted. The next batch of blocks that is stored ends the halt. Does
 * nothing if the scan's state is no longer the one given.
 */
export async function haltScan(
  db: WriteDatabase,
  { height, hash, correctedBy }: ReadAfter,
  why: string,
): Promise<void> {
  const isSame = and(eq(scans.height, height), sql`${scans.hash} IS ${hash}`, eq(scans.corrected_by, correctedBy))
  await toStatement(db, openTables(db).update(scans).set({ halted: why }).where(isSame)).run()
}

/** Stores how a scan ended. A `problem` of null means that it is caught up. */
export async function storeScanEnd(db: WriteDatabase, { startedAt, hasHead, problem }: ScanResult): Promise<void> {
  const changes = problem === null ? caughtUp(startedAt) : { ...tried(startedAt, hasHead), problem }
  await toStatement(db, openTables(db).update(scans).set(changes)).run()
}

/**
 * Longer than any scan takes. A stored time that is further in the future than this was stored
 * before the clock stepped back.
 */
const clockStepMsMax = 300_000
/**
 * Keeps the later time, because a scan that ends late may have started first. Only a time that a
 * clock far ahead has stored is replaced by an earlier one.
 */
const notBefore = (stored: SQLiteColumn, at: UnixMs) =>
  sql`iif(${stored} > ${at + clockStepMsMax}, ${at}, max(${stored}, ${at}))`

const tried = (startedAt: UnixMs, hasHead: boolean) => ({
  tried_at: notBefore(scans.tried_at, startedAt),
  answering_since: hasHead ? sql`min(coalesce(${scans.answering_since}, ${startedAt}), ${startedAt})` : null,
})

/** The columns to set when a scan ends caught up. */
export const caughtUp = (startedAt: UnixMs) => ({
  ...tried(startedAt, true),
  caught_up_at: notBefore(scans.caught_up_at, startedAt),
  problem: null,
})

/** Stores the set of nodes with which unreadable blocks are tried from now on. */
export function nodesStatement(db: WriteDatabase, nodes: string): D1PreparedStatement {
  return toStatement(db, openTables(db).update(scans).set({ nodes }))
}
