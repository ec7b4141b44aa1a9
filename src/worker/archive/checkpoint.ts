import { sql } from 'drizzle-orm'
import { err, ok, type QueryFailure, type Result } from '../common/result.ts'
import { archives } from '../d1/archive-tables.ts'
import { type ReadDatabase, toStatement } from '../d1/database.ts'

/** A checkpoint of an archive: the signed note, what it says, and the key that verifies it. */
export type CheckpointItem = {
  readonly origin: string
  readonly size: number
  /** In Base64. */
  readonly root: string
  readonly note: string
  /** As Go's `note.NewVerifier` reads it. */
  readonly key: string
}

/** Reads the newest checkpoint. `not-found`: there is none (yet). */
export async function readCheckpoint(db: ReadDatabase): Promise<Result<CheckpointItem, QueryFailure>> {
  const { checkpoint: note, verifier: key } = archives
  const row = await toStatement(db, sql`SELECT ${note}, ${key} FROM ${archives} WHERE ${note} IS NOT NULL`).first<{
    readonly checkpoint: string
    readonly verifier: string
  }>()
  if (row === null) return err({ kind: 'not-found', what: 'checkpoint' })
  const [origin = '', size = '', root = ''] = row.checkpoint.split('\n')
  return ok({ origin, size: Number(size), root, note: row.checkpoint, key: row.verifier })
}
