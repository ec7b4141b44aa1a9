import type { Uid } from '../common/ids.ts'
import type { QueryFailure } from '../common/query-failure.ts'
import { err, ok, type Result } from '../common/result.ts'
import type { EntryFilter, EntryList, EntryPage, LedgerReader } from './ledger-reader.ts'

/** Most entries that a page by number skips in a history that has more: each of them is read. */
export const offsetMax = 10_000
/** What is wrong with a page behind more than `offsetMax` entries. */
export const tooDeep = `at most ${offsetMax} entries deep; use before for older ones`

const noFilter: EntryFilter = { cuy: null, wid: null, type: null, osn: null, from: null, to: null }
const onePage: EntryPage = { kind: 'number', page: 1, limit: 1 }

/** One page of a caller's entries, newest first, unless it is too deep in a long history. */
export async function listEntries(
  { ledger }: { readonly ledger: Pick<LedgerReader, 'entries'> },
  uid: Uid,
  { filter, page }: { readonly filter: EntryFilter; readonly page: EntryPage },
): Promise<Result<EntryList, QueryFailure>> {
  const isDeep = page.kind === 'number' && (page.page - 1) * page.limit > offsetMax
  // A page past the end of a short history is empty. The number of all entries is stored, so it costs nothing to read.
  if (isDeep && (await ledger.entries(uid, noFilter, onePage)).count > offsetMax) {
    return err({ kind: 'bad-input', field: 'page', why: tooDeep })
  }
  return ok(await ledger.entries(uid, filter, page))
}
