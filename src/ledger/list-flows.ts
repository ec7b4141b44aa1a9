import type { Uid } from './entry.ts'
import type { FlowFilter, FlowList, FlowPage, LedgerReader } from './ledger-store.ts'

/** What listing ledger entries needs. */
export interface ListFlowsParts {
  readonly reader: Pick<LedgerReader, 'flows'>
}

/** The caller's ledger entries that match, newest first, and how many there are on all pages. */
export function listFlows(parts: ListFlowsParts, uid: Uid, filter: FlowFilter, page: FlowPage): Promise<FlowList> {
  return parts.reader.flows(uid, filter, page)
}
