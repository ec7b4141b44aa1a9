import type { Uid } from '../../../common/ids.ts'
import type { Currencies } from '../../../ledger/currencies.ts'
import type { Entry } from '../../../ledger/entry.ts'
import { listEntries } from '../../../ledger/list-entries.ts'
import type { RequestContext } from '../../context.ts'
import { type Json, refusal, success } from '../../envelope.ts'
import type { EntrySelection } from './query.ts'

/** Answers with a page of a caller's entries, each as `toItem` writes it. */
export async function answerEntries(
  c: RequestContext,
  uid: Uid,
  selection: EntrySelection,
  toItem: (entry: Entry, currencies: Currencies) => Json,
): Promise<Response> {
  const { services } = c.env
  const found = await services.read(c.get('invocation'), (parts) => listEntries(parts, uid, selection))
  if (!found.ok) return refusal(found.error)
  const { list, count } = found.value
  return success({ list: list.map((entry) => toItem(entry, services.settings.currencies)), count })
}
