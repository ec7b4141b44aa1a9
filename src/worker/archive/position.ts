import { sql } from 'drizzle-orm'
import type { EventId } from '../common/ids.ts'
import type { UnixMs } from '../common/time.ts'
import { type ArchiveRow, archiveChanges, archives } from '../d1/archive-tables.ts'
import { allShown, bareList, resultRows, toStatement, type WriteDatabase } from '../d1/database.ts'

/** The place of a reader of the archive, as the first line of a segment says it. */
export interface ArchivePlace {
  /** The newest entry or event in the archive. */
  readonly event: number
  /**
   * While rows are copied that are older than the archive: kind and key of the newest one; empty
   * before the first one.
   */
  readonly copy?: readonly unknown[]
}

/** The place of the reader of the database. */
export interface ReaderPlace extends ArchivePlace {
  /** The newest row of the list of changes in the archive; only this database knows it. */
  readonly change: number
}

/** The row of the archive: how far it has got. */
export interface ArchiveState {
  readonly epoch: number
  readonly lines: number
  readonly hash: string
  /** Hex digits. */
  readonly tree: readonly string[]
  readonly position: ReaderPlace
  readonly begun: number
  readonly common: number | null
  readonly configuration: string | null
  readonly writtenAt: UnixMs
}

/** The changes of the row by a segment, or by the beginning of an epoch. */
export interface ArchiveStep extends Omit<ArchiveState, 'begun' | 'writtenAt'> {
  /** The signed note and the key that verifies it; null without a key. */
  readonly seal: { readonly note: string; readonly verifier: string } | null
}

const columns = archives
/** The `hash` before the first segment. */
const noHash = '0'.repeat(64)

/** Reads the row; makes it first where there is none. */
export async function openArchive(db: WriteDatabase): Promise<ArchiveState> {
  const known = await selectArchive(db)
  if (known !== null) return known
  const { id, epoch, lines, hash, tree, event, change, copy, begun, written_at } = columns
  await toStatement(
    db,
    sql`INSERT INTO ${archives} (${bareList([id, epoch, lines, hash, tree, event, change, copy, begun, written_at])})
      SELECT 1, 1, 0, ${noHash}, '[]', 0, 0, '[]', last_event.id, 0 FROM last_event
      WHERE NOT EXISTS (SELECT 1 FROM ${archives})`,
  ).run()
  return openArchive(db)
}

async function selectArchive(db: WriteDatabase): Promise<ArchiveState | null> {
  const row = await toStatement(db, sql`SELECT ${allShown(archives)} FROM ${archives}`).first<ArchiveRow>()
  if (row === null) return null
  const { event, change, copy } = row
  return {
    epoch: row.epoch,
    lines: row.lines,
    hash: row.hash,
    tree: JSON.parse(row.tree) as readonly string[], // safe: `storeStep` has written it
    position: copy === null ? { event, change } : { event, change, copy: JSON.parse(copy) as readonly unknown[] },
    begun: row.begun,
    common: row.common,
    configuration: row.configuration,
    writtenAt: row.written_at,
  }
}

/**
 * Stores a step, and removes the changes that are in the archive now. Stores nothing and returns
 * false if another writer has changed the row since it was read.
 */
export async function storeStep(
  db: WriteDatabase,
  before: ArchiveState,
  step: ArchiveStep,
  writtenAt: UnixMs,
): Promise<boolean> {
  const { position, seal } = step
  const copy = position.copy === undefined ? null : JSON.stringify(position.copy)
  const values = [
    [columns.epoch, step.epoch],
    [columns.lines, step.lines],
    [columns.hash, step.hash],
    [columns.tree, JSON.stringify(step.tree)],
    [columns.event, position.event as EventId], // safe: the id of an entry or event
    [columns.change, position.change],
    [columns.copy, copy],
    [columns.common, step.common],
    [columns.configuration, step.configuration],
    [columns.written_at, writtenAt],
    ...(seal === null
      ? []
      : ([
          [columns.checkpoint, seal.note],
          [columns.verifier, seal.verifier],
        ] as const)),
  ] as const
  const set = sql.join(
    values.map(([column, value]) => sql`${sql.identifier(column.name)} = ${value}`),
    sql`, `,
  )
  const [updated] = await db.batch([
    toStatement(
      db,
      sql`UPDATE ${archives} SET ${set} WHERE ${columns.lines} = ${before.lines} AND ${columns.hash} = ${before.hash}
        AND ${columns.epoch} = ${before.epoch} RETURNING ${columns.lines}`,
    ),
    toStatement(
      db,
      sql`DELETE FROM ${archiveChanges} WHERE ${archiveChanges.id} <= (SELECT ${columns.change} FROM ${archives})`,
    ),
  ])
  return resultRows(updated).length > 0
}
