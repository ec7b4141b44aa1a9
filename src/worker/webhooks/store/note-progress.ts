import { and, eq } from 'drizzle-orm'
import type { EndpointKey } from '../../common/ids.ts'
import type { UnixMs } from '../../common/time.ts'
import { openTables, type ReadDatabase, type WriteDatabase } from '../../d1/database.ts'
import { webhooks } from '../../d1/state-tables.ts'

/** How far an endpoint is with the checkpoints of the archive. */
export interface NoteProgress {
  /** The size of the checkpoint that was delivered last; 0 before the first. */
  readonly sealed: number
  /** Failed deliveries in a row, and since when there was no success between them. */
  readonly attempts: number
  readonly failingSince: UnixMs | null
  /** No attempt before this time. */
  readonly nextTry: UnixMs
}

/** The stored progress of each endpoint, of this or an earlier deployment. */
export async function selectNoteProgress(
  db: ReadDatabase,
): Promise<readonly (NoteProgress & { readonly key: EndpointKey; readonly number: number })[]> {
  const { endpoint: key, number, sealed, seal_attempts, seal_failing_since, seal_next_try } = webhooks
  return await openTables(db)
    .select({
      key,
      number,
      sealed,
      attempts: seal_attempts,
      failingSince: seal_failing_since,
      nextTry: seal_next_try,
    })
    .from(webhooks)
}

/** Stores progress, unless another instance of the endpoint's object has delivered meanwhile. */
export async function storeNoteProgress(
  db: WriteDatabase,
  key: EndpointKey,
  expected: number,
  { sealed, attempts, failingSince, nextTry }: NoteProgress,
): Promise<void> {
  await openTables(db)
    .update(webhooks)
    .set({ sealed, seal_attempts: attempts, seal_failing_since: failingSince, seal_next_try: nextTry })
    .where(and(eq(webhooks.endpoint, key), eq(webhooks.sealed, expected)))
}
