import type { Uid } from '../common/ids.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { ReadDatabase } from '../d1/database.ts'
import { selectEntries } from './entries.ts'
import type { EntryFilter, EntryList, EntryPage } from './entry.ts'

/** Most entries that a page by number skips in a history that has more: each of them is read. */
export const offsetMax = 10_000
/** What is wrong with a page behind more than `offsetMax` entries. */
export const tooDeep = `at most ${offsetMax} entries deep; use before for older ones`

const noFilter: EntryFilter = { cuy: null, wid: null, type: null, osn: null, from: null, to: null }
const onePage: EntryPage = { kind: 'number', page: 1, limit: 1 }

/** Which entries, and which page of them. */
export interface EntrySelection {
  readonly filter: EntryFilter
  readonly page: EntryPage
}

/** One page of a caller's entries, newest first, unless it is too deep in a long history. */
export async function listEntries(
  { db }: { readonly db: ReadDatabase },
  uid: Uid,
  { filter, page }: EntrySelection,
): Promise<Result<EntryList, QueryFailure>> {
  const isDeep = page.kind === 'number' && (page.page - 1) * page.limit > offsetMax
  // A page past the end of a short history is empty. The number of all entries is stored, so it costs nothing to read.
  if (isDeep && (await selectEntries(db, uid, noFilter, onePage)).count > offsetMax) {
    return err({ kind: 'bad-input', field: 'page', why: tooDeep })
  }
  return ok(await selectEntries(db, uid, filter, page))
}
