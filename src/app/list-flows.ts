import type { Uid } from '../domain/flow.ts'
import type { FlowFilter, FlowList, FlowPage, LedgerReader } from '../ports/ledger.ts'

/** What listing ledger entries needs. */
export interface FlowParts {
  readonly reader: Pick<LedgerReader, 'flows'>
}

/** The caller's ledger entries that match, newest first, and how many there are on all pages. */
export function listFlows(parts: FlowParts, uid: Uid, filter: FlowFilter, page: FlowPage): Promise<FlowList> {
  return parts.reader.flows(uid, filter, page)
}
