import { and, eq, gt, gte, isNull, lt, lte, ne, or, type SQL, sql } from 'drizzle-orm'
import type { BlockHeight, Txid } from '../../chain/block.ts'
import type { RescanId } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { insertSelect, openTables, type ReadDatabase, toStatement, type WriteDatabase } from '../../d1/database.ts'
import { rescans } from '../../d1/state-tables.ts'
import type { transfers } from '../../d1/tables.ts'
import {
  type Gap,
  lateAttempts,
  notAgreed,
  type Rescan,
  type RescanPart,
  receiptsMissing,
  runsOf,
  splitAttempts,
  tooSlow,
} from '../rescan.ts'

/** A range of blocks that were not read yet. */
export interface OpenGap extends Pick<Rescan, 'id' | 'from' | 'to' | 'attempts'> {
  readonly why: string
}

/** `why` of a rescan that was never tried. */
const notTried = 'no requests were left for it: what nodes allow is too little'
/**
 * If blocks that a payout needs are not read within this time, they are reported like a gap (a
 * block that the scan could not read).
 */
const payoutMs = 900_000
/** Most open gaps (ranges of blocks that the scan could not read) in one list. */
const gapsMax = 100

export const isOpen = isNull(rescans.finished_at)
const openIndex = sql.raw('INDEXED BY rescan_open')

/** SQL that is true if an open gap contains this height. */
function isInGap(height: SQL | typeof transfers.height): SQL {
  const { kind, finished_at, next_height, to_height } = rescans
  return sql`EXISTS (SELECT 1 FROM ${rescans} ${openIndex}
    WHERE ${kind} = 'gap' AND ${finished_at} IS NULL AND ${to_height} >= ${height} AND ${next_height} <= ${height})`
}

/**
 * Selects one due rescan: the one with the fewest attempts, and among those the one that has been
 * due longest. Null if none is due.
 */
export async function selectDueRescan(db: ReadDatabase, at: UnixMs): Promise<Rescan | null> {
  const { id, kind, next_height, to_height, attempts, next_try, why, receipts, unread } = rescans
  const [row] = await openTables(db)
    .select({ id, kind, from: next_height, to: to_height, attempts, nextTry: next_try, why, receipts, unread })
    .from(rescans)
    .where(and(isOpen, lte(next_try, at)))
    .orderBy(attempts, next_try, id)
    .limit(1)
  if (row === undefined) return null
  return { ...row, unread: row.unread === null ? [] : (JSON.parse(row.unread) as Txid[]) } // safe: our own JSON
}

/**
 * Selects at most `gapsMax` open gaps, from the lowest on: gaps of the scan, requested blocks that
 * could not be read, and blocks that a payout has needed for more than `payoutMs`.
 */
export async function selectOpenGaps(db: ReadDatabase, at: UnixMs): Promise<readonly OpenGap[]> {
  const { id, kind, next_height, to_height, attempts, next_try, tried_at, why, created_at } = rescans
  // what is tried again at once had only no time (`triedLate`)
  const isTried = and(gte(attempts, 1), gt(next_try, tried_at))
  const isWaiting = and(isTried, or(ne(why, tooSlow), gte(attempts, lateAttempts)))
  const isLate = and(eq(kind, 'payout'), lte(created_at, (at - payoutMs) as UnixMs)) // safe: an earlier time
  const rows = await openTables(db)
    .select({ id, from: next_height, to: to_height, attempts, why })
    .from(rescans)
    .where(and(isOpen, or(eq(kind, 'gap'), isWaiting, isLate)))
    .orderBy(to_height)
    .limit(gapsMax)
  return rows.map((row) => ({ ...row, why: row.why ?? notTried }))
}

/**
 * Rescans that were last tried with another set of nodes, or before a node recovered, become due at
 * once.
 */
export function dueAtOnce(
  db: WriteDatabase,
  { at, triedBefore }: { readonly at: UnixMs; readonly triedBefore: UnixMs },
) {
  const { attempts, tried_at } = rescans
  const isTried = and(isOpen, gte(attempts, 1), lt(tried_at, triedBefore))
  return toStatement(db, openTables(db).update(rescans).set({ next_try: at }).where(isTried))
}

/**
 * Statements that store blocks as gaps. Consecutive blocks form one gap, or extend the gap right
 * below them.
 */
export function gapStatements(db: WriteDatabase, gaps: readonly Gap[], at: UnixMs): readonly D1PreparedStatement[] {
  return runsOf(gaps).flatMap(({ from, to, kind }) => {
    const why = kind === 'receipts' ? receiptsMissing : notAgreed
    return [...(kind === 'receipts' ? [] : [extendGap(db, from, to)]), insertGap(db, { from, to, why, at })]
  })
}

const columnsOf = ({ from, to, attempts, nextTry, why, receipts, unread }: RescanPart) => ({
  next_height: from,
  to_height: to,
  attempts,
  next_try: nextTry,
  why,
  receipts,
  unread: unread.length === 0 ? null : JSON.stringify(unread),
})

/**
 * The statement that stores the unread part of a rescan in its row. If that part is null,
 * everything is read, and the rescan is finished.
 */
export function updateRescan(
  db: WriteDatabase,
  { id, to }: Rescan,
  left: RescanPart | null,
  at: UnixMs,
): D1PreparedStatement {
  const end = { next_height: (to + 1) as BlockHeight, finished_at: at } // safe: one above a height
  const changes = left === null ? end : columnsOf(left)
  const update = openTables(db).update(rescans)
  return toStatement(db, update.set({ ...changes, tried_at: at }).where(and(eq(rescans.id, id), isOpen)))
}

/**
 * The statement that stores a part of a rescan as a row of its own, with the kind, reason and
 * creation time of the rescan.
 */
export function insertPart(db: WriteDatabase, of: RescanId, part: RescanPart, at: UnixMs): D1PreparedStatement {
  const { id, kind, reason, created_at } = rescans
  const row = { ...columnsOf(part), kind, reason, created_at, from_height: part.from, tried_at: at }
  return toStatement(db, insertSelect(rescans, row, sql`FROM ${rescans} WHERE ${id} = ${of}`))
}

/**
 * Extends a gap that is still tried often. A gap that is tried once a day is left alone, so that
 * new blocks do not wait with it.
 */
function extendGap(db: WriteDatabase, from: BlockHeight, to: BlockHeight): D1PreparedStatement {
  const { kind, to_height, attempts, why } = rescans
  const isBelow = and(isOpen, eq(kind, 'gap'), eq(to_height, (from - 1) as BlockHeight)) // safe: one below a block
  const isWhole = and(lt(attempts, splitAttempts), eq(why, notAgreed))
  return toStatement(db, openTables(db).update(rescans).set({ to_height: to }).where(and(isBelow, isWhole)))
}

function insertGap(
  db: WriteDatabase,
  { from, to, why, at }: Pick<RescanPart, 'from' | 'to'> & { readonly why: string; readonly at: UnixMs },
): D1PreparedStatement {
  const row = {
    kind: 'gap',
    from_height: from,
    next_height: from,
    to_height: to,
    why,
    created_at: at,
    next_try: at,
  } as const
  return toStatement(db, insertSelect(rescans, row, sql`WHERE NOT ${isInGap(sql`${to}`)}`))
}
